package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// place is where a node sits, in the words on the rack.
func place(n node.Node) string {
	l := n.Location()
	switch {
	case l.Rack == "" && l.Unit == 0:
		return ""
	case l.Unit == 0:
		return l.Rack
	case l.Rack == "":
		return fmt.Sprintf("U%d", l.Unit)
	}
	return fmt.Sprintf("%s · U%d", l.Rack, l.Unit)
}

// placeWords is the same in a sentence.
func placeWords(ctx context.Context, n node.Node) string {
	l := n.Location()
	var parts []string
	if l.Rack != "" {
		parts = append(parts, templates.T(ctx, "place.words.rack", l.Rack))
	}
	if l.Unit != 0 {
		parts = append(parts, fmt.Sprintf("U%d", l.Unit))
	}
	return strings.Join(parts, ", ")
}

func (p *Pages) stateOf(n node.Node) templates.State {
	look := templates.Look(n.ProvisionState)
	return templates.State{
		Name: string(n.ProvisionState), Group: templates.Group(n.ProvisionState), Look: look, Icon: templates.Icon(look),
		Since: p.lasting(n.ProvisionUpdatedAt),
	}
}

func (p *Pages) powerOf(ctx context.Context, n node.Node) templates.Power {
	return templates.Power{
		Text: templates.PowerText(ctx, n.PowerState), Pending: templates.PowerPending(ctx, n.TargetPowerState), Checked: p.past(n.PowerCheckedAt),
		Silent: p.lasting(n.BMCUnreachableSince),
	}
}

// heldBy is who holds the node. While the appliance works on it that is no news: its own state says so.
func heldBy(n node.Node) string {
	if !n.Reserved() || templates.Group(n.ProvisionState) == templates.GroupWorking {
		return ""
	}
	return n.Reservation
}

// row is a node's line in the list as it is now; *node.NotFound for one that is gone.
func (p *Pages) row(ctx context.Context, n node.Node, act bool) (templates.Row, error) {
	return p.rowNow(ctx, n.UUID, act)
}

func (p *Pages) rowNow(ctx context.Context, uuid string, act bool) (templates.Row, error) {
	found, err := p.o.Store.Summaries(ctx, node.List{Filter: node.Filter{UUIDs: []string{uuid}, IncludeChildren: true}, Order: node.ByName, Limit: 1})
	if err != nil {
		return templates.Row{}, err
	}
	if len(found.All) == 0 {
		return templates.Row{}, &node.NotFound{What: "Node", Ident: uuid}
	}
	r := p.rowOf(ctx, found.All[0], found, act)
	r.Fresh = true
	return r, nil
}

// rowOf is a node's line in the list that it was found in.
func (p *Pages) rowOf(ctx context.Context, n node.Summary, in node.Summaries, act bool) templates.Row {
	r := templates.Row{
		UUID: n.UUID, Name: n.Label(), Href: nodeURL(n.Label()), CanPick: act, Place: place(n.Node), Serial: cut(n.Serial, longestSerial),
		State: p.stateOf(n.Node), Power: p.powerOf(ctx, n.Node), PowerLook: powerLook(n.PowerState), Held: heldBy(n.Node), Maintenance: n.Maintenance,
		HealthKey: healthKey(n.Health), BMC: n.BMCAddress, Error: oneLine(n.LastError), Driver: n.Driver,
	}
	if n.Health != "" {
		r.Health = healthOf(ctx, n.Health)
	}
	if !n.BMCUnreachableSince.IsZero() {
		r.HealthKey += "," + silent
	}
	if n.SerialTwins > 0 {
		r.SerialTwins = templates.N(ctx, "list.twins.serial", n.SerialTwins)
	}
	if n.PlaceTwins > 0 {
		r.PlaceTwins = templates.N(ctx, "list.twins.place", n.PlaceTwins)
	}
	if act {
		for _, v := range templates.RowVerbs(n.ProvisionState) {
			r.Actions = append(r.Actions, verbAction(ctx, n.Node, v, "list"))
		}
	}
	if a, ok := in.Attempts[n.AttemptID]; ok {
		p.tellAttempt(ctx, &r, n.Node, a, in.Signs[a.ID])
	}
	return r
}

// powerLook chooses the sign of a power state.
func powerLook(s node.PowerState) string {
	switch s {
	case node.PowerOn:
		return "on"
	case node.PowerOff:
		return "off"
	}
	return "unsure"
}

// longestSerial is how much of a serial number a row shows.
const longestSerial = 64

// tellAttempt adds what the node's latest attempt tells: how far it got, how it ended, that its clean-up is not through.
func (p *Pages) tellAttempt(ctx context.Context, r *templates.Row, n node.Node, a node.Attempt, signs []node.Sign) {
	if n.ProvisionState == node.InspectFailed || n.TargetPowerState != "" {
		r.Power.Problem = powerProblem(ctx, n, a)
	}
	switch {
	case n.ProvisionState == node.Inspecting:
		r.Detail = a.Step
	case n.ProvisionState == node.InspectWait:
		last := p.lastSign(ctx, a, signs, "")
		r.Detail, r.DetailAt = last.Last, last.At
		if p.o.InspectTimeout > 0 {
			r.Ends = p.coming(n.ProvisionUpdatedAt.Add(p.o.InspectTimeout))
		}
	case n.ProvisionState != node.InspectFailed:
	case a.Outcome == node.Aborted:
		r.Detail, r.DetailAt = templates.T(ctx, "list.aborted", a.Ended.Name()), p.past(a.EndedAt)
	case a.Outcome == node.TimedOut:
		r.Detail, r.DetailAt = templates.T(ctx, "list.timedout"), p.past(a.EndedAt)
	}
}

// powerUnconfirmed tells whether a clean-up could not confirm that a server that shall be off is.
func powerUnconfirmed(n node.Node, a node.Attempt) bool {
	return !n.DisablePowerOff && templates.PowerUnconfirmed(n.PowerState, a)
}

// powerProblem is what the node's latest attempt left open about its power; "" for a server that stays on by intent.
func powerProblem(ctx context.Context, n node.Node, a node.Attempt) string {
	if n.DisablePowerOff {
		return ""
	}
	return templates.PowerProblem(ctx, n.PowerState, a)
}

// attempt finds an attempt; nil for one that is gone.
func (p *Pages) attempt(ctx context.Context, id string) (*node.Attempt, error) {
	a, err := p.o.Store.Attempt(ctx, id)
	var gone *node.NotFound
	if errors.As(err, &gone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// verbAction is the button of a verb. Abort asks back first, and remembers which attempt the person saw.
func verbAction(ctx context.Context, n node.Node, v node.Event, back string) templates.Action {
	a := templates.Action{
		ID: string(v) + "-" + n.UUID, Label: templates.VerbLabel(ctx, n.ProvisionState, v), Names: n.Label(),
		Field: "verb", Value: string(v), Post: nodeURL(n.UUID) + "/provision", Back: back,
	}
	if v == node.Abort {
		a.Danger = true
		a.Confirm = nodeURL(n.UUID) + "/abort?back=" + back
		if n.AttemptID != "" {
			a.Confirm += "&attempt=" + n.AttemptID
		}
	}
	return a
}

// oneLine is a text on one line, cut where it gets long: the node's page has it whole.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const longest = 160
	if r := []rune(s); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return s
}
