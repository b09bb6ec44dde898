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
func placeWords(n node.Node) string {
	l := n.Location()
	var parts []string
	if l.Rack != "" {
		parts = append(parts, "rack "+l.Rack)
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

func (p *Pages) powerOf(n node.Node) templates.Power {
	return templates.Power{
		Text: templates.PowerText(n.PowerState), Pending: templates.PowerPending(n.TargetPowerState), Checked: p.past(n.PowerCheckedAt),
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

// row is a node's line in the list.
func (p *Pages) row(ctx context.Context, n node.Node, act bool) (templates.Row, error) {
	r := templates.Row{
		UUID: n.UUID, Name: n.Label(), Href: nodeURL(n.UUID), Place: place(n),
		State: p.stateOf(n), Power: p.powerOf(n), Held: heldBy(n), Maintenance: n.Maintenance,
		Error: oneLine(n.LastError), Driver: n.Driver,
	}
	if n.Name != "" {
		r.Href = nodeURL(n.Name)
	}
	if act {
		for _, v := range templates.RowVerbs(n.ProvisionState) {
			r.Actions = append(r.Actions, verbAction(n, v, "list"))
		}
	}
	if !tellsMore(n) {
		return r, nil
	}
	a, err := p.attempt(ctx, n.AttemptID)
	if err != nil || a == nil {
		return r, err
	}
	r.Power.Problem = powerProblem(n, *a)
	switch {
	case n.ProvisionState == node.Inspecting:
		r.Detail = a.Step
	case n.ProvisionState != node.InspectFailed:
	case a.Outcome == node.Aborted:
		r.Detail, r.DetailAt = "aborted by "+a.Ended.Name(), p.past(a.EndedAt)
	case a.Outcome == node.TimedOut:
		r.Detail, r.DetailAt = "timed out", p.past(a.EndedAt)
	}
	return r, nil
}

// tellsMore tells whether the latest attempt knows something that belongs into the row: progress, who ended it, or that
// its clean-up is not through.
func tellsMore(n node.Node) bool {
	return n.AttemptID != "" && (n.ProvisionState == node.Inspecting || n.ProvisionState == node.InspectFailed || n.TargetPowerState != "")
}

// powerProblem is what the node's latest attempt left open about its power; "" for a server that stays on by intent.
func powerProblem(n node.Node, a node.Attempt) string {
	if n.DisablePowerOff {
		return ""
	}
	return templates.PowerProblem(n.PowerState, a)
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
func verbAction(n node.Node, v node.Event, back string) templates.Action {
	a := templates.Action{
		ID: string(v) + "-" + n.UUID, Label: templates.VerbLabel(n.ProvisionState, v), Names: n.Label(),
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
