package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// document is a JSON object that is read when somebody asks for it, and written again only when it was changed.
type document struct {
	name    string
	raw     []byte
	read    map[string]any
	changed bool
}

// maxValues is about how many values a document may have to be read: decoded, one takes many times its bytes.
const maxValues = 200_000

func (d *document) object() (map[string]any, error) {
	if d.read != nil {
		return d.read, nil
	}
	if bytes.Count(d.raw, []byte(",")) >= maxValues {
		return nil, fmt.Errorf("cannot be read: the %s holds more than %d values", d.name, maxValues)
	}
	decoder := json.NewDecoder(bytes.NewReader(d.raw))
	decoder.UseNumber()
	if err := decoder.Decode(&d.read); err != nil || d.read == nil {
		return nil, fmt.Errorf("cannot be read: the %s is no JSON object", d.name)
	}
	return d.read, nil
}

func (d *document) encoded() ([]byte, error) {
	if !d.changed {
		return d.raw, nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(d.read); err != nil {
		return nil, fmt.Errorf("the %s cannot be written: %w", d.name, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

var (
	errNoObject = errors.New("what stands above it is no object")
	errNoList   = errors.New("it is no list, so it cannot be extended")
)

// inside is the object that holds the last element of a path; objects on the way that are missing are made, unless make
// is false: then it is nil.
func inside(doc map[string]any, path []string, make bool) (map[string]any, error) {
	for _, key := range path[:len(path)-1] {
		next, there := doc[key]
		if !there {
			if !make {
				return nil, nil
			}
			next = map[string]any{}
			doc[key] = next
		}
		var ok bool
		if doc, ok = next.(map[string]any); !ok {
			return nil, errNoObject
		}
	}
	return doc, nil
}

func setIn(doc map[string]any, path []string, v any) error {
	doc, err := inside(doc, path, true)
	if err != nil {
		return err
	}
	doc[path[len(path)-1]] = v
	return nil
}

// extendIn appends to a list, which is made where there is none. With unique, what is in the list already is not
// appended once more.
func (r *run) extendIn(doc map[string]any, path []string, v any, unique bool) error {
	doc, err := inside(doc, path, true)
	if err != nil {
		return err
	}
	key := path[len(path)-1]
	list, ok := doc[key].([]any)
	if !ok && doc[key] != nil {
		return errNoList
	}
	if unique {
		if err := r.charge(len(list)); err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(e any) bool { return equal(e, v) }) {
			return nil
		}
	}
	doc[key] = append(list, v)
	return nil
}

// deleteIn removes a value and tells whether it was there.
func deleteIn(doc map[string]any, path []string) bool {
	doc, err := inside(doc, path, false)
	if err != nil || doc == nil {
		return false
	}
	_, there := doc[path[len(path)-1]]
	delete(doc, path[len(path)-1])
	return there
}

func cloneObject(doc map[string]any) map[string]any {
	out := make(map[string]any, len(doc))
	for k, v := range doc {
		out[k] = clone(v)
	}
	return out
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneObject(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}
