package rules

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"cagenut/node"
)

// operator decides a condition. formatted are the arguments whose fields are filled in; in a loop all are.
type operator struct {
	formatted []string
	// nulls says that data which is not there reads as null; else the text with the field stays as it is.
	nulls bool
	holds func(r *run, args map[string]any) (bool, error)
}

var operators = map[string]operator{
	"eq": {[]string{"values"}, false, chain(func(a, b any) (bool, error) { return equal(a, b), nil })},
	"lt": {[]string{"values"}, false, chain(func(a, b any) (bool, error) { return ordered(a, b, -1) })},
	"gt": {[]string{"values"}, false, chain(func(a, b any) (bool, error) { return ordered(a, b, 1) })},

	"in-net":   {[]string{"address", "subnet"}, false, func(_ *run, args map[string]any) (bool, error) { return inNet(args["address"], args["subnet"]) }},
	"matches":  {[]string{"value"}, false, func(r *run, args map[string]any) (bool, error) { return r.matches(args["value"], args["regex"], true) }},
	"contains": {[]string{"value"}, false, func(r *run, args map[string]any) (bool, error) { return r.matches(args["value"], args["regex"], false) }},
	"one-of":   {[]string{"value"}, false, oneOf},

	"is-empty": {[]string{"value"}, true, func(_ *run, args map[string]any) (bool, error) { return isEmpty(args["value"]), nil }},
	"is-none":  {[]string{"value"}, true, func(_ *run, args map[string]any) (bool, error) { return args["value"] == nil, nil }},
	"is-true":  {[]string{"value"}, true, func(_ *run, args map[string]any) (bool, error) { return isTrue(args["value"]), nil }},
	"is-false": {[]string{"value"}, true, func(_ *run, args map[string]any) (bool, error) { return isFalse(args["value"]), nil }},
}

// holds tells whether a condition holds; *undecided where there is no answer.
func (r *run) holds(ctx context.Context, c node.RuleCondition) (bool, error) {
	name, inverted, err := c.Operator()
	if err != nil {
		return false, err
	}
	op, known := operators[name]
	if !known {
		return false, errors.New("there is no such operator")
	}
	args, err := c.Arguments()
	if err != nil {
		return false, err
	}
	rounds, looped, err := r.rounds(c.Loop)
	if err != nil {
		return false, err
	}
	once := func(s scope) (bool, error) {
		if err := r.step(ctx); err != nil {
			return false, err
		}
		s.plain = true
		filled, err := r.conditionArguments(op, args, s)
		if err != nil {
			return false, err
		}
		yes, err := op.holds(r, filled)
		return yes != inverted, err
	}
	switch {
	case !looped:
		return once(scope{})
	case len(rounds) > 0:
		return inLoop(c.Multiple, rounds, once)
	case op.nulls:
		return once(scope{looped: true})
	}
	return false, undecidedf("there is nothing to loop over")
}

func (r *run) conditionArguments(op operator, args map[string]any, s scope) (map[string]any, error) {
	out := make(map[string]any, len(args))
	for name, v := range args {
		if !s.looped && !slices.Contains(op.formatted, name) {
			out[name] = v
			continue
		}
		absent := false
		if op.nulls {
			s.absent = &absent
		}
		filled, err := r.expand(v, s)
		if err != nil {
			return nil, err
		}
		if out[name] = filled; absent {
			out[name] = nil
		}
	}
	return out, nil
}

// chain holds when it holds for each value and the next.
func chain(pair func(a, b any) (bool, error)) func(*run, map[string]any) (bool, error) {
	return func(_ *run, args map[string]any) (bool, error) {
		values, ok := args["values"].([]any)
		if !ok {
			return false, undecidedf("values is no list")
		}
		if isTrue(args["force_strings"]) {
			values = slices.Clone(values)
			for i := range values {
				s, err := textOf(values[i])
				if err != nil {
					return false, undecidedf("a value %s", err)
				}
				values[i] = forcedText(s)
			}
		}
		for i := range max(0, len(values)-1) {
			if yes, err := pair(values[i], values[i+1]); !yes || err != nil {
				return false, err
			}
		}
		return true, nil
	}
}

// forcedText is a text that is not to be taken for a number.
type forcedText string

func ordered(a, b any, want int) (bool, error) {
	s, forced := a.(forcedText)
	t, forced2 := b.(forcedText)
	if forced && forced2 {
		return strings.Compare(string(s), string(t)) == want, nil
	}
	order, ok := compare(a, b)
	if !ok {
		return false, undecidedf("the values cannot be put in an order")
	}
	return order == want, nil
}

func oneOf(r *run, args map[string]any) (bool, error) {
	values, ok := args["values"].([]any)
	if !ok && args["values"] != nil {
		return false, undecidedf("values is no list")
	}
	if err := r.charge(len(values)); err != nil {
		return false, err
	}
	return slices.ContainsFunc(values, func(v any) bool { return equal(args["value"], v) }), nil
}

func inNet(address, subnet any) (bool, error) {
	net, ok := subnet.(string)
	if !ok {
		return false, undecidedf("subnet is no text")
	}
	prefix, err := node.ParseSubnet(net)
	if err != nil {
		return false, undecidedf("%s", err)
	}
	text, _ := address.(string)
	text, _, _ = strings.Cut(strings.TrimSpace(text), "%")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return false, undecidedf("'%s' is no address", excerpt(text))
	}
	return prefix.Contains(a.Unmap()), nil
}

// matches looks for a regular expression in a value as a text; it must fit the whole of it, or any part.
func (r *run) matches(value, regex any, whole bool) (bool, error) {
	s, ok := regex.(string)
	if !ok {
		return false, undecidedf("the regular expression is no text")
	}
	text, err := textOf(value)
	if err != nil {
		return false, undecidedf("the value %s", err)
	}
	re, size, err := node.CompileRuleRegex(s)
	if err != nil {
		return false, undecidedf("%s", err)
	}
	if r.regexWork += size * (len(text) + 1); r.regexWork > maxRegexWork {
		return false, errors.New("the regular expressions of the inspection rules take too long")
	}
	if !whole {
		return re.MatchString(text), nil
	}
	re.Longest() // a match of the whole is the longest of those that begin first
	at := re.FindStringIndex(text)
	return at != nil && at[0] == 0 && at[1] == len(text), nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return slices.Contains([]string{"", "None", "[]", "{}"}, v)
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func isTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "yes") || strings.EqualFold(v, "true")
	}
	order, number := compareNumbers(v, int64(0))
	return number && order != 0
}

func isFalse(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return strings.EqualFold(v, "no") || strings.EqualFold(v, "false")
	}
	order, number := compareNumbers(v, int64(0))
	return number && order == 0
}
