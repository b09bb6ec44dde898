package hooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// hints are conditions on a disk; all must hold.
type hints []hint

// hint is one condition: the disk's field, an operator, and the values that it is compared with.
type hint struct {
	field  string
	op     string
	values []string
}

var textHints = []string{"name", "model", "vendor", "serial", "wwn", "wwn_with_extension", "wwn_vendor_extension", "hctl", "by_path"}

// hintOperators are Ironic's, so ordered that no operator hides a longer one: those with s compare texts, <or> and <in>
// work on texts, the others compare numbers.
var hintOperators = []string{"<all-in>", "<or>", "<in>", "s==", "s!=", "s>=", "s<=", "s>", "s<", "==", "!=", ">=", "<=", "=", ">", "<"}

// parseHints reads a document such as {"size": ">= 100", "model": "<in> SSD"}; nil for none.
func parseHints(v any) (hints, error) {
	if v == nil {
		return nil, nil
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it must be an object")
	}
	var hs hints
	for _, field := range slices.Sorted(maps.Keys(doc)) {
		h, err := parseHint(field, doc[field])
		if err != nil {
			return nil, err
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// parseSkipped reads a list of such documents: disks that fit one of them do not exist for a deployment.
func parseSkipped(v any) ([]hints, error) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("it must be a list of objects")
	}
	var all []hints
	for _, v := range list {
		hs, err := parseHints(v)
		if err != nil {
			return nil, err
		}
		if len(hs) > 0 {
			all = append(all, hs)
		}
	}
	return all, nil
}

func parseHint(field string, v any) (hint, error) {
	switch {
	case field == "rotational":
		b, ok := boolean(v)
		if !ok {
			return hint{}, fmt.Errorf("%q must be true or false", field)
		}
		return hint{field: field, op: "==", values: []string{strconv.FormatBool(b)}}, nil
	case field == "size":
		h := split(field, v, "==")
		if !slices.ContainsFunc(h.values, isPositive) || slices.ContainsFunc(h.values, func(s string) bool { return !isPositive(s) }) {
			return hint{}, fmt.Errorf("%q must be a positive number of GiB, with an operator before it where one is wanted", field)
		}
		return h, nil
	case slices.Contains(textHints, field):
		h := split(field, v, "s==")
		if len(h.values) == 0 {
			return hint{}, fmt.Errorf("%q must be a text that is not empty", field)
		}
		return h, nil
	}
	return hint{}, fmt.Errorf("there is no hint %q; there are size, rotational, %s", field, strings.Join(textHints, ", "))
}

// split reads "<op> value <op> value…"; without an operator the usual one holds.
func split(field string, v any, usual string) hint {
	text, _ := node.Text(v)
	text = strings.ToLower(strings.TrimSpace(text))
	h := hint{field: field, op: usual}
	for _, op := range hintOperators {
		if rest, ok := strings.CutPrefix(text, op); ok {
			h.op, text = op, rest
			break
		}
	}
	parts := []string{text}
	if h.op == "<or>" || h.op == "<all-in>" {
		parts = strings.Split(text, h.op)
	}
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			h.values = append(h.values, p)
		}
	}
	return h
}

func isPositive(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && n > 0
}

func boolean(v any) (bool, bool) {
	if b, ok := v.(bool); ok {
		return b, true
	}
	text, _ := node.Text(v)
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "t", "1", "yes", "y", "on":
		return true, true
	case "false", "f", "0", "no", "n", "off":
		return false, true
	}
	return false, false
}

// fit tells whether the disk meets all hints. What it does not say of itself meets none.
func (hs hints) fit(d inventory.Disk) bool {
	for _, h := range hs {
		if !h.fit(d) {
			return false
		}
	}
	return true
}

func (h hint) fit(d inventory.Disk) bool {
	switch h.field {
	case "rotational":
		return d.Rotational != nil && strconv.FormatBool(*d.Rotational) == h.values[0]
	case "size":
		return h.holds(strconv.FormatFloat(float64(d.Size)/inventory.GiB, 'f', -1, 64))
	}
	return slices.ContainsFunc(d.Texts(h.field), func(s string) bool {
		s = strings.ToLower(strings.TrimSpace(s))
		return s != "" && h.holds(s)
	})
}

// holds compares one value of a disk with those of the hint.
func (h hint) holds(have string) bool {
	want := h.values[0]
	switch h.op {
	case "<or>":
		return slices.ContainsFunc(h.values, func(v string) bool { return v == have || h.field == "size" && sameNumber(v, have) })
	case "<in>":
		return strings.Contains(have, want)
	case "<all-in>":
		return !slices.ContainsFunc(h.values, func(v string) bool { return !strings.Contains(have, v) })
	}
	if op, ok := strings.CutPrefix(h.op, "s"); ok {
		return compare(op, strings.Compare(have, want))
	}
	a, errA := strconv.ParseFloat(have, 64)
	b, errB := strconv.ParseFloat(want, 64)
	if errA != nil || errB != nil {
		return false
	}
	order := 0
	switch {
	case a < b:
		order = -1
	case a > b:
		order = 1
	}
	return compare(h.op, order)
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// compare tells whether the operator holds for an order of -1, 0 or 1. A lone = means "at least", as it does in Ironic.
func compare(op string, order int) bool {
	switch op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case ">=", "=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	}
	return false
}
