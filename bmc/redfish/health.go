package redfish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cagenut/node"
)

// Health is what the BMC rolls up for system and chassis, and the parts that are not well. Where the roll-up of a kind of part
// says OK, the parts of that kind are not asked one by one.
func (c *client) Health(ctx context.Context) (report node.HealthReport, err error) {
	err = c.walk(ctx, "read the health", func(w *walk, s system) error {
		ex := examination{w: w}
		ex.look("System", s.all.state())
		chassis := w.chassis(s)
		for _, ch := range chassis {
			ex.look("Chassis "+ch.word("Name", "Id"), ch.state())
		}
		for _, m := range w.managers(s) {
			ex.look("BMC", m.state())
		}
		ex.system(s)
		for _, ch := range chassis {
			ex.chassis(ch.resource)
		}
		if len(ex.wholes) > 0 && len(ex.parts) == 0 {
			ex.cards(s, chassis)
		}
		report = ex.report()
		if report.Overall == "" && w.failed != nil {
			return w.failed
		}
		if report.Overall == "" {
			return c.unsupported("health")
		}
		return nil
	})
	return report, err
}

// examination collects the parts that are not well.
type examination struct {
	w       *walk
	overall node.Health
	wholes  []node.PartHealth // system, chassis, BMC: told only where no part below explains them
	parts   []node.PartHealth
}

// look notes the health of something as a whole.
func (ex *examination) look(what string, st state) {
	ex.overall = ex.overall.Worse(st.worst())
	if h := st.worst(); h.Worse(node.HealthOK) != node.HealthOK {
		ex.wholes = append(ex.wholes, node.PartHealth{Part: what, Health: h, Message: strings.Join(st.why, " ")})
	}
}

// part notes the health of a part. One that is absent or switched off is not ill.
func (ex *examination) part(name string, st state, why string) {
	if st.absent() || st.state == "Disabled" || st.worst().Worse(node.HealthOK) == node.HealthOK {
		return
	}
	if len(st.why) > 0 {
		why = strings.Join(st.why, " ")
	}
	if why == "" && st.state != "" && st.state != "Enabled" {
		why = st.state
	}
	ex.parts = append(ex.parts, node.PartHealth{Part: name, Health: st.worst(), Message: why})
}

// system asks for the parts below the system whose roll-up is not known to be OK.
func (ex *examination) system(s system) {
	if unwell(s.all["ProcessorSummary"]) {
		for _, m := range ex.w.collection(link(s.all["Processors"]), "Status") {
			ex.part(m.word("Socket", "Name", "Id"), m.state(), "")
		}
	}
	if unwell(s.all["MemorySummary"]) {
		for _, m := range ex.w.collection(link(s.all["Memory"]), "Status") {
			ex.part(m.word("DeviceLocator", "Name", "Id"), m.state(), "")
		}
	}
	stores := ex.w.collection(link(s.all["Storage"]), "Status")
	for _, m := range stores {
		if m.state().rollup == node.HealthOK {
			continue
		}
		before := len(ex.parts)
		for _, d := range ex.w.array(m.resource["Drives"], "Status") {
			ex.part(d.word("Name", "Id"), d.state(), failurePredicted(d.resource))
		}
		if len(ex.parts) == before {
			ex.part(m.word("Name", "Id"), m.state(), "")
		}
	}
	if len(stores) > 0 {
		return
	}
	for _, m := range ex.w.collection(link(s.all["SimpleStorage"]), "Status", "Devices") {
		for _, raw := range items(m.resource["Devices"]) {
			d := object(raw)
			ex.part(d.word("Name"), d.state(), "")
		}
	}
}

// unwell tells whether the parts behind a summary have to be looked at.
func unwell(raw []byte) bool { return object(raw).state().rollup != node.HealthOK }

func failurePredicted(d resource) string {
	if b := boolean(d["FailurePredicted"]); b != nil && *b {
		return "The drive predicts its failure."
	}
	return ""
}

// chassis looks at fans, temperatures, power supplies and voltages, of old BMCs and new ones.
func (ex *examination) chassis(ch resource) {
	for _, old := range []struct {
		resource, unit string
		lists, keys    []string
	}{
		{"Thermal", "Cel", []string{"Temperatures"}, []string{"ReadingCelsius"}},
		{"Thermal", "", []string{"Fans", "Redundancy"}, []string{"Reading"}},
		{"Power", "V", []string{"Voltages"}, []string{"ReadingVolts"}},
		{"Power", "", []string{"PowerSupplies", "PowerControl", "Redundancy"}, nil},
	} {
		r := ex.w.follow(ch, old.resource)
		for _, list := range old.lists {
			for _, raw := range items(r[list]) {
				p := object(raw)
				name := p.word("Name", "FanName", "MemberId")
				if list == "PowerSupplies" {
					name = supplyName(p)
				}
				ex.part(name, p.state(), beyond(p, old.unit, old.keys))
			}
		}
	}
	for _, new := range []struct{ resource, list string }{{"ThermalSubsystem", "Fans"}, {"PowerSubsystem", "PowerSupplies"}} {
		r := ex.w.follow(ch, new.resource)
		if st := r.state(); st.worst() == node.HealthOK || r == nil {
			continue
		}
		for _, m := range ex.w.collection(link(r[new.list]), "Status") {
			ex.part(m.word("Name", "Id"), m.state(), "")
		}
	}
}

// cards looks at what is asked last, because there is much of it: network interfaces and cards.
func (ex *examination) cards(s system, chassis []member) {
	all := ex.w.collection(link(s.all["EthernetInterfaces"]), "Status")
	all = append(all, ex.w.array(s.all["PCIeDevices"], "Status")...)
	for _, ch := range chassis {
		all = append(all, ex.w.collection(link(ch.resource["NetworkAdapters"]), "Status")...)
		all = append(all, ex.w.array(ch.resource["PCIeDevices"], "Status")...)
	}
	for _, m := range all {
		ex.part(m.word("Name", "Id"), m.state(), "")
	}
}

// beyond is why an old sensor is not well, as far as its own threshold tells.
func beyond(r resource, unit string, keys []string) string {
	reading := r.number(keys...)
	if reading == nil {
		return ""
	}
	for _, limit := range []struct {
		key, name string
		above     bool
	}{
		{"UpperThresholdCritical", "upper critical", true}, {"UpperThresholdNonCritical", "upper warning", true},
		{"LowerThresholdCritical", "lower critical", false}, {"LowerThresholdNonCritical", "lower warning", false},
	} {
		at := r.number(limit.key)
		if at != nil && ((limit.above && *reading >= *at) || (!limit.above && *reading <= *at)) {
			return fmt.Sprintf("%s, beyond the %s threshold of %s.", node.Amount(*reading, unit), limit.name, node.Amount(*at, unit))
		}
	}
	return ""
}

// report is the result: each part once, the worst first.
func (ex *examination) report() node.HealthReport {
	r := node.HealthReport{Overall: ex.overall}
	all := ex.parts
	if len(all) == 0 {
		all = ex.wholes
	} else {
		for _, whole := range ex.wholes {
			if whole.Message != "" || whole.Part == "BMC" {
				all = append(all, whole)
			}
		}
	}
	seen := map[string]bool{}
	for _, p := range all {
		key := p.Part + "\x00" + string(p.Health)
		if !seen[key] {
			seen[key] = true
			r.Parts = append(r.Parts, p)
			r.Overall = r.Overall.Worse(p.Health)
		}
	}
	slices.SortStableFunc(r.Parts, func(a, b node.PartHealth) int {
		switch {
		case a.Health == b.Health:
			return 0
		case a.Health.Worse(b.Health) == a.Health:
			return -1
		}
		return 1
	})
	return r
}
