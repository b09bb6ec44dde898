package conductor

import (
	"context"
	"slices"

	"cagenut/node"
)

// Health asks the BMC how its server is as a whole, and which of its parts are not well. The node knows it from then on.
func (c *Conductor) Health(ctx context.Context, ident string) (node.HealthReport, error) {
	report, err := reads(ctx, c, ident, "health", Abilities.Health)
	if err != nil {
		return node.HealthReport{}, err
	}
	if err := c.rememberHealth(context.WithoutCancel(ctx), ident, report); err != nil {
		c.Log.Error("cannot note the health of a node", "node", ident, "err", err)
	}
	return report, nil
}

// Sensors asks the BMC for all readings.
func (c *Conductor) Sensors(ctx context.Context, ident string) ([]node.Sensor, error) {
	return reads(ctx, c, ident, "sensors", Abilities.Sensors)
}

// EventLog asks the BMC for the newest entries of its event log, the newest first.
func (c *Conductor) EventLog(ctx context.Context, ident string, entries int) ([]node.LogEntry, error) {
	return reads(ctx, c, ident, "event log", func(a Abilities, ctx context.Context) ([]node.LogEntry, error) { return a.Events(ctx, entries) })
}

// ClearEventLog empties the BMC's event log; *node.Locked while a worker holds the node.
func (c *Conductor) ClearEventLog(ctx context.Context, actor node.Actor, ident string) error {
	return c.orders(ctx, actor, ident, "clear event log", "clear event log", func(ctx context.Context, a Abilities) error { return a.ClearLog(ctx) })
}

// Condition is how a server is, as its BMC says now.
type Condition struct {
	Health  node.HealthReport
	Sensors []node.Sensor
	Log     []node.LogEntry // the newest first
	// Unsupported names the parts that the BMC cannot tell: "health", "sensors", "log".
	Unsupported []string
}

// Lacks tells whether the BMC cannot tell a part.
func (s Condition) Lacks(part string) bool { return slices.Contains(s.Unsupported, part) }

// Condition asks the BMC how its server is, with the newest entries of its log. Each part is asked apart, so that a power
// command does not wait for all of them.
func (c *Conductor) Condition(ctx context.Context, ident string, entries int) (out Condition, err error) {
	for _, part := range []struct {
		name string
		read func() error
	}{
		{"health", func() (err error) { out.Health, err = c.Health(ctx, ident); return err }},
		{"sensors", func() (err error) { out.Sensors, err = c.Sensors(ctx, ident); return err }},
		{"log", func() (err error) { out.Log, err = c.EventLog(ctx, ident, entries); return err }},
	} {
		err := part.read()
		if lacking(err) {
			out.Unsupported = append(out.Unsupported, part.name)
			continue
		}
		if err != nil {
			return Condition{}, err
		}
	}
	return out, nil
}
