package ui

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/live"
)

// Placer changes nodes as PATCH does.
type Placer interface {
	PatchNode(ctx context.Context, actor node.Actor, ident string, minor int, change func(node.Node) (node.Node, error)) (node.Node, error)
}

// rackNameLimit is how long a rack's name may be that is typed, in characters.
const rackNameLimit = 100

// placeForm is the form that gives a node a place: ?back= and ?from= are where it was opened.
func (p *Pages) placeForm(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	form := placeOf(n, c.Query("back"), c.Query("from"))
	if form.Rack == "" {
		form.Rack = form.From
	}
	return p.showPlace(c, fiber.StatusOK, form)
}

// placeOf is the form as it is for the node's own place.
func placeOf(n node.Node, back, from string) templates.Place {
	l := n.Location()
	f := templates.Place{
		Name: n.Label(), Post: nodeURL(n.UUID) + "/place", Now: place(n), Seen: seenPlace(n), Rack: l.Rack, Units: strconv.Itoa(l.Units),
		Back: back, From: from, Away: placeAway(n, back, from), Tallest: node.TallestRack,
	}
	if l.Unit > 0 {
		f.Unit = strconv.Itoa(l.Unit)
	}
	return f
}

// seenPlace is a place in the form of a node: who moves it decided by that.
func seenPlace(n node.Node) string {
	l := n.Location()
	return strconv.Itoa(l.Unit) + "+" + strconv.Itoa(l.Units) + " " + l.Rack
}

// placeAway is the address that leads back to where the form was opened.
func placeAway(n node.Node, back, from string) string {
	switch {
	case back == "racks":
		return racksURL
	case back == "rack" && rackURL(from) != "" && from != "":
		return rackURL(from)
	}
	return nodeURL(n.Label())
}

func (p *Pages) showPlace(c *fiber.Ctx, status int, f templates.Place) error {
	ctx := c.UserContext()
	f.Frame = p.frame(c, templates.T(ctx, "place.title", f.Name), "")
	all, err := p.o.Store.Placed(ctx)
	if err != nil {
		return err
	}
	for _, n := range all { // ordered by rack
		if n.Rack != "" && len([]rune(n.Rack)) <= rackNameLimit && (len(f.Racks) == 0 || f.Racks[len(f.Racks)-1] != n.Rack) {
			f.Racks = append(f.Racks, n.Rack)
		}
	}
	slices.SortFunc(f.Racks, natural)
	if f.Rack != "" {
		in, err := p.o.Store.PlacedIn(ctx, f.Rack)
		if err != nil {
			return err
		}
		f.FreeIn, f.Free = f.Rack, freeUnits(in, heightOf(in))
		if f.Free == "" {
			f.Free = templates.T(ctx, "place.free.none")
		}
	}
	if scripted(c) {
		return render(c, status, templates.PlaceDialog(f))
	}
	return render(c, status, templates.PlacePage(f))
}

// place carries the form out, as a PATCH of `extra` does. What cannot be read shows the form again as it was typed.
func (p *Pages) place(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx, key := c.UserContext(), "unplaced"
	var to node.Location
	if c.FormValue("do") != "remove" {
		var wrong string
		if to, wrong = typedPlace(ctx, c); wrong != "" {
			form := placeOf(n, c.FormValue("back"), c.FormValue("from"))
			form.Rack, form.Unit, form.Units, form.Failed = cut(c.FormValue("rack"), rackNameLimit), cut(c.FormValue("unit"), 20), cut(c.FormValue("units"), 20), wrong
			return p.showPlace(c, fiber.StatusBadRequest, form)
		}
		key = "placed"
	}
	seen := c.FormValue("seen")
	n, err = p.o.Conductor.PatchNode(ctx, web.Actor(c, node.SourceUI), n.UUID, 0, func(n node.Node) (node.Node, error) {
		if seen != seenPlace(n) {
			return n, &node.Conflict{Text: movedMeanwhile(ctx, n)}
		}
		n.Extra = placedExtra(n.Extra, to)
		return n, nil
	})
	if err != nil {
		if now, readErr := p.named(c); readErr == nil {
			n = now
		}
		return p.refused(c, n, templates.T(ctx, "place.what"), "", "", err)
	}
	if to.InRack() {
		in, err := p.o.Store.PlacedIn(ctx, to.Rack)
		if err != nil {
			return err
		}
		if len(sharers(in, n)) > 0 {
			key = "placed-shared"
		}
	}
	return p.placeDone(c, n, key)
}

// typedPlace reads the form; wrong is a sentence for what cannot be taken.
func typedPlace(ctx context.Context, c *fiber.Ctx) (to node.Location, wrong string) {
	to.Rack = strings.TrimSpace(c.FormValue("rack"))
	if r := []rune(to.Rack); len(r) == 0 || len(r) > rackNameLimit || printable(to.Rack) != to.Rack {
		return to, templates.T(ctx, "place.bad.rack")
	}
	number := func(name string) (int, bool) {
		n, err := strconv.Atoi(strings.TrimSpace(c.FormValue(name)))
		return n, err == nil && n >= 1 && n <= node.TallestRack
	}
	ok := false
	if to.Units, ok = number("units"); !ok {
		return to, templates.T(ctx, "place.bad.units", node.TallestRack)
	}
	if to.Unit, ok = number("unit"); !ok {
		if strings.TrimSpace(c.FormValue("unit")) != "" {
			return to, templates.T(ctx, "place.bad.unit", node.TallestRack)
		}
		to.Unit = 0
	}
	if to.Top() > node.TallestRack {
		return to, templates.T(ctx, "place.bad.top", to.Units, to.Unit, node.TallestRack)
	}
	return to, ""
}

// placedExtra is a node's extra with another place; the zero value takes it out of its rack. Everything else stays.
func placedExtra(extra map[string]any, to node.Location) map[string]any {
	out := map[string]any{}
	maps.Copy(out, extra)
	delete(out, "rack")
	delete(out, "rack_unit")
	if to.Rack == "" {
		return out
	}
	out["rack"] = to.Rack
	if to.Unit > 0 {
		out["rack_unit"] = to.Unit
	}
	delete(out, "rack_units")
	if to.Units != 1 {
		out["rack_units"] = to.Units
	}
	return out
}

func movedMeanwhile(ctx context.Context, n node.Node) string {
	if now := place(n); now != "" {
		return templates.T(ctx, "place.moved", now)
	}
	return templates.T(ctx, "place.moved.nowhere")
}

// placeDone answers a node that has another place with what is true now.
func (p *Pages) placeDone(c *fiber.Ctx, n node.Node, key string) error {
	back, from := c.FormValue("back"), c.FormValue("from")
	if !scripted(c) {
		return c.Redirect(with(placeAway(n, back, from), map[string][]string{"done": {key}}), fiber.StatusSeeOther)
	}
	v := live.View{Node: n.UUID, Act: true}
	switch back {
	case "rack":
		v = live.View{Rack: from, Act: true}
	case "racks":
		v = live.View{Racks: true}
	}
	changed, err := p.changed(c.UserContext(), v, n.UUID)
	if err != nil {
		return err
	}
	return render(c, fiber.StatusOK, append(changed, templates.Said(n.Label()+": "+templates.Done(c.UserContext(), key)))...)
}
