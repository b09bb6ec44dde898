package ironic

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// arguments are the keys of a body, or of a query, before their types are known.
type arguments map[string]json.RawMessage

// body reads the arguments of an argument-style method. A body that is no JSON object has no arguments (§1.5).
func body(c *fiber.Ctx, known ...string) (arguments, error) {
	args := arguments{}
	if b := bytes.TrimSpace(c.Body()); len(b) > 0 && json.Unmarshal(b, &args) != nil {
		args = arguments{}
	}
	return args, args.only(known...)
}

func (a arguments) only(known ...string) error {
	var unknown []string
	for k := range a {
		if !slices.Contains(known, k) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return node.Invalidf("Unexpected arguments: %s", strings.Join(unknown, ", "))
}

// text is a mandatory string.
func (a arguments) text(name string) (string, error) {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return "", node.Invalidf("Missing mandatory parameter: %s", name)
	}
	return a.optionalText(name)
}

func (a arguments) optionalText(name string) (string, error) {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", node.Invalidf("Expected string for %s: %s", name, raw)
	}
	return s, nil
}

func (a arguments) flag(name string) (bool, error) {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return false, nil
	}
	return flag(name, raw)
}

var (
	yes = []string{"1", "t", "true", "on", "y", "yes"}
	no  = []string{"0", "f", "false", "off", "n", "no"}
)

// flag reads a boolean or one of the words that stand for one.
func flag(name string, raw json.RawMessage) (bool, error) {
	var b bool
	if json.Unmarshal(raw, &b) == nil {
		return b, nil
	}
	word := strings.Trim(string(raw), `"`)
	return flagWord(name, word)
}

func flagWord(name, word string) (bool, error) {
	lower := strings.ToLower(strings.TrimSpace(word))
	if slices.Contains(yes, lower) {
		return true, nil
	}
	if slices.Contains(no, lower) {
		return false, nil
	}
	all := append(slices.Clone(yes), no...)
	slices.Sort(all)
	return false, node.Invalidf("Invalid %s: Unrecognized value '%s', acceptable values are: '%s'", name, word, strings.Join(all, "', '"))
}

// query reads the parameters of the address; of a repeated one the last counts.
func query(c *fiber.Ctx) url.Values {
	out := url.Values{}
	for k, v := range c.Context().QueryArgs().All() {
		out.Set(string(k), string(v))
	}
	return out
}

func only(q url.Values, known ...string) error {
	args := arguments{}
	for k := range q {
		args[k] = nil
	}
	return args.only(known...)
}

const maxLimit = 1000

// paging are the parameters of every list.
var paging = []string{"limit", "marker", "sort_key", "sort_dir"}

// page reads the paging parameters (contract.md §3.2, G58). sortable tells from which version a key can be sorted by;
// 0: not at all.
func page(q url.Values, minor int, sortable func(key string) int) (node.Page, error) {
	p := node.Page{Limit: maxLimit}
	if s, ok := q["limit"]; ok {
		n, err := strconv.Atoi(s[0])
		if err != nil {
			return p, node.Invalidf("Expected integer for limit: %s", s[0])
		}
		if n <= 0 {
			return p, node.Invalidf("Limit must be positive")
		}
		p.Limit = min(n, maxLimit)
	}
	if p.Marker = q.Get("marker"); p.Marker != "" && !node.IsUUID(p.Marker) {
		return p, node.Invalidf("Expected UUID for marker: %s", p.Marker)
	}
	if key := q.Get("sort_key"); key != "" && key != "id" {
		switch since := sortable(key); {
		case since == 0:
			return p, node.Invalidf("The sort_key value %q is an invalid field for sorting", key)
		case since > minor:
			return p, node.ErrNotAcceptable
		}
		p.SortKey = key
	}
	switch dir := q.Get("sort_dir"); dir {
	case "", "asc":
	case "desc":
		p.Descending = true
	default:
		return p, node.Invalidf("Invalid sort direction: %s. Acceptable values are 'asc' or 'desc'", dir)
	}
	return p, nil
}

// namesSince is the version from which nodes have names.
const namesSince = 5

var logicalName = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,255}$`)

// ident is the node that the path names, by UUID or (from 1.5) by name. Below 1.91 `.json` at its end is no part of it,
// unless a node is called so.
func (a *api) ident(c *fiber.Ctx) (string, error) {
	s, err := url.PathUnescape(c.Params("node"))
	if err != nil || !logicalName.MatchString(s) {
		return "", node.Invalidf("Expected UUID or name for node_ident: %s", c.Params("node"))
	}
	if short, ok := strings.CutSuffix(s, ".json"); ok && minor(c) < 91 {
		if _, err := a.Store.Node(c.UserContext(), s); err != nil {
			s = short
		}
	}
	if minor(c) < namesSince && !node.IsUUID(s) {
		return "", &node.NotFound{What: "Node", Ident: s}
	}
	return s, nil
}

// node is the node that the path names.
func (a *api) node(c *fiber.Ctx) (node.Node, error) {
	ident, err := a.ident(c)
	if err != nil {
		return node.Node{}, err
	}
	return a.Store.Node(c.UserContext(), ident)
}
