package rules

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"cagenut/node"
)

// maxChanges bounds what is told of one rule's changes.
const maxChanges = 1000

// Try tells what the rules would do, rule by rule. It changes nothing, calls nobody and writes no log.
func (e *Engine) Try(ctx context.Context, in Input) node.RulesTrial {
	out := node.RulesTrial{Rules: []node.TriedRule{}}
	quiet := &Engine{Options{Log: slog.New(slog.DiscardHandler)}}
	r := newRun(quiet, in)
	quiet.Caller = noCalls{r}
	before := r.snapshot()
	for _, rule := range inTurn(in.Rules) {
		r.rule, r.applied = rule, false
		err := r.carryOut(ctx)
		after := r.snapshot()
		tried := node.TriedRule{UUID: rule.UUID, Label: rule.Label(), Applied: r.applied, Changes: between(before, after)}
		if rule.Sensitive { // as in lists of rules, what it does is not shown
			for i := range tried.Changes {
				tried.Changes[i].Before, tried.Changes[i].After = hidden(tried.Changes[i].Before), hidden(tried.Changes[i].After)
			}
		}
		out.Rules = append(out.Rules, tried)
		before = after
		if err != nil {
			out.Failure = err.Error()
			break
		}
	}
	out.Notes = append([]string{}, r.allNotes()...)
	return out
}

// noCalls notes the calls that would be made, and takes them for answered.
type noCalls struct{ r *run }

// Get is Caller's.
func (n noCalls) Get(_ context.Context, c Call) (int, error) {
	n.r.note("a call to %s would be made", excerpt(c.URL.Scheme+"://"+c.URL.Host))
	return 200, nil
}

// snapshot is everything that rules may change: values by what they are of and their path. It holds secrets in the clear.
type snapshot map[[2]string]any

func (r *run) snapshot() snapshot {
	s := snapshot{}
	const ofNode = "node"
	for _, name := range node.RuleDocuments() {
		s.add(ofNode, name, plain(*nodeDocument(&r.node, name)))
	}
	for _, name := range append(node.RuleAttributes(), "traits") {
		v, _ := nodeValue(&r.node, name)
		s.add(ofNode, name, plain(v))
	}
	for i := range r.ports {
		p := &r.ports[i]
		of := "port " + p.Address
		for _, name := range node.RulePortDocuments() {
			s.add(of, name, plain(*portDocument(p, name)))
		}
		for name, v := range map[string]any{"is_smartnic": p.IsSmartNIC, "name": textOrNull(p.Name), "physical_network": textOrNull(p.PhysicalNetwork), "pxe_enabled": p.PXEEnabled} {
			s.add(of, name, v)
		}
	}
	if doc, err := r.plugin.object(); err == nil {
		s.add("plugin data", "", plain(doc))
	}
	return s
}

// plain is a value as JSON has it, and a copy: rules change documents in place.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

// add takes an object apart; everything else is one value.
func (s snapshot) add(of, path string, v any) {
	if doc, ok := v.(map[string]any); ok {
		for key, inner := range doc {
			s.add(of, strings.TrimPrefix(path+"/"+key, "/"), inner)
		}
		return
	}
	s[[2]string{of, path}] = v
}

func between(before, after snapshot) []node.RuleChange {
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	out := []node.RuleChange{}
	for key := range keys {
		a, was := before[key]
		b, is := after[key]
		if was == is && reflect.DeepEqual(a, b) || a == nil && b == nil {
			continue
		}
		if slices.ContainsFunc(strings.Split(key[1], "/"), node.IsSecretKey) {
			a, b = hidden(a), hidden(b)
		}
		out = append(out, node.RuleChange{Of: key[0], Path: key[1], Before: a, After: b})
	}
	slices.SortFunc(out, func(a, b node.RuleChange) int { return strings.Compare(a.Of+"\x00"+a.Path, b.Of+"\x00"+b.Path) })
	return out[:min(len(out), maxChanges)]
}

func hidden(v any) any {
	if v == nil {
		return nil
	}
	return node.Mask
}
