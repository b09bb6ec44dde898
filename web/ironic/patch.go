package ironic

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"cagenut/node"
)

var patchPath = regexp.MustCompile(`^(/[\w-]+)+$`)

type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

func (o operation) root() string {
	root, _, _ := strings.Cut(o.Path[1:], "/")
	return root
}

// operations reads a patch and checks all that can be said without the resource (contract.md §3.5).
func operations[T any](fields []field[T], raw []byte, minor int) ([]operation, error) {
	var ops []operation
	if json.Unmarshal(raw, &ops) != nil || ops == nil {
		return nil, node.Invalidf("Schema error for patch: the body is not of type 'array'")
	}
	for i, o := range ops {
		switch {
		case !slices.Contains([]string{"add", "replace", "remove"}, o.Op):
			return nil, node.Invalidf("Schema error for patch: '%s' is not one of ['add', 'replace', 'remove']", o.Op)
		case !patchPath.MatchString(o.Path):
			return nil, node.Invalidf("Schema error for patch: '%s' is not a path that can be patched", o.Path)
		case o.Op != "remove" && o.Value == nil:
			return nil, node.Invalidf("Schema error for patch: 'value' is a required property")
		}
		if o.Op == "remove" {
			ops[i].Value = nil
		}
		f, ok := fieldNamed(fields, o.root())
		if !ok || !f.patchable {
			return nil, node.Invalidf("Cannot patch %s. Only the following can be updated: %s", o.Path, patchables(fields))
		}
	}
	for _, o := range ops {
		if f, _ := fieldNamed(fields, o.root()); f.since > minor {
			return nil, node.ErrNotAcceptable
		}
	}
	return ops, nil
}

func patchables[T any](fields []field[T]) string {
	var names []string
	for _, f := range fields {
		if f.patchable {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// applied is the resource after the patch, all of it or (with an error) none. Secrets are masked in what is patched, and
// a mask that survives stands for the secret that is there.
func applied[T any](fields []field[T], t T, ops []operation, required ...string) (T, error) {
	doc, err := json.Marshal(show(fields, t, newest, nil))
	if err != nil {
		return t, fmt.Errorf("encode what is to be patched: %w", err)
	}
	for _, o := range ops {
		if doc, err = applyOne(doc, o); err != nil {
			return t, err
		}
	}
	after := arguments{}
	if err := json.Unmarshal(doc, &after); err != nil {
		return t, fmt.Errorf("decode what was patched: %w", err)
	}
	for _, k := range required {
		if isNull(after[k]) {
			return t, node.Invalidf("Schema error for patch: '%s' is a required property", k)
		}
	}
	var done []string
	for _, o := range ops {
		root := o.root()
		if slices.Contains(done, root) {
			continue
		}
		done = append(done, root)
		f, _ := fieldNamed(fields, root)
		if err := f.set(&t, after[root]); err != nil {
			return t, err
		}
	}
	return t, nil
}

func applyOne(doc []byte, o operation) ([]byte, error) {
	raw, err := json.Marshal([]operation{o})
	if err != nil {
		return nil, fmt.Errorf("encode a patch: %w", err)
	}
	p, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return nil, node.Invalidf("Schema error for patch: it cannot be read")
	}
	out, err := p.Apply(doc)
	if err == nil {
		return out, nil
	}
	last := o.Path[strings.LastIndex(o.Path, "/")+1:]
	reason := fmt.Sprintf("can't %s a non-existent object '%s'", o.Op, last)
	if !errors.Is(err, jsonpatch.ErrMissing) {
		reason = fmt.Sprintf("'%s' is not a place where a value can be", o.Path)
	} else if o.Op == "add" {
		reason = fmt.Sprintf("the object that '%s' would be in is not there", last)
	}
	value := ""
	if o.Value != nil {
		value = ", 'value': ..." // it may be a secret
	}
	return nil, node.Invalidf("Couldn't apply patch '{'op': '%s', 'path': '%s'%s}'. Reason: %s", o.Op, o.Path, value, reason)
}
