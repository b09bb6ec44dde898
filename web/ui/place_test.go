package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

// placing is the form of a node as a page carries it.
func (s *site) placing(n node.Node, rack, unit, units string) url.Values {
	form := url.Values{"rack": {rack}, "unit": {unit}, "units": {units}}
	_, rest, _ := strings.Cut(s.get("/ui/nodes/"+n.UUID+"/place").body, `name="seen" value="`)
	seen, _, _ := strings.Cut(rest, `"`)
	form.Set("seen", seen)
	return form
}

func TestANodeIsPlacedByAForm(t *testing.T) {
	r := newRack()
	r.add("there", node.Manageable, in("R07", 3, 2))
	n := r.add("one", node.Manageable, func(n *node.Node) { n.Extra = map[string]any{"asset": "4711", "rack_units": "2"} })
	s := serve(t, r, 0)
	s.get("/ui/racks/R07").has(t, `/place?back=rack&amp;from=R07`)
	page := s.get("/ui/nodes/" + n.UUID + "/place?back=rack&from=R07")
	page.has(t, "It stands in no rack so far.", `name="rack" value="R07"`, `name="units" value="2"`, "Free in R07: 1–2, 5–42", `<option value="R07">`, `href="/ui/racks/R07"`)

	form := s.placing(n, "R07", "21", "2")
	form.Set("back", "rack")
	form.Set("from", "R07")
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/place", form); a.status != http.StatusSeeOther || a.location != "/ui/racks/R07?done=placed" {
		t.Errorf("got %d, %s", a.status, a.location)
	}
	want := map[string]any{"asset": "4711", "rack": "R07", "rack_unit": 21, "rack_units": 2}
	if d := cmp.Diff(want, r.nodes[1].Extra); d != "" {
		t.Error(d)
	}
	if len(r.actors) != 1 || r.actors[0].User != "jon" || r.actors[0].Source != node.SourceUI {
		t.Errorf("it was done by %v", r.actors)
	}
	s.get("/ui/racks/R07?done=placed").has(t, "It stands there from now on.", `id="u-`+n.UUID)

	t.Log("a unit that is taken warns, and blocks nothing")
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/place", s.placing(r.nodes[1], "R07", "4", "1")); !strings.HasSuffix(a.location, "/ui/nodes/one?done=placed-shared") {
		t.Errorf("it leads to %s", a.location)
	}
	if d := cmp.Diff(map[string]any{"asset": "4711", "rack": "R07", "rack_unit": 4}, r.nodes[1].Extra); d != "" {
		t.Error(d)
	}

	t.Log("it can be in a rack without a unit, and be taken out")
	s.do("POST", "/ui/nodes/"+n.UUID+"/place", s.placing(r.nodes[1], "R08", "", "3"))
	if d := cmp.Diff(map[string]any{"asset": "4711", "rack": "R08", "rack_units": 3}, r.nodes[1].Extra); d != "" {
		t.Error(d)
	}
	form = s.placing(r.nodes[1], "", "", "")
	form.Set("do", "remove")
	form.Set("back", "racks")
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/place", form); a.location != "/ui/racks?done=unplaced" {
		t.Errorf("it leads to %s", a.location)
	}
	if d := cmp.Diff(map[string]any{"asset": "4711", "rack_units": 3}, r.nodes[1].Extra); d != "" {
		t.Error(d)
	}
}

func TestAPlaceThatCannotBeIsRefusedInWordsAndKeptAsTyped(t *testing.T) {
	r := newRack()
	n := r.add("one", node.Manageable, in("R1", 5, 1))
	s := serve(t, r, 0)
	for name, c := range map[string]struct{ rack, unit, units, says string }{
		"no rack":              {" ", "1", "1", "Name a rack"},
		"a long rack":          {strings.Repeat("x", 101), "1", "1", "Name a rack"},
		"a rack with a NUL":    {"R\x001", "1", "1", "Name a rack"},
		"a unit that is none":  {"R2", "top", "1", "whole number from 1 to 100"},
		"unit zero":            {"R2", "0", "1", "whole number from 1 to 100"},
		"a unit below":         {"R2", "-1", "1", "whole number from 1 to 100"},
		"a unit above":         {"R2", "101", "1", "whole number from 1 to 100"},
		"no height":            {"R2", "1", "", "The height is"},
		"a height of nothing":  {"R2", "1", "0", "The height is"},
		"an end above the top": {"R2", "99", "3", "would end above U100"},
		"overflow":             {"R2", "99999999999999999999", "1", "whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			form := s.placing(n, c.rack, c.unit, c.units)
			a := s.do("POST", "/ui/nodes/one/place", form)
			if a.status != http.StatusBadRequest || !strings.Contains(a.body, "<html") {
				t.Errorf("got %d", a.status)
			}
			a.has(t, c.says, "Nothing was changed.", `role="alert"`)
			if c.unit == "top" {
				a.has(t, `value="top"`, `value="R2"`)
			}
			dialog := s.do("POST", "/ui/nodes/one/place", form, script)
			dialog.has(t, c.says)
			dialog.lacks(t, "<html")
		})
	}
	if d := cmp.Diff(n.Extra, r.nodes[0].Extra); d != "" || len(r.actors) != 0 {
		t.Errorf("it was changed: %s, %v", d, r.actors)
	}
}

// A stale form moves nothing, and whatever refuses is told in words.
func TestAMoveThatIsRefusedSaysWhy(t *testing.T) {
	r := newRack()
	n := r.add("one", node.Manageable, in("R1", 5, 1))
	s := serve(t, r, 0)
	form := s.placing(n, "R2", "7", "1")
	r.edit(func() { r.nodes[0].Extra = map[string]any{"rack": "R3", "rack_unit": 8} })
	a := s.do("POST", "/ui/nodes/one/place", form, script)
	if a.status != http.StatusConflict {
		t.Errorf("got %d", a.status)
	}
	a.has(t, "Somebody was faster: it stands in R3 · U8 by now.", "Place: not done")
	for want, refuse := range map[string]error{
		"conductor-7":          &node.Locked{Node: n.UUID, Holder: "conductor-7"},
		"while it is in state": &node.Conflict{Text: `Cannot update node "x" while it is in state "inspecting".`},
	} {
		r.edit(func() { r.refuse = refuse })
		a := s.do("POST", "/ui/nodes/one/place", s.placing(n, "R2", "7", "1"))
		if a.status != http.StatusConflict {
			t.Errorf("%v: %d", refuse, a.status)
		}
		a.has(t, want)
	}
	if d := cmp.Diff(map[string]any{"rack": "R3", "rack_unit": 8}, r.nodes[0].Extra); d != "" {
		t.Error(d)
	}
	if a := s.do("POST", "/ui/nodes/nobody/place", form); a.status != http.StatusNotFound {
		t.Errorf("a node that is none: %d", a.status)
	}
}

func TestTheScriptGetsWhatAMoveChanges(t *testing.T) {
	r := newRack()
	n := r.add("one", node.Manageable, func(n *node.Node) { n.Extra = nil })
	s := serve(t, r, 0)
	form := s.placing(n, "R1", "7", "1")
	form.Set("back", "rack")
	form.Set("from", "R1")
	s.do("POST", "/ui/nodes/one/place", form, script).has(t, `data-said="one: It stands there from now on."`, `data-refetch-unless="at-`+n.UUID+`-7-1-0-1-42"`, `<svg id="u-`+n.UUID)
	form = s.placing(n, "R2", "8", "1")
	form.Set("back", "racks")
	s.do("POST", "/ui/nodes/one/place", form, script).has(t, "<bdi>R2</bdi>", `data-refetch-if="free-`+n.UUID)
	s.get("/ui/nodes/one/place", script).lacks(t, "<html")
}
