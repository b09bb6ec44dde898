package sim

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"

	"cagenut/node"
)

var targetDevices = map[string]node.BootDevice{
	"None": node.BootNone, "Pxe": node.BootPXE, "Hdd": node.BootDisk, "Cd": node.BootCDROM, "UsbCd": node.BootCDROM, "BiosSetup": node.BootBIOS,
}

// bootTargets are those that the BMC offers.
func (s *Server) bootTargets() []string {
	targets := []string{"None", "Pxe", "Hdd", "Cd", "BiosSetup"}
	if s.has(FaultUsbCd) {
		targets = append(targets, "UsbCd")
	}
	return targets
}

func (s *Server) bootDocument(o override) map[string]any {
	enabled, target, mode := "Disabled", "None", "UEFI"
	if o.Device != node.BootNone {
		enabled = "Once"
		for _, t := range s.bootTargets() {
			if targetDevices[t] == o.Device && (o.Target == "" || o.Target == t) {
				target = t
			}
		}
	}
	if o.Persistent {
		enabled = "Continuous"
	}
	if o.Legacy {
		mode = "Legacy"
	}
	durations := []string{"Disabled", "Once", "Continuous"}
	if s.has(FaultNoContinuous) {
		durations = durations[:2]
	}
	doc := map[string]any{
		"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target, "BootSourceOverrideMode": mode, "HttpBootUri": nil,
		"BootSourceOverrideTarget@Redfish.AllowableValues":  s.bootTargets(),
		"BootSourceOverrideEnabled@Redfish.AllowableValues": durations,
		"BootSourceOverrideMode@Redfish.AllowableValues":    []string{"UEFI", "Legacy"},
		"BootOptions": ref(systemPath + "/BootOptions"), "BootOrder": s.bootOrder(),
	}
	if s.has(FaultNoBootMode) {
		delete(doc, "BootSourceOverrideMode")
		delete(doc, "BootSourceOverrideMode@Redfish.AllowableValues")
	}
	return doc
}

// bootEntries are the entries of the boot order: the network, the disk.
func (s *Server) bootEntries() [][2]string {
	entries := [][2]string{{"Boot0001", "UEFI PXEv4 (" + s.BootMAC + ")"}, {"Boot0002", "UEFI " + s.hardware.disks[0].model}}
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	if s.machine.lostEntry {
		return entries[1:]
	}
	return entries
}

func (s *Server) bootOrder() []string {
	var order []string
	for _, e := range s.bootEntries() {
		order = append(order, e[0])
	}
	return order
}

func (s *Server) bootOptionDocuments() []map[string]any {
	var docs []map[string]any
	for _, e := range s.bootEntries() {
		docs = append(docs, resource("BootOption.v1_0_6.BootOption", systemPath+"/BootOptions/"+e[0], map[string]any{
			"Id": e[0], "Name": e[1], "DisplayName": e[1], "BootOptionReference": e[0], "BootOptionEnabled": true,
		}))
	}
	return docs
}

// settingsDocument is where a BMC with that oddity wants the boot override.
func (s *Server) settingsDocument() map[string]any {
	if !s.has(FaultBootSettings) && !s.has(FaultBootPending) {
		return nil
	}
	return resource("ComputerSystem.v1_22_0.ComputerSystem", settingsPath, map[string]any{
		"Id": "Settings", "Name": "Pending settings", "Boot": s.bootDocument(s.machine.pendingOverride()),
	})
}

// systemTag is the system's ETag: it changes with what a PATCH could overwrite.
func (s *Server) systemTag() string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, s.machine.override(), s.machine.currentLight()) // a hash takes everything
	return fmt.Sprintf(`"%x"`, h.Sum64())
}

// systemPatch is the part of a PATCH that the BMC knows.
type systemPatch struct {
	Boot                    *bootPatch
	IndicatorLED            *string
	LocationIndicatorActive *bool
}

type bootPatch struct {
	BootSourceOverrideEnabled, BootSourceOverrideTarget, BootSourceOverrideMode *string
	HTTPBootURI                                                                 any `json:"HttpBootUri"`
}

func (s *Server) patchSystem(w http.ResponseWriter, r *http.Request) {
	var p systemPatch
	switch {
	case !strictly(r, &p):
		refuse(w, http.StatusBadRequest, "PropertyUnknown", "The request body holds properties that cannot be changed.")
		return
	case !s.precondition(w, r, s.systemTag()):
		return
	case p.Boot != nil && (s.has(FaultBootSettings) || s.has(FaultBootPending)):
		refuse(w, http.StatusBadRequest, "PropertyNotWritable", "The property Boot is a read only property and cannot be assigned a value.")
		return
	case p.Boot != nil && !s.changeBoot(w, *p.Boot, s.machine.override(), s.machine.setOverride):
		return
	case !s.changeLight(w, p.IndicatorLED, p.LocationIndicatorActive):
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) patchSettings(w http.ResponseWriter, r *http.Request) {
	doc := s.settingsDocument()
	var p struct{ Boot *bootPatch }
	set := s.machine.setOverride
	if s.has(FaultBootPending) {
		set = s.machine.setPending
	}
	switch {
	case doc == nil:
		refuseMissing(w, r)
	case !strictly(r, &p) || p.Boot == nil:
		refuse(w, http.StatusBadRequest, "PropertyUnknown", "The request body holds properties that cannot be changed.")
	case !s.precondition(w, r, tagOf(doc)):
	case s.changeBoot(w, *p.Boot, s.machine.pendingOverride(), set):
		w.WriteHeader(http.StatusNoContent)
	}
}

// changeBoot changes the override; false when it has answered with a refusal.
func (s *Server) changeBoot(w http.ResponseWriter, p bootPatch, o override, set func(override)) bool {
	if id, message := s.refuseBootPatch(p); id != "" {
		refuse(w, http.StatusBadRequest, id, message)
		return false
	}
	before := o.Legacy
	o, ok := s.patched(p, o)
	if !ok {
		refuse(w, http.StatusBadRequest, "PropertyValueNotInList", "The boot override has a value that is not allowed.")
		return false
	}
	if s.strikes(FaultIgnoreBoot) {
		return true
	}
	if o.Legacy != before && s.strikes(FaultModeAtReboot) {
		later := o
		o.Legacy = before
		set(o)
		s.machine.setPending(later)
		return true
	}
	set(o)
	return true
}

// refuseBootPatch is why the BMC does not take a change of the override; "" when it does.
func (s *Server) refuseBootPatch(p bootPatch) (id, message string) {
	target, enabled, mode := p.BootSourceOverrideTarget != nil, p.BootSourceOverrideEnabled != nil, p.BootSourceOverrideMode != nil
	switch {
	case s.strikes(FaultRefuseBoot):
		return "PropertyNotWritable", "The boot override cannot be changed."
	case s.inPOST():
		return "UnableToModifyDuringSystemPOST", "Unable to modify while the system is in POST."
	case p.HTTPBootURI != nil && s.has(FaultStrictBoot):
		return "PropertyNotWritable", "The property HttpBootUri is a read only property and cannot be assigned a value."
	case mode && s.has(FaultNoBootMode):
		return "PropertyUnknown", "The property BootSourceOverrideMode is not in the list of valid properties for the resource."
	case target && !enabled && s.has(FaultModeFallsBack):
		return "PropertyMissing", "The property BootSourceOverrideEnabled is required."
	case (!target || !enabled || !mode) && s.has(FaultFullBoot):
		return "PropertyMissing", "BootSourceOverrideTarget, BootSourceOverrideEnabled and BootSourceOverrideMode are required."
	case target && enabled && mode && s.has(FaultShortBoot):
		return "PropertyValueConflict", "BootSourceOverrideMode cannot be set together with the target."
	case enabled && *p.BootSourceOverrideEnabled == "Continuous" && s.has(FaultNoContinuous):
		return "PropertyValueNotInList", "The value Continuous for the property BootSourceOverrideEnabled is not in the list of acceptable values."
	}
	return "", ""
}

// inPOST tells whether a BMC that is busy after power-on refuses a change now.
func (s *Server) inPOST() bool {
	return s.has(FaultPOSTBusy) && s.machine.within(true, s.delayOf(FaultPOSTBusy)) && s.strikes(FaultPOSTBusy)
}

// patched is the override after the patch; a target without "enabled" counts once.
func (s *Server) patched(p bootPatch, o override) (override, bool) {
	if s.has(FaultModeFallsBack) && p.BootSourceOverrideTarget != nil {
		o.Legacy = true
	}
	if m := p.BootSourceOverrideMode; m != nil {
		if *m != "UEFI" && *m != "Legacy" {
			return o, false
		}
		o.Legacy = *m == "Legacy"
	}
	if t := p.BootSourceOverrideTarget; t != nil {
		if !slices.Contains(s.bootTargets(), *t) {
			return o, false
		}
		o.Device, o.Target = targetDevices[*t], *t
	}
	if e := p.BootSourceOverrideEnabled; e != nil {
		switch *e {
		case "Disabled":
			o.Boot, o.Target = node.Boot{}, ""
		case "Once", "Continuous":
			o.Persistent = *e == "Continuous"
		default:
			return o, false
		}
	}
	return o, true
}
