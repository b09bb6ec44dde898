package extension

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// Health is how a server is, as its BMC says now. A part that the BMC cannot tell is null, and named; where nobody was
// asked, parts, sensors and log are null and none is named.
type Health struct {
	Node string `json:"node"`
	BMC  BMC    `json:"bmc"`
	// Overall is OK, Warning or Critical; null where the BMC does not say. Where nobody was asked, it is the last one known.
	Overall *node.Health `json:"overall"`
	// OverallSince is when it became so, as far as the appliance has noticed.
	OverallSince *string      `json:"overall_since"`
	Parts        []FailedPart `json:"parts"` // that are not well, the worst first
	Sensors      []Reading    `json:"sensors"`
	Log          []LogEntry   `json:"log"` // the newest entries, the newest first
	// Unsupported names what the BMC cannot tell: health, sensors, log.
	Unsupported []string `json:"unsupported"`
}

// BMC is whether a node's BMC can be used: null where nobody has asked it yet. Since and Error say since when it cannot,
// and why.
type BMC struct {
	Reachable *bool   `json:"reachable"`
	Since     *string `json:"since"`
	Error     *string `json:"error"`
}

func bmcOf(n node.Node) BMC {
	reachable := n.BMCUnreachableSince.IsZero()
	b := BMC{Reachable: &reachable, Since: instant(n.BMCUnreachableSince), Error: orNull(n.BMCError)}
	if reachable && n.PowerCheckedAt.IsZero() {
		b.Reachable = nil
	}
	return b
}

// FailedPart is a part that is not well.
type FailedPart struct {
	Part    string       `json:"part"`
	Health  *node.Health `json:"health"`
	Message *string      `json:"message"`
}

// Reading is what a sensor says. Numbers are in the sensor's unit; null where it tells none.
type Reading struct {
	Name          string          `json:"name"`
	Kind          node.SensorKind `json:"kind"`
	Unit          *string         `json:"unit"`
	Reading       *float64        `json:"reading"`
	State         *string         `json:"state"`
	Health        *node.Health    `json:"health"`
	LowerCritical *float64        `json:"lower_critical"`
	LowerWarning  *float64        `json:"lower_warning"`
	UpperWarning  *float64        `json:"upper_warning"`
	UpperCritical *float64        `json:"upper_critical"`
}

// LogEntry is an entry of the BMC's event log; its time is null where the BMC's clock was not set.
type LogEntry struct {
	ID       string       `json:"id"`
	At       *string      `json:"at"`
	Severity *node.Health `json:"severity"`
	Message  string       `json:"message"`
	Sensor   *string      `json:"sensor"`
}

// newestEntries is how many of the log are shown.
const newestEntries = 20

// health asks a node's BMC how its server is.
func (a *api) health(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	q := web.Query(c)
	if err := healthOperation().CheckQuery(q, 0, nil); err != nil {
		return err
	}
	n, err := a.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	if !asks(q.Get("ask")) {
		return c.JSON(Health{Node: n.UUID, BMC: bmcOf(n), Overall: orNull(n.Health), OverallSince: instant(n.HealthAt), Unsupported: []string{}})
	}
	found, err := a.o.Conductor.Condition(c.UserContext(), n.UUID, newestEntries)
	if err != nil {
		return err
	}
	answers := true
	out := Health{Node: n.UUID, BMC: BMC{Reachable: &answers}, Unsupported: append([]string{}, found.Unsupported...)}
	if !found.Lacks("health") {
		out.Overall, out.Parts = orNull(found.Health.Overall), shown(found.Health.Parts, partOf)
		if n, err := a.o.Store.Node(c.UserContext(), n.UUID); err == nil && n.Health == found.Health.Overall {
			out.OverallSince = instant(n.HealthAt)
		}
	}
	if !found.Lacks("sensors") {
		out.Sensors = shown(found.Sensors, readingOf)
	}
	if !found.Lacks("log") {
		out.Log = shown(found.Log, entryOf)
	}
	return c.JSON(out)
}

// asks reads ?ask=, which has been checked.
func asks(said string) bool {
	if said == "" {
		return true
	}
	ask, err := openapi.ReadFlag("ask", json.RawMessage(said))
	return ask || err != nil
}

// shown is never nil: an empty list is something that the BMC has told.
func shown[From, To any](all []From, view func(From) To) []To {
	out := []To{}
	for _, one := range all {
		out = append(out, view(one))
	}
	return out
}

func partOf(p node.PartHealth) FailedPart {
	return FailedPart{Part: p.Part, Health: orNull(p.Health), Message: orNull(p.Message)}
}

func readingOf(s node.Sensor) Reading {
	return Reading{
		Name: s.Name, Kind: s.Kind, Unit: orNull(s.Unit), Reading: s.Reading, State: orNull(s.State), Health: orNull(s.Health),
		LowerCritical: s.LowerCritical, LowerWarning: s.LowerWarning, UpperWarning: s.UpperWarning, UpperCritical: s.UpperCritical,
	}
}

func entryOf(e node.LogEntry) LogEntry {
	return LogEntry{ID: e.ID, At: instant(e.At), Severity: orNull(e.Severity), Message: e.Message, Sensor: orNull(e.Sensor)}
}
