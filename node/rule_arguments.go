package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// operatorOrder and actionOrder are Ironic's order of naming them in its refusals.
var (
	operatorOrder = []string{"eq", "lt", "gt", "is-empty", "in-net", "matches", "contains", "one-of", "is-none", "is-true", "is-false"}
	actionOrder   = []string{
		"fail", "log", "set-attribute", "extend-attribute", "del-attribute", "set-capability", "unset-capability", "add-trait", "remove-trait",
		"set-plugin-data", "extend-plugin-data", "unset-plugin-data", "set-port-attribute", "extend-port-attribute", "del-port-attribute", "api-call",
	}
)

// RuleOperators lists the operators of conditions, sorted, without their inverted forms.
func RuleOperators() []string { return slices.Sorted(slices.Values(operatorOrder)) }

// RuleActions lists the actions, sorted.
func RuleActions() []string { return slices.Sorted(slices.Values(actionOrder)) }

// ruleArgument is one argument of an operator or action. check looks at a value that is written out; values that come
// into being only when the rule runs are checked there.
type ruleArgument struct {
	name     string
	optional bool
	whole    bool // a list or object: no text ever becomes one
	check    func(any) error
}

// ruleSignature is what an operator or action takes, in the order of the positional form: first what is required.
type ruleSignature []ruleArgument

func required(name string, check func(any) error) ruleArgument {
	return ruleArgument{name: name, check: check}
}

func optional(name string, check func(any) error) ruleArgument {
	return ruleArgument{name: name, optional: true, check: check}
}

func (a ruleArgument) asWhole() ruleArgument { a.whole = true; return a }

var (
	aValue     = required("value", anything)
	aPath      = required("path", isNodePath)
	aName      = required("name", isText)
	aList      = required("values", isList).asWhole()
	aPortID    = required("port_id", isText)
	aPortPath  = required("path", isPortPath)
	aDataPath  = required("path", isDataPath)
	uniqueFlag = optional("unique", isFlag)
)

var ruleOperators = map[string]ruleSignature{
	"eq":       {aList, optional("force_strings", isFlag)},
	"lt":       {aList, optional("force_strings", isFlag)},
	"gt":       {aList, optional("force_strings", isFlag)},
	"is-empty": {aValue},
	"in-net":   {required("address", anything), required("subnet", isSubnet)},
	"matches":  {aValue, required("regex", isRegex)},
	"contains": {aValue, required("regex", isRegex)},
	"one-of":   {aValue, optional("values", isList).asWhole()},
	"is-none":  {aValue},
	"is-true":  {aValue},
	"is-false": {aValue},
}

var ruleActions = map[string]ruleSignature{
	"fail":                  {required("msg", anything)},
	"log":                   {required("msg", anything), optional("level", isLogLevel)},
	"set-attribute":         {aPath, aValue},
	"extend-attribute":      {aPath, aValue, uniqueFlag},
	"del-attribute":         {aPath},
	"set-capability":        {aName, aValue},
	"unset-capability":      {aName},
	"add-trait":             {required("name", isTrait)},
	"remove-trait":          {aName},
	"set-plugin-data":       {aDataPath, aValue},
	"extend-plugin-data":    {aDataPath, aValue, uniqueFlag},
	"unset-plugin-data":     {aDataPath},
	"set-port-attribute":    {aPortID, aPortPath, aValue},
	"extend-port-attribute": {aPortID, aPortPath, aValue, uniqueFlag},
	"del-port-attribute":    {aPortID, aPortPath},
	"api-call": {
		required("url", isWebURL), optional("headers", isTexts).asWhole(), optional("proxies", isTexts).asWhole(), optional("timeout", isPositive),
		optional("retries", isCount), optional("backoff_factor", isCount),
	},
}

// named turns arguments into their form by name and checks that all are there and none is too many.
func (s ruleSignature) named(args any) (map[string]any, error) {
	out := map[string]any{}
	switch args := args.(type) {
	case map[string]any:
		out = args
	case []any:
		if len(args) > len(s) {
			return nil, fmt.Errorf("%d arguments in a list, at most %d are taken: %s", len(args), len(s), s.names())
		}
		for i, v := range args {
			out[s[i].name] = v
		}
	default:
		return nil, errors.New("args must be either a list or dictionary")
	}
	var missing []string
	for _, a := range s {
		if _, given := out[a.name]; !given && !a.optional {
			missing = append(missing, a.name)
		}
	}
	var unexpected []string
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if !slices.ContainsFunc(s, func(a ruleArgument) bool { return a.name == name }) {
			unexpected = append(unexpected, short(name))
		}
	}
	var wrong []string
	if missing != nil {
		wrong = append(wrong, "missing required argument(s): "+strings.Join(missing, ", "))
	}
	if unexpected != nil {
		wrong = append(wrong, "unexpected argument(s): "+strings.Join(unexpected, ", "))
	}
	if wrong != nil {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return out, nil
}

func (s ruleSignature) names() string {
	names := make([]string, len(s))
	for i, a := range s {
		names[i] = a.name
	}
	return strings.Join(names, ", ")
}

// checkRuleArguments checks names and, as far as they are written out, values.
func checkRuleArguments(s ruleSignature, args, loop any) error {
	given, err := s.named(args)
	if err != nil {
		return err
	}
	for _, a := range s {
		v, ok := given[a.name]
		if !ok || !a.whole && isTemplate(v, loop) {
			continue
		}
		if err := a.check(v); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// isTemplate tells whether a value comes into being only when the rule runs.
func isTemplate(v, loop any) bool {
	s, ok := v.(string)
	if !ok || !strings.Contains(s, "{") {
		return false
	}
	// Outside a loop a braced quantifier of a regex is what it looks like; only fields of the four roots are filled in.
	return loop != nil || templateField.MatchString(s)
}

var templateField = regexp.MustCompile(`\{(node|inventory|plugin_data|item)\b`)

func anything(any) error { return nil }

func isText(v any) error {
	if s, ok := v.(string); !ok || s == "" {
		return fmt.Errorf("%s is no text", shortValue(v))
	}
	return nil
}

func isFlag(v any) error {
	if _, ok := v.(bool); !ok && v != nil {
		return fmt.Errorf("%s is not of type 'boolean'", shortValue(v))
	}
	return nil
}

func isList(v any) error {
	if _, ok := v.([]any); !ok {
		return fmt.Errorf("%s is not of type 'array'", shortValue(v))
	}
	return nil
}

func isRegex(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s is no regular expression", shortValue(v))
	}
	_, _, err := CompileRuleRegex(s)
	return err
}

// What a regular expression may measure: its matching takes as long as its program times the text.
const (
	maxRegexText    = 4096
	maxRegexProgram = 5000
)

// CompileRuleRegex compiles the regular expression of a rule and tells the size of its program. It is Go's syntax:
// without look-around and back-references, and never slow by its form.
func CompileRuleRegex(s string) (re *regexp.Regexp, size int, err error) {
	if len(s) > maxRegexText {
		return nil, 0, fmt.Errorf("a regular expression of more than %d bytes is too long", maxRegexText)
	}
	parsed, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("invalid regular expression: %s", short(err.Error()))
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, fmt.Errorf("invalid regular expression: %s", short(err.Error()))
	}
	if size = len(program.Inst); size > maxRegexProgram {
		return nil, 0, errors.New("the regular expression repeats too much")
	}
	if re, err = regexp.Compile(s); err != nil {
		return nil, 0, fmt.Errorf("invalid regular expression: %s", short(err.Error()))
	}
	return re, size, nil
}

func isSubnet(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s is no subnet", shortValue(v))
	}
	_, err := ParseSubnet(s)
	return err
}

// ParseSubnet reads a subnet such as 192.0.2.0/24, also one whose host bits are set; a lone address is a subnet of one.
func ParseSubnet(s string) (netip.Prefix, error) {
	s = strings.TrimSpace(s)
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("'%s' is no subnet", short(s))
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

func isTrait(v any) error {
	if err := isText(v); err != nil {
		return err
	}
	return ValidateTrait(v.(string))
}

// RuleLogLevels lists the levels of the action `log`.
func RuleLogLevels() []string { return []string{"debug", "info", "warning", "error", "critical"} }

func isLogLevel(v any) error {
	s, _ := v.(string)
	if !slices.Contains(RuleLogLevels(), strings.ToLower(s)) {
		return fmt.Errorf("Invalid log level: %s. Choose from %s", shortValue(v), strings.Join(RuleLogLevels(), ", ")) //nolint:staticcheck // the wire's text
	}
	return nil
}

func isWebURL(v any) error {
	s, _ := v.(string)
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The URL itself is not repeated: it may hold a password.
		return errors.New("a URL that begins with http:// or https:// is needed")
	}
	return nil
}

func isTexts(v any) error {
	if v == nil {
		return nil
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is not of type 'object'", shortValue(v))
	}
	for name, v := range doc {
		if _, ok := v.(string); !ok {
			return fmt.Errorf("the value of '%s' is no text", short(name))
		}
	}
	return nil
}

func isPositive(v any) error {
	if f, ok := ruleNumber(v); !ok || f <= 0 {
		return fmt.Errorf("%s is no number greater than zero", shortValue(v))
	}
	return nil
}

func isCount(v any) error {
	if f, ok := ruleNumber(v); !ok || f < 0 {
		return fmt.Errorf("%s is no number of at least zero", shortValue(v))
	}
	return nil
}

// ruleNumber reads a number, also one that is written as a text.
func ruleNumber(v any) (float64, bool) {
	switch v.(type) {
	case string, json.Number, float64, int, int64:
	default:
		return 0, false
	}
	s, _ := Text(v)
	f, err := json.Number(strings.TrimSpace(s)).Float64()
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}
