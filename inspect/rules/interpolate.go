package rules

import (
	"errors"
	"strings"
)

// scope is what fields are filled in from, beside the run itself, and how.
type scope struct {
	looped bool
	item   any                   // of the loop
	secret func(key string) bool // what is secret in it; nil: nothing
	// plain keeps a lone field that is a text, number, truth value or null what it is; else everything becomes a text.
	plain bool
	// absent is set when a field was not there; then nothing is noted. nil notes it.
	absent *bool
}

// expand fills in the fields of all texts in a value, in names of objects too. The value itself stays as it is.
func (r *run) expand(v any, s scope) (any, error) {
	const each = 16 // what a value costs beside its text
	if err := r.charge(each); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return r.fill(v, s)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = r.expand(v[i], s); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		names := s
		names.plain = false
		out := make(map[string]any, len(v))
		for k, e := range v {
			name, err := r.fill(k, names)
			if err != nil {
				return nil, err
			}
			if out[name.(string)], err = r.expand(e, s); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// fill fills in the fields of one text. Where that cannot be done, the text is left as it is, and the reason noted.
func (r *run) fill(text string, s scope) (any, error) {
	if err := r.charge(len(text)); err != nil {
		return nil, err
	}
	if !strings.ContainsAny(text, "{}") {
		return text, nil
	}
	parts, err := parse(text)
	if err != nil {
		if err != errNumbered { // a quantifier of a regular expression looks like one
			r.note("a text with braces was left as it is: %s", err)
		}
		return text, nil
	}
	if s.plain && len(parts) == 1 && parts[0].field != nil {
		v, err := r.lookUp(*parts[0].field, s)
		if err == nil && isPlain(v.value) {
			text, _ := v.value.(string)
			return v.value, r.charge(len(text))
		}
	}
	var out strings.Builder
	for _, p := range parts {
		if p.field == nil {
			out.WriteString(p.text)
			continue
		}
		filled, done, err := r.fillField(*p.field, s)
		if err != nil || !done {
			return text, err
		}
		out.WriteString(filled)
		if out.Len() > maxText {
			r.note("a text was left as it is: filled in, it has more than %d KiB", maxText>>10)
			return text, nil
		}
	}
	return out.String(), nil
}

// fillField is what stands for a field; done is false for one that cannot be filled in.
func (r *run) fillField(f field, s scope) (text string, done bool, err error) {
	v, err := r.lookUp(f, s)
	if err == nil {
		if text, err = v.text(); err == nil {
			return text, true, r.charge(len(text))
		}
		if err := r.charge(maxText); err != nil { // that much was written in vain
			return "", false, err
		}
	}
	if errors.Is(err, errAbsent) && s.absent != nil {
		*s.absent = true
		return "", false, nil
	}
	r.note("a text was left as it is: {%s} %s", excerpt(f.source), err)
	return "", false, nil
}

func isPlain(v any) bool {
	switch v := v.(type) {
	case map[string]any, []any, []string:
		return false
	case string:
		return len(v) <= maxText
	}
	return true
}

var errAbsent = errors.New("is not there")

// lookUp finds the value of a field.
func (r *run) lookUp(f field, s scope) (view, error) {
	switch f.root {
	case "node":
		return r.lookUpNode(f)
	case "item":
		if !s.looped {
			return view{}, errors.New("stands outside of a loop")
		}
		return view{value: s.item, secret: s.secret}.walk(f.steps)
	}
	doc := &r.inventory
	if f.root == "plugin_data" {
		doc = &r.plugin
	}
	v, err := doc.object()
	if err != nil {
		return view{}, err
	}
	return view{value: v, secret: isMaskedKey}.walk(f.steps)
}

func (r *run) lookUpNode(f field) (view, error) {
	if len(f.steps) == 0 || !f.steps[0].attribute {
		return view{}, errors.New("is read with a dot: node.name")
	}
	v, ok := nodeValue(&r.node, f.steps[0].key)
	if !ok {
		return view{}, errAbsent
	}
	secret := isMaskedKey
	switch f.steps[0].key {
	case "driver_info", "driver_internal_info", "instance_info": // those that the API masks
		secret = isSecretOfNode
	}
	return view{value: v, secret: secret}.walk(f.steps[1:])
}
