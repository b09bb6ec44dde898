package sim

import (
	"net/http"

	"cagenut/node"
)

// showLight adds the indicator in both of Redfish's spellings.
func (s *Server) showLight(doc map[string]any) {
	light := s.machine.currentLight()
	doc["IndicatorLED"] = map[node.Indicator]string{node.IndicatorOff: "Off", node.IndicatorOn: "Lit", node.IndicatorBlinking: "Blinking"}[light]
	doc["LocationIndicatorActive"] = light != node.IndicatorOff
}

// changeLight sets the indicator where it is asked for; false when it has answered with a refusal.
func (s *Server) changeLight(w http.ResponseWriter, led *string, active *bool) bool {
	switch {
	case led != nil:
		light, known := map[string]node.Indicator{"Off": node.IndicatorOff, "Lit": node.IndicatorOn, "Blinking": node.IndicatorBlinking}[*led]
		if !known {
			refuse(w, http.StatusBadRequest, "PropertyValueNotInList", "IndicatorLED has a value that is not allowed.")
			return false
		}
		s.machine.setLight(light, 0)
	case active != nil && *active:
		s.machine.setLight(node.IndicatorBlinking, 0)
	case active != nil:
		s.machine.setLight(node.IndicatorOff, 0)
	}
	return true
}
