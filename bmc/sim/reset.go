package sim

import (
	"net/http"
	"slices"
)

// resetTypes are what the BMC allows.
func (s *Server) resetTypes() []string {
	if s.has(FaultFewResetTypes) {
		return []string{"On", "ForceOff", "ForceRestart"}
	}
	return []string{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "PowerCycle", "Nmi"}
}

func (s *Server) resetSystem(w http.ResponseWriter, r *http.Request) {
	var body struct{ ResetType string }
	if !strictly(r, &body) || !slices.Contains(s.resetTypes(), body.ResetType) {
		refuse(w, http.StatusBadRequest, "ActionParameterNotSupported", "ResetType is not one of the allowable values.")
		return
	}
	if status, id, message := s.refuseReset(body.ResetType); status != 0 {
		refuse(w, status, id, message)
		return
	}
	s.finish(w, FaultResetTask, func() {
		switch body.ResetType {
		case "On":
			s.machine.command(true, false)
		case "ForceOff", "GracefulShutdown":
			s.machine.command(false, false)
		case "Nmi":
			s.machine.interrupt()
		default:
			s.machine.command(true, true)
		}
	})
}

// refuseReset is why a reset is refused; status 0 when it is not.
func (s *Server) refuseReset(kind string) (status int, id, message string) {
	const conflict = "ActionParameterValueConflict"
	on, changing := s.machine.power()
	switch {
	case s.strikes(FaultPowerConflict):
		return http.StatusConflict, conflict, "The server is not ready for this power operation."
	case s.has(FaultNotReady) && s.strikes(FaultNotReady):
		return http.StatusServiceUnavailable, "SYS518", "iDRAC is not ready. The configuration values cannot be accessed. Please retry after a few minutes."
	case kind == "On" && on && !changing:
		return http.StatusConflict, conflict, "The server is already on."
	case kind == "On" && s.machine.within(false, s.delayOf(FaultOnAfterOff)) && s.strikes(FaultOnAfterOff):
		return http.StatusConflict, conflict, "The server was switched off a moment ago."
	case (kind == "ForceOff" || kind == "GracefulShutdown") && !on && !changing:
		return http.StatusConflict, conflict, "The server is already off."
	case kind != "On" && kind != "ForceOff" && kind != "GracefulShutdown" && !on:
		return http.StatusConflict, conflict, "The server is off."
	}
	return 0, "", ""
}
