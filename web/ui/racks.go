package ui

import (
	"context"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// Racks tells where nodes sit.
type Racks interface {
	// Placed lists all nodes by rack, without names; PlacedIn those of one rack.
	Placed(ctx context.Context) ([]node.Placed, error)
	PlacedIn(ctx context.Context, rack string) ([]node.Placed, error)
	// InRack lists the nodes of a rack that a search finds, from the top, at most limit.
	InRack(ctx context.Context, rack, search string, limit int) ([]node.Node, error)
	// InNoRack lists those without a rack by name, and how many a search finds.
	InNoRack(ctx context.Context, search string, limit int) ([]node.Node, int, error)
}

const (
	racksURL = "/ui/racks"
	// freeShown is how many nodes in no rack stand beside racks.
	freeShown = 20
	// longestRack is how long a rack's name may be to have a page, in characters: it stands in addresses.
	longestRack = 200
)

func (p *Pages) registerRacks(r fiber.Router) {
	r.Get(racksURL, p.racks)
	r.Get(racksURL+"/:rack", p.rack)
	r.Get("/ui/nodes/:ident/place", p.placeForm)
	r.Post("/ui/nodes/:ident/place", p.place)
}

// rackURL is the address of a rack's page; "" for a name that is too long for one.
func rackURL(rack string) string {
	switch {
	case utf8.RuneCountInString(rack) > longestRack:
		return ""
	case rack == "." || rack == "..": // browsers take these for folders
		return racksURL + "/-?" + url.Values{"name": {rack}}.Encode()
	}
	return racksURL + "/" + url.PathEscape(rack)
}

// with adds a query to an address that may have one.
func with(address string, q url.Values) string {
	if len(q) == 0 {
		return address
	}
	if strings.Contains(address, "?") {
		return address + "&" + q.Encode()
	}
	return address + "?" + q.Encode()
}

// rackID is the id of a rack's card: names of racks may hold anything.
func rackID(rack string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(rack))
	return "rack-" + strconv.FormatUint(h.Sum64(), 16)
}

// racks is the page of all racks: ?q= is part of their names, ?free= searches the nodes in none.
func (p *Pages) racks(c *fiber.Ctx) error {
	ctx, q := c.UserContext(), cut(c.Query("q"), 100)
	events := with("/ui/events?view=racks", url.Values{"rack": {q}})
	view := templates.Racks{Frame: p.frame(c, templates.T(ctx, "racks.title"), events), Search: q}
	all, err := p.o.Store.Placed(ctx)
	if err != nil {
		return err
	}
	p.trail.see(all...)
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(n node.Placed) bool { return n.Rack != all[0].Rack })
		if n < 0 {
			n = len(all)
		}
		in := all[:n]
		all = all[n:]
		if in[0].Rack == "" {
			continue
		}
		view.Racks++
		if rackHas(in[0].Rack, q) {
			view.Cards = append(view.Cards, card(in))
		}
	}
	slices.SortFunc(view.Cards, func(a, b templates.RackCard) int { return natural(a.Name, b.Name) })
	view.Empty = view.Racks == 0
	view.Free, err = p.free(c, racksURL, "", q)
	if err != nil {
		return err
	}
	return render(c, fiber.StatusOK, templates.RacksPage(view))
}

// rackHas tells whether a search for racks finds one.
func rackHas(rack, search string) bool {
	return strings.Contains(strings.ToLower(rack), strings.ToLower(search))
}

// card is one rack among all; it has at least one node.
func card(in []node.Placed) templates.RackCard {
	name, height := in[0].Rack, heightOf(in)
	c := templates.RackCard{ID: rackID(name), Name: clipped(name, longestRack), Href: rackURL(name), Nodes: len(in), Height: height, Groups: groupsOf(in)}
	units := taken(in, height)
	paths := map[string]string{}
	sum := 0
	for u := 1; u <= height; u++ {
		from := u
		for u < height && units[u+1] == units[from] {
			u++
		}
		if group := units[from]; group != "" {
			c.Used += u - from + 1
			paths[group] += "M0 " + strconv.Itoa(height-u) + "h26v" + strconv.Itoa(u-from+1) + "h-26z"
		}
	}
	for _, n := range in {
		if !n.InRack() {
			c.Loose++
			continue
		}
		sum += n.Units
	}
	c.Shared = sum > c.Used
	for _, group := range templates.Groups() {
		if d := paths[group]; d != "" {
			c.Paths = append(c.Paths, templates.RackPath{Look: groupLook(group), D: d})
		}
	}
	return c
}

// groupsOf counts nodes by group of states, those that need a person first; groups without nodes are left out.
func groupsOf(in []node.Placed) []templates.GroupCount {
	counts := map[string]int{}
	for _, n := range in {
		counts[templates.Group(n.State)]++
	}
	var out []templates.GroupCount
	for _, group := range templates.Groups() {
		if counts[group] > 0 {
			look := groupLook(group)
			out = append(out, templates.GroupCount{Group: group, Look: look, Icon: templates.Icon(look), Count: counts[group]})
		}
	}
	return out
}

// groupLook is the colour of a group as a whole.
func groupLook(group string) string {
	switch group {
	case templates.GroupNew:
		return "idle"
	case templates.GroupReady, templates.GroupUsed:
		return "good"
	}
	return group
}

// free lists nodes in no rack beside the page at an address; rack is where their form shall suggest to place them, keep the
// page's own search.
func (p *Pages) free(c *fiber.Ctx, action, rack, keep string) (templates.FreeNodes, error) {
	search := cut(c.Query("free"), 200)
	view := templates.FreeNodes{Search: search, Action: action, Keep: keep, CanAct: mayAct(c)}
	found, total, err := p.o.Store.InNoRack(c.UserContext(), search, freeShown)
	if err != nil {
		return view, err
	}
	view.Total = total
	for _, n := range found {
		look := templates.Look(n.ProvisionState)
		view.Nodes = append(view.Nodes, templates.FreeNode{
			UUID: n.UUID, Name: n.Label(), Href: nodeURL(n.Label()), State: templates.State{Name: string(n.ProvisionState), Look: look, Icon: templates.Icon(look)},
			Hints: strings.TrimSpace(n.Driver + " " + bmcAddress(n)), Place: placeURL(n, rack),
		})
	}
	return view, nil
}

// placeURL is the address of the form that places a node: opened from a rack's page, which it suggests, or "" from that of
// all racks.
func placeURL(n node.Node, rack string) string {
	q := url.Values{"back": {"racks"}}
	if rack != "" {
		q = url.Values{"back": {"rack"}, "from": {rack}}
	}
	return nodeURL(n.UUID) + "/place?" + q.Encode()
}
