package conductor

import (
	"context"
	"errors"
	"slices"

	"cagenut/node"
)

// RuleInput is what inspection rules work on: the node with the properties that the hooks found, and its ports as they
// leave them, new ones too.
type RuleInput struct {
	Rules      []node.InspectionRule
	Node       node.Node
	Ports      []node.Port
	Inventory  []byte
	PluginData []byte
}

// Ruled is what inspection rules made of it.
type Ruled struct {
	Node       node.Node
	Changed    []string    // the attributes of Node that may differ, by their names on the wire
	Ports      []node.Port // those that may differ
	PluginData []byte
	Notes      []string
}

// RuleEngine carries out inspection rules.
type RuleEngine interface {
	// Apply changes nothing itself. An error fails the inspection with its text; the notes are there all the same.
	Apply(ctx context.Context, in RuleInput) (Ruled, error)
	// Try tells what Apply would do, and does nothing.
	Try(ctx context.Context, in RuleInput) node.RulesTrial
}

// finish lets the inspection rules work on what the hooks found, and ends the attempt with all of it, or with what a rule
// had against it.
func (c *Conductor) finish(ctx context.Context, j node.Job, n node.Node, a node.Attempt, ports []node.Port, f Findings) error {
	w, err := c.workUp(ctx, n, &a, ports, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused := (*refusedByRule)(nil); errors.As(err, &refused) {
		return c.failAttempt(ctx, n, a, j.Hold, failedToFinish+err.Error())
	}
	if err != nil {
		return err
	}
	now := w.move.Inventory.CreatedAt
	w.move.FinishedAt = &now
	err = c.end(ctx, j.Actor, w.node, a, j.Hold, node.Done, node.Ending{Outcome: node.Succeeded, CleanUp: true, Notes: a.Notes, Move: w.move})
	if taken, by := w.nameTaken(err); by {
		return c.failAttempt(ctx, n, a, j.Hold, failedToFinish+taken)
	}
	return err
}

const failedToFinish = "Failed to finish inspection: "

// refusedByRule is what an inspection rule had against a report, or could not do.
type refusedByRule struct{ error }

// workedUp is what hooks and rules made of a report, ready to be stored.
type workedUp struct {
	node  node.Node // as it was, with what the rules changed
	move  node.Move // with the documents, the ports and the changes
	named bool      // whether rules gave names
}

// nameTaken says so where a name that a rule gave is another's. Trying again would not help.
func (w workedUp) nameTaken(err error) (text string, by bool) {
	taken := (*node.Exists)(nil)
	if !errors.As(err, &taken) || !taken.Name || !w.named {
		return "", false
	}
	return "a name that an inspection rule gives is taken: " + taken.Text, true
}

// workUp lets the inspection rules work on what the hooks found. Their notes go to the attempt, also beside an error; a
// *refusedByRule is of the report, any other error of ours.
func (c *Conductor) workUp(ctx context.Context, n node.Node, a *node.Attempt, ports []node.Port, f Findings) (workedUp, error) {
	rules, err := c.Rules.InspectionRules(ctx, node.RuleFilter{Phase: node.RulePhaseMain})
	if err != nil {
		return workedUp{}, err
	}
	found := n
	found.Properties = f.Properties
	before := f.over(ports)
	ruled, err := c.RuleEngine.Apply(ctx, RuleInput{Rules: rules, Node: found, Ports: before, Inventory: f.Inventory, PluginData: f.PluginData})
	a.Notes = append(a.Notes, ruled.Notes...)
	if err != nil {
		return workedUp{}, &refusedByRule{err}
	}
	f.takeOver(ruled.Ports)
	kept := node.Inventory{NodeUUID: n.UUID, AttemptID: a.ID, Inventory: f.Inventory, PluginData: ruled.PluginData, CreatedAt: c.Clock.Now()}
	w := workedUp{node: ruled.Node, named: named(n, before, ruled), move: node.Move{
		Properties: ruled.Node.Properties, As: &ruled.Node, Changed: ruled.Changed, NewPorts: f.NewPorts, PortUpdates: f.PortUpdates, Inventory: &kept,
	}}
	if other := c.otherMachine(ctx, n, kept); other != "" {
		a.Notes = append(a.Notes, other)
		w.move.History = []node.History{{
			NodeUUID: n.UUID, AttemptID: a.ID, At: kept.CreatedAt, Severity: node.SeverityError, Type: node.TypeInspection, Event: other, Actor: node.System(), State: n.ProvisionState,
		}}
	}
	return w, nil
}

// named tells whether rules gave names that were not there before.
func named(n node.Node, before []node.Port, r Ruled) bool {
	return r.Node.Name != n.Name || slices.ContainsFunc(r.Ports, func(p node.Port) bool {
		i := slices.IndexFunc(before, sameAs(p))
		return p.Name != "" && (i < 0 || before[i].Name != p.Name)
	})
}

// over are the node's ports as they will be with the findings.
func (f Findings) over(ports []node.Port) []node.Port {
	out := slices.Clone(ports)
	for _, p := range f.PortUpdates {
		if i := slices.IndexFunc(out, sameAs(p)); i >= 0 {
			out[i] = p
		}
	}
	return append(out, f.NewPorts...)
}

// takeOver makes changed ports part of the findings.
func (f *Findings) takeOver(changed []node.Port) {
	f.NewPorts, f.PortUpdates = slices.Clone(f.NewPorts), slices.Clone(f.PortUpdates)
	for _, p := range changed {
		if i := slices.IndexFunc(f.NewPorts, sameAs(p)); i >= 0 {
			f.NewPorts[i] = p
		} else if i := slices.IndexFunc(f.PortUpdates, sameAs(p)); i >= 0 {
			f.PortUpdates[i] = p
		} else {
			f.PortUpdates = append(f.PortUpdates, p)
		}
	}
}

func sameAs(p node.Port) func(node.Port) bool {
	return func(other node.Port) bool { return other.UUID == p.UUID }
}
