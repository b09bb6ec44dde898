package ui

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// pageSize is how many lines a page of a list holds unless its address says otherwise.
const pageSize = 50

// pageSizes are how many nodes a page of the list may hold.
var pageSizes = []int{pageSize, 100, 200}

// What a list may be filtered by of health beside the words of Redfish.
const (
	unknown = "unknown" // nobody knows
	silent  = "silent"  // the BMC does not answer
)

// healths are the values of the filter by health, from bad to good.
var healths = []string{string(node.HealthCritical), string(node.HealthWarning), silent, unknown, string(node.HealthOK)}

// query is the list as its address tells it: what is shown, in which order, and which page of it. Whatever makes no sense in
// an address counts as not said.
type query struct {
	search, group, rack, driver string
	states                      []node.State
	health                      string // one of healths
	maintenance                 string // "true" or "false"
	order                       node.ListOrder
	descending                  bool
	size                        int
	at                          node.Cursor // the page begins after it, or ends before it
	before                      bool
}

// queryOf reads the list's address.
func queryOf(v url.Values) query {
	q := query{
		search: cut(v.Get("q"), 200), group: v.Get("group"), rack: cut(v.Get("rack"), 255), driver: cut(v.Get("driver"), 255),
		health: v.Get("health"), maintenance: v.Get("maintenance"), order: node.ListOrder(v.Get("sort")), descending: v.Get("dir") == "desc",
	}
	for _, s := range v["state"] {
		if state := node.State(s); state.Valid() && !slices.Contains(q.states, state) {
			q.states = append(q.states, state)
		}
	}
	// States say more than the tab that was open.
	if !templates.IsGroup(q.group) || len(q.states) > 0 {
		q.group = ""
	}
	if !slices.Contains(healths, q.health) {
		q.health = ""
	}
	if q.maintenance != "true" && q.maintenance != "false" {
		q.maintenance = ""
	}
	if !q.order.Valid() {
		q.order = node.ByAttention
	}
	if q.size, _ = strconv.Atoi(v.Get("size")); !slices.Contains(pageSizes, q.size) {
		q.size = pageSize
	}
	if q.at = v["after"]; q.at == nil {
		q.at = v["before"]
		q.before = q.at != nil
	}
	return q
}

// parseQuery reads the list's address from a request for it.
func parseQuery(c *fiber.Ctx) query {
	v, _ := url.ParseQuery(string(c.Request().URI().QueryString())) // what can be read of it counts
	return queryOf(v)
}

// filterOf is what the list at an address shows, on all of its pages: the address's part after the question mark, which may
// also come as a form's field.
func filterOf(v url.Values) node.Filter { return queryOf(v).filter() }

func (q query) filter() node.Filter {
	f := node.Filter{Search: q.search, Rack: q.rack, Driver: q.driver, ProvisionStates: q.states, IncludeChildren: true}
	switch q.health {
	case "":
	case silent:
		f.Silent = true
	case unknown:
		f.Healths = []node.Health{""}
	default:
		f.Healths = []node.Health{node.Health(q.health)}
	}
	if q.group != "" {
		f.ProvisionStates = templates.GroupStates(q.group)
	}
	if q.maintenance != "" {
		on := q.maintenance == "true"
		f.Maintenance = &on
	}
	return f
}

// cut bounds what an address may say.
func cut(s string, n int) string {
	if r := []rune(strings.TrimSpace(s)); len(r) > n {
		return string(r[:n])
	}
	return strings.TrimSpace(s)
}

// values are the query as an address holds it; what is as usual is not said.
func (q query) values() url.Values {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	set("q", q.search)
	set("group", q.group)
	for _, s := range q.states {
		v.Add("state", string(s))
	}
	set("rack", q.rack)
	set("driver", q.driver)
	set("health", q.health)
	set("maintenance", q.maintenance)
	set("sort", string(q.order))
	if q.descending {
		v.Set("dir", "desc")
	}
	if q.size != pageSize {
		v.Set("size", strconv.Itoa(q.size))
	}
	if len(q.at) > 0 && q.before {
		v["before"] = q.at
	} else if len(q.at) > 0 {
		v["after"] = q.at
	}
	return v
}

// address is the list's address with this query.
func (q query) address() string {
	if v := q.values(); len(v) > 0 {
		return "/ui?" + v.Encode()
	}
	return "/ui"
}

// first is the query's first page.
func (q query) first() query {
	q.at, q.before = nil, false
	return q
}

// unfiltered keeps the order and the size of the page.
func (q query) unfiltered() query {
	return query{order: q.order, descending: q.descending, size: q.size}
}

// filtered tells whether something is left out.
func (q query) filtered() bool { return len(q.first().values()) > len(q.unfiltered().values()) }
