package ipmi

import (
	"cmp"
	"context"
	"slices"

	"github.com/bougou/go-ipmi/pkg/command/chassis"

	"cagenut/node"
)

// Health is the worst of the chassis status and the sensors. A BMC without sensors is as healthy as its chassis.
func (c *client) Health(ctx context.Context) (node.HealthReport, error) {
	report := node.HealthReport{}
	chassisRead := false
	w := &sensorWalk{}
	err := c.walk(ctx, "health", func(ctx context.Context, s *session) error {
		if !chassisRead {
			st, err := s.GetChassisStatus(ctx)
			if err != nil {
				return err
			}
			chassisRead = true
			report.Overall = node.HealthOK
			report.Parts = faults(st)
		}
		err := w.run(ctx, c, s)
		if unsupported(err) && w.repository.done == nil {
			return nil // no sensors
		}
		return err
	})
	if err != nil {
		return node.HealthReport{}, err
	}
	for _, s := range w.found {
		if s.Health == node.HealthWarning || s.Health == node.HealthCritical {
			report.Parts = append(report.Parts, node.PartHealth{Part: s.Name, Health: s.Health, Message: why(s)})
		}
	}
	for _, p := range report.Parts {
		report.Overall = report.Overall.Worse(p.Health)
	}
	slices.SortStableFunc(report.Parts, func(a, b node.PartHealth) int {
		return cmp.Compare(badness[b.Health], badness[a.Health])
	})
	return report, nil
}

var badness = map[node.Health]int{node.HealthWarning: 1, node.HealthCritical: 2}

// faults are what the chassis status finds wrong now. Causes of the last power event are history, and not among them.
func faults(st *chassis.GetChassisStatusResponse) []node.PartHealth {
	var all []node.PartHealth
	for _, f := range []struct {
		is bool
		node.PartHealth
	}{
		{st.PowerFault, node.PartHealth{Part: "Main power", Health: node.HealthCritical, Message: "fault in the main power subsystem"}},
		{st.PowerOverload, node.PartHealth{Part: "Main power", Health: node.HealthCritical, Message: "shut down by a power overload"}},
		{st.CollingFanFault, node.PartHealth{Part: "Cooling", Health: node.HealthCritical, Message: "cooling or fan fault"}},
		{st.DriveFault, node.PartHealth{Part: "Drives", Health: node.HealthCritical, Message: "drive fault"}},
		{st.PowerControlFault, node.PartHealth{Part: "Power control", Health: node.HealthWarning, Message: "the server did not follow a power command"}},
		{st.InterLock, node.PartHealth{Part: "Chassis", Health: node.HealthWarning, Message: "shut down by the panel interlock"}},
		{st.ChassisIntrusionActive, node.PartHealth{Part: "Chassis", Health: node.HealthWarning, Message: "the chassis is open"}},
	} {
		if f.is {
			all = append(all, f.PartHealth)
		}
	}
	return all
}

// why is the reading and the threshold that it crossed, or the state.
func why(s node.Sensor) string {
	if s.Reading == nil {
		return s.State
	}
	for _, t := range []struct {
		limit *float64
		below bool
		name  string
	}{
		{s.LowerCritical, true, "lower critical"}, {s.UpperCritical, false, "upper critical"},
		{s.LowerWarning, true, "lower warning"}, {s.UpperWarning, false, "upper warning"},
	} {
		if t.limit != nil && (t.below && *s.Reading <= *t.limit || !t.below && *s.Reading >= *t.limit) {
			return node.Amount(*s.Reading, s.Unit) + ", " + t.name + " threshold " + node.Amount(*t.limit, s.Unit)
		}
	}
	return node.Amount(*s.Reading, s.Unit)
}
