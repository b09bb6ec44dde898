package ironic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"cagenut/node"
	"cagenut/web/openapi"
)

var patchPath = regexp.MustCompile(`^(/[\w-]+)+$`)

// edit is one operation of a JSON patch.
type edit struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

func (e edit) root() string {
	root, _, _ := strings.Cut(e.Path[1:], "/")
	return root
}

// maxEdits is how many operations a patch may have.
const maxEdits = 1000

var editOps = []string{"add", "replace", "remove"}

// patching is the body of a PATCH.
type patching[T any] struct{ of *resource[T] }

func (b patching[T]) Takes(minor int) *openapi.Schema {
	var roots []string
	for _, f := range b.of.fields {
		if f.patchable && f.since <= minor {
			roots = append(roots, f.name)
		}
	}
	slices.Sort(roots)
	most := maxEdits
	return &openapi.Schema{Type: "array", MaxItems: &most, Items: &openapi.Schema{
		Type: "object", Required: []string{"op", "path"}, AdditionalProperties: openapi.Nothing(),
		Properties: map[string]*openapi.Schema{
			"op":    openapi.OneOf(editOps...),
			"path":  {Type: "string", Pattern: "^/(" + strings.Join(roots, "|") + `)(/[\w-]+)*$`},
			"value": {},
		},
		If:   &openapi.Schema{Properties: map[string]*openapi.Schema{"op": openapi.OneOf("add", "replace")}},
		Then: &openapi.Schema{Required: []string{"value"}},
	}}
}

// edits reads a patch and checks all that can be said without the resource (contract.md §3.5).
func (s *resource[T]) edits(raw []byte, minor int) ([]edit, error) {
	all, err := readEdits(raw)
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		switch {
		case !slices.Contains(editOps, e.Op):
			return nil, node.Invalidf("Schema error for patch: '%s' is not one of ['add', 'replace', 'remove']", e.Op)
		case !patchPath.MatchString(e.Path):
			return nil, node.Invalidf("Schema error for patch: '%s' is not a path that can be patched", e.Path)
		case e.Op != "remove" && e.Value == nil:
			return nil, node.Invalidf("Schema error for patch: 'value' is a required property")
		}
		if e.Op == "remove" {
			all[i].Value = nil
		}
		if f, ok := s.field(e.root()); !ok || !f.patchable {
			return nil, node.Invalidf("Cannot patch %s. Only the following can be updated: %s", e.Path, s.patchables())
		}
	}
	for _, e := range all {
		if f, _ := s.field(e.root()); f.since > minor {
			return nil, node.ErrNotAcceptable
		}
	}
	return all, nil
}

// readEdits takes the keys of an edit as they are spelt; encoding/json alone would also take them in another case.
func readEdits(raw []byte) ([]edit, error) {
	var all []map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return nil, node.Invalidf("Schema error for patch: the body is not of type 'array'")
	}
	if len(all) > maxEdits {
		return nil, node.Invalidf("Schema error for patch: it has more than %d operations", maxEdits)
	}
	out := make([]edit, len(all))
	for i, keys := range all {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !slices.Contains([]string{"op", "path", "value"}, key) {
				return nil, node.Invalidf("Schema error for patch: Additional properties are not allowed ('%s' was unexpected)", key)
			}
		}
		out[i].Value = keys["value"]
		for key, at := range map[string]*string{"op": &out[i].Op, "path": &out[i].Path} {
			if json.Unmarshal(keys[key], at) != nil {
				return nil, node.Invalidf("Schema error for patch: '%s' is a required property", key)
			}
		}
	}
	return out, nil
}

func (s *resource[T]) patchables() string {
	var names []string
	for _, f := range s.fields {
		if f.patchable {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// edited is the resource after the patch, all of it or (with an error) none. A mask that is left in a document stands for
// the secret that is there.
func (s *resource[T]) edited(t T, all []edit, minor int) (T, error) {
	doc, err := json.Marshal(s.stored(t))
	if err != nil {
		return t, fmt.Errorf("encode what is to be patched: %w", err)
	}
	if doc, err = patched(doc, all); err != nil {
		return t, err
	}
	after := map[string]json.RawMessage{}
	if err := json.Unmarshal(doc, &after); err != nil {
		return t, fmt.Errorf("decode what was patched: %w", err)
	}
	for _, k := range s.required {
		if openapi.IsNull(after[k]) {
			return t, node.Invalidf("Schema error for patch: '%s' is a required property", k)
		}
	}
	var done []string
	for _, e := range all {
		root := e.root()
		if slices.Contains(done, root) {
			continue
		}
		done = append(done, root)
		f, _ := s.field(root)
		if err := f.kind.Check(root, after[root], minor); err != nil {
			return t, err
		}
		f.set(&t, after[root])
	}
	return t, nil
}

// patched is a document after all edits. Which of them cannot be made is found by halving: the document is decoded for
// each try, and there may be a thousand edits.
func patched(doc []byte, all []edit) ([]byte, error) {
	out, err := apply(doc, all)
	if err == nil {
		return out, nil
	}
	first := sort.Search(len(all)-1, func(i int) bool {
		_, err := apply(doc, all[:i+1])
		return err != nil
	})
	if _, err = apply(doc, all[:first+1]); err == nil {
		return nil, fmt.Errorf("a patch failed only as a whole")
	}
	return nil, all[first].refusal(err)
}

func apply(doc []byte, all []edit) ([]byte, error) {
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return nil, err
	}
	return p.Apply(doc)
}

// refusal tells why an edit could not be made. It quotes no value: that may be a secret.
func (e edit) refusal(err error) error {
	last := e.Path[strings.LastIndex(e.Path, "/")+1:]
	reason := fmt.Sprintf("can't %s a non-existent object '%s'", e.Op, last)
	if !errors.Is(err, jsonpatch.ErrMissing) {
		reason = fmt.Sprintf("'%s' is not a place where a value can be", e.Path)
	} else if e.Op == "add" {
		reason = fmt.Sprintf("the object that '%s' would be in is not there", last)
	}
	value := ""
	if e.Value != nil {
		value = ", 'value': ..."
	}
	return node.Invalidf("Couldn't apply patch '{'op': '%s', 'path': '%s'%s}'. Reason: %s", e.Op, e.Path, value, reason)
}
