package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"cagenut/node"
)

// How much the rules of one inspection may do together. What is beyond fails the inspection: a rule that asks for it is
// a mistake, and a half of its work is of no use.
const (
	maxSteps     = 10_000           // conditions and actions, each round of a loop counted
	maxBytes     = 16 << 20         // of arguments and of the texts that they become
	maxRegexWork = 1 << 26          // size of the program times length of the text
	maxText      = 64 << 10         // bytes of one text
	maxNotes     = 100              // kept; the rest is counted
	maxNote      = 500              // bytes of one note
	callTime     = 15 * time.Second // of all calls
)

// Input is what the rules work on.
type Input struct {
	Rules      []node.InspectionRule
	Node       node.Node   // with the properties that the hooks found
	Ports      []node.Port // of the node, as the hooks leave them, new ones too
	Inventory  []byte      // JSON objects
	PluginData []byte
}

// Result is what the rules made of it. What they left alone is as in the input, byte for byte.
type Result struct {
	Node       node.Node
	Changed    []string    // the attributes of Node that may differ, by their names on the wire, sorted
	Ports      []node.Port // those that may differ
	PluginData []byte
	Notes      []string // what was logged, and what could not be found out
}

// Options are what an [Engine] works with.
type Options struct {
	Caller Caller
	Log    *slog.Logger // of the action `log`
}

// Engine carries out rules. It is safe for concurrent use.
type Engine struct{ Options }

// New makes an engine.
func New(o Options) *Engine { return &Engine{Options: o} }

// Apply carries out the rules, those of the highest priority first. Its error is for people to read, and fails the
// inspection; the result then holds the notes alone. A condition that cannot be decided does not hold, and is noted.
func (e *Engine) Apply(ctx context.Context, in Input) (Result, error) {
	r := newRun(e, in)
	for _, rule := range inTurn(in.Rules) {
		r.rule = rule
		if err := r.carryOut(ctx); err != nil {
			return Result{Notes: r.allNotes()}, err
		}
	}
	plugin, err := r.plugin.encoded()
	if err != nil {
		return Result{Notes: r.allNotes()}, err
	}
	res := Result{Node: r.node, Changed: slices.Sorted(maps.Keys(r.changed)), PluginData: plugin, Notes: r.allNotes()}
	for _, p := range r.ports {
		if r.changedPorts[p.UUID] {
			res.Ports = append(res.Ports, p)
		}
	}
	return res, nil
}

// inTurn are rules as they are carried out: those of the highest priority first, among equals the older ones.
func inTurn(all []node.InspectionRule) []node.InspectionRule {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b node.InspectionRule) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// run is one inspection in the hands of the rules.
type run struct {
	*Engine
	rule         node.InspectionRule // the one at work
	applied      bool                // whether its conditions hold
	node         node.Node
	changed      map[string]bool
	ports        []node.Port
	changedPorts map[string]bool
	inventory    document
	plugin       document

	notes       []string
	moreNotes   int
	steps       int
	bytes       int
	regexWork   int
	callingTime time.Duration
}

func newRun(e *Engine, in Input) *run {
	r := &run{
		Engine: e, node: in.Node, changed: map[string]bool{}, ports: slices.Clone(in.Ports), changedPorts: map[string]bool{},
		inventory: document{name: "inventory", raw: in.Inventory}, plugin: document{name: "plugin data", raw: in.PluginData},
	}
	// What is changed in place must be ours.
	for _, name := range node.RuleDocuments() {
		doc := nodeDocument(&r.node, name)
		*doc = cloneObject(*doc)
	}
	r.node.Traits = slices.Clone(r.node.Traits)
	for i := range r.ports {
		for _, name := range node.RulePortDocuments() {
			doc := portDocument(&r.ports[i], name)
			*doc = cloneObject(*doc)
		}
	}
	return r
}

// failure is a rule that asked for the inspection to fail.
type failure struct{ msg string }

func (f *failure) Error() string { return "Failed to inspect hardware. Reason: " + f.msg }

// undecided is a condition to which there is no answer.
type undecided struct{ why string }

func (u *undecided) Error() string { return u.why }

func undecidedf(format string, a ...any) error { return &undecided{why: fmt.Sprintf(format, a...)} }

// carryOut does the rule at work.
func (r *run) carryOut(ctx context.Context) error {
	for _, c := range r.rule.Conditions {
		holds, err := r.holds(ctx, c)
		var unclear *undecided
		switch {
		case errors.As(err, &unclear):
			r.note("condition %s could not be decided, so the rule was not applied: %s", excerpt(c.Op), unclear.why)
			return nil
		case err != nil:
			return r.inRule("condition "+excerpt(c.Op), err)
		case !holds:
			return nil
		}
	}
	r.applied = true
	for _, a := range r.rule.Actions {
		err := r.act(ctx, a)
		if asked := (*failure)(nil); errors.As(err, &asked) {
			r.note("the rule failed the inspection")
			return err
		}
		if err != nil {
			return r.inRule("action "+excerpt(a.Op), err)
		}
	}
	if err := r.checkInterfaces(); err != nil {
		return r.inRule("interfaces", err)
	}
	return nil
}

func (r *run) inRule(part string, err error) error {
	return fmt.Errorf("inspection rule %q: %s: %w", excerpt(r.rule.Label()), part, err)
}

// step counts one round of a condition or action.
func (r *run) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.steps++; r.steps > maxSteps {
		return fmt.Errorf("the inspection rules take more than %d steps", maxSteps)
	}
	return nil
}

// charge counts bytes that pass through arguments.
func (r *run) charge(bytes int) error {
	if r.bytes += bytes; r.bytes > maxBytes {
		return fmt.Errorf("the inspection rules work on more than %d MiB of text", maxBytes>>20)
	}
	return nil
}

func (r *run) note(format string, a ...any) {
	text := cut(fmt.Sprintf("inspection rule %q: ", excerpt(r.rule.Label()))+fmt.Sprintf(format, a...), maxNote)
	switch {
	case slices.Contains(r.notes, text):
	case len(r.notes) == maxNotes:
		r.moreNotes++
	default:
		r.notes = append(r.notes, text)
	}
}

func (r *run) allNotes() []string {
	if r.moreNotes > 0 {
		return append(r.notes, fmt.Sprintf("and %d more notes of inspection rules", r.moreNotes))
	}
	return r.notes
}
