package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// rackShown is how many nodes a rack's page shows; racks have fewer, unless somebody calls a hall a rack.
const rackShown = 200

// rackName is the rack that the address names.
func rackName(c *fiber.Ctx) (string, error) {
	name, err := url.PathUnescape(c.Params("rack"))
	if given := c.Query("name"); given != "" {
		name = given
	}
	if err != nil || name == "" {
		return "", fiber.NewError(fiber.StatusNotFound, templates.T(c.UserContext(), "address.rack"))
	}
	return name, nil
}

// rack is the page of one rack: ?q= shades what a search does not find.
func (p *Pages) rack(c *fiber.Ctx) error {
	name, err := rackName(c)
	if err != nil {
		return err
	}
	ctx, q, href := c.UserContext(), cut(c.Query("q"), 200), rackURL(name)
	title := templates.T(ctx, "racks.one") + " " + clipped(name, longestRack)
	frame := p.frame(c, title, "/ui/events?"+url.Values{"view": {"rack"}, "rack": {name}}.Encode())
	in, err := p.o.Store.PlacedIn(ctx, name)
	if err != nil {
		return err
	}
	nodes, err := p.o.Store.InRack(ctx, name, "", rackShown)
	if err != nil {
		return err
	}
	height := heightOf(in)
	view := templates.Rack{
		Frame: frame, Name: name, Href: href, Search: q, Nodes: len(in), Height: height, Groups: groupsOf(in), Units: unitLines(height),
		Hidden: len(in) - len(nodes), List: with("/ui", url.Values{"rack": {name}}), CanAct: mayAct(c),
	}
	for _, group := range taken(in, height) {
		if group != "" {
			view.Used++
		}
	}
	found, err := p.foundIn(ctx, name, q)
	if err != nil {
		return err
	}
	view.Found = len(found)
	rows, err := p.rowsOf(ctx, nodes)
	if err != nil {
		return err
	}
	picture := elevationOf(in)
	for _, n := range nodes {
		row, ok := rows[n.UUID]
		if !ok { // it was deleted in between
			continue
		}
		r := rackNode(ctx, n, row, picture, view.CanAct)
		r.Shaded = q != "" && !found[n.UUID]
		if r.Drawn == nil {
			view.Loose = append(view.Loose, r)
		} else {
			view.Placed = append(view.Placed, r)
		}
	}
	if view.Free, err = p.free(c, href, name, q); err != nil {
		return err
	}
	return render(c, fiber.StatusOK, templates.RackPage(view))
}

// foundIn are the nodes of a rack that a search finds; nothing is searched for "".
func (p *Pages) foundIn(ctx context.Context, rack, search string) (map[string]bool, error) {
	out := map[string]bool{}
	if search == "" {
		return out, nil
	}
	nodes, err := p.o.Store.InRack(ctx, rack, search, rackShown)
	for _, n := range nodes {
		out[n.UUID] = true
	}
	return out, err
}

// picture is what the nodes of a rack have to do with each other.
type picture struct {
	in     []node.Placed
	lanes  map[string]lane
	height int
}

func elevationOf(in []node.Placed) picture { return picture{in, lanes(in), heightOf(in)} }

// rowsOf are the rows of nodes by UUID, as the list of nodes has them.
func (p *Pages) rowsOf(ctx context.Context, nodes []node.Node) (map[string]templates.Row, error) {
	uuids := []string{}
	for _, n := range nodes {
		uuids = append(uuids, n.UUID)
	}
	found, err := p.o.Store.Summaries(ctx, node.List{Filter: node.Filter{UUIDs: uuids, IncludeChildren: true}, Order: node.ByName, Limit: rackShown})
	out := map[string]templates.Row{}
	for _, n := range found.All {
		out[n.UUID] = p.rowOf(ctx, n, found, false)
	}
	return out, err
}

// rackNode is a node as its rack's page shows it.
func rackNode(ctx context.Context, n node.Node, row templates.Row, in picture, act bool) templates.RackNode {
	l := n.Location()
	if act {
		for _, v := range templates.RowVerbs(n.ProvisionState) {
			row.Actions = append(row.Actions, verbAction(ctx, n, v, "rack"))
		}
	}
	r := templates.RackNode{Row: row, At: "at-" + n.UUID + "-none"}
	if act {
		r.Move = placeURL(n, l.Rack)
	}
	at, ok := in.lanes[n.UUID]
	if !ok {
		r.Why = whyLoose(ctx, n)
		return r
	}
	r.Unit = unitWords(ctx, l)
	r.At = fmt.Sprintf("at-%s-%d-%d-%d-%d-%d", n.UUID, l.Unit, l.Units, at.at, at.of, in.height)
	if others := sharers(in.in, n); len(others) > 0 {
		for i := range others {
			others[i] = clipped(others[i], 40)
		}
		r.Shares = clipped(strings.Join(others, ", "), 200)
	}
	drawn := server(l, at, in.height)
	describe(ctx, &drawn, n, r)
	r.Drawn = &drawn
	return r
}

// describe writes on a server what is known of it.
func describe(ctx context.Context, s *templates.RackServer, n node.Node, r templates.RackNode) {
	said := []string{n.Label(), r.Unit, string(n.ProvisionState)}
	mark := func(icon, look, words string) {
		said = append(said, words)
		s.Marks = append(s.Marks, templates.RackMark{Icon: icon, Look: look, X: s.Width - 8 - markWidth*len(s.Marks)})
	}
	said = append(said, templates.T(ctx, "racks.power", templates.PowerText(ctx, n.PowerState)))
	s.Off = n.PowerState == node.PowerOff
	if n.Maintenance {
		mark("‖", "held", templates.T(ctx, "racks.maintenance"))
	}
	if !n.BMCUnreachableSince.IsZero() {
		mark("⊘", "failed", templates.T(ctx, "racks.silent"))
	}
	if n.Health == node.HealthWarning || n.Health == node.HealthCritical {
		look, icon := templates.HealthLook(n.Health)
		mark(icon, look, templates.T(ctx, "racks.health", string(n.Health)))
	}
	if r.Shares != "" {
		mark("⚠", "waiting", templates.T(ctx, "racks.shares", r.Shares))
	}
	s.Title = printable(strings.Join(said, " · "))
	s.Name = clipped(n.Label(), (s.Width-nameLeft-markWidth*len(s.Marks)-8)/charWidth)
}

func unitWords(ctx context.Context, l node.Location) string {
	if l.Units == 1 {
		return templates.T(ctx, "racks.unit", l.Unit)
	}
	return templates.T(ctx, "racks.units", l.Unit, l.Top())
}

// whyLoose says why a node cannot be drawn in its rack.
func whyLoose(ctx context.Context, n node.Node) string {
	given, has := n.Extra["rack_unit"]
	if l := n.Location(); l.Unit > 0 {
		return templates.T(ctx, "racks.beyond", l.Top())
	}
	if !has || given == nil || given == "" {
		return templates.T(ctx, "racks.nounit")
	}
	var text strings.Builder
	as := json.NewEncoder(&text)
	as.SetEscapeHTML(false) // it is shown as text
	if err := as.Encode(given); err != nil {
		text.WriteString("?")
	}
	return templates.T(ctx, "racks.oddunit", clipped(strings.TrimSpace(text.String()), 40))
}
