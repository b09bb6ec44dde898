package store_test

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
	"cagenut/store"
)

// at gives a node a name and a place.
func at(name string, extra map[string]any) func(*node.Node) {
	return func(n *node.Node) { n.Name, n.Extra = name, extra }
}

func names(nodes []node.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return out
}

func TestRacksAreWhatNodesSayOfTheirPlace(t *testing.T) {
	r := newRig(t)
	low := r.add(t, node.Manageable, at("low", map[string]any{"rack": "R1", "rack_unit": 1}))
	high := r.add(t, node.InspectFailed, at("high", map[string]any{"rack": "R1", "rack_unit": "40", "rack_units": 2.0}))
	loose := r.add(t, node.Enroll, at("loose", map[string]any{"rack": "R1", "rack_unit": -1}))
	seven := r.add(t, node.Enroll, at("seven", map[string]any{"rack": 7, "rack_unit": 3}))
	free := r.add(t, node.Enroll, at("free", map[string]any{"rack": []any{"R1"}}))
	r.add(t, node.Enroll, func(n *node.Node) { n.Name, n.ParentNode, n.Extra = "child", low.UUID, map[string]any{} })

	all := must(r.Placed(t.Context()))(t)
	if len(all) != 6 || !slices.IsSortedFunc(all, func(a, b node.Placed) int {
		return cmpPlaces(a.Location, b.Location)
	}) {
		t.Errorf("all are %+v", all)
	}
	want := []node.Placed{
		{UUID: loose.UUID, Name: "loose", Location: node.Location{Rack: "R1", Units: 1}, State: node.Enroll},
		{UUID: low.UUID, Name: "low", Location: node.Location{Rack: "R1", Unit: 1, Units: 1}, State: node.Manageable},
		{UUID: high.UUID, Name: "high", Location: node.Location{Rack: "R1", Unit: 40, Units: 2}, State: node.InspectFailed},
	}
	if d := cmp.Diff(want, must(r.PlacedIn(t.Context(), "R1"))(t)); d != "" {
		t.Error(d)
	}
	if in := must(r.PlacedIn(t.Context(), "7"))(t); len(in) != 1 || in[0].UUID != seven.UUID {
		t.Errorf("in rack 7 are %+v", in)
	}
	if got := names(must(r.InRack(t.Context(), "R1", "", 9))(t)); !slices.Equal(got, []string{"high", "low", "loose"}) {
		t.Errorf("from the top: %v", got)
	}
	if got := names(must(r.InRack(t.Context(), "R1", "o", 1))(t)); !slices.Equal(got, []string{"low"}) {
		t.Errorf("found: %v", got)
	}
	found, total, err := r.InNoRack(t.Context(), "", 1)
	if err != nil || total != 2 || !slices.Equal(names(found), []string{"child"}) {
		t.Errorf("in no rack: %v of %d, %v", names(found), total, err)
	}
	if found, total, err = r.InNoRack(t.Context(), "fre", 9); err != nil || total != 1 || found[0].UUID != free.UUID {
		t.Errorf("searched for: %v of %d, %v", names(found), total, err)
	}
}

func cmpPlaces(a, b node.Location) int {
	if a.Rack != b.Rack {
		return map[bool]int{true: -1, false: 1}[a.Rack < b.Rack]
	}
	return a.Unit - b.Unit
}

func TestAMoveIsSeenInBothRacks(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable, at("one", map[string]any{"rack": "R1", "rack_unit": 1, "rack_units": 4}))
	n.Extra = map[string]any{"rack": "R2", "rack_unit": 7}
	must(r.UpdateNode(t.Context(), n, node.Audit{}))(t)
	if in := must(r.PlacedIn(t.Context(), "R1"))(t); len(in) != 0 {
		t.Errorf("where it was: %+v", in)
	}
	in := must(r.PlacedIn(t.Context(), "R2"))(t)
	if len(in) != 1 || in[0].Location != (node.Location{Rack: "R2", Unit: 7, Units: 1}) {
		t.Errorf("where it is: %+v", in)
	}
}

func TestTheListOfAllRacksReadsTheIndexAlone(t *testing.T) {
	r := newRig(t)
	rows, err := r.Writer().Query("EXPLAIN QUERY PLAN SELECT uuid, rack, rack_unit, rack_units, provision_state FROM nodes ORDER BY rack, rack_unit")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil || !slices.Equal(plan, []string{"SCAN nodes USING COVERING INDEX nodes_place"}) {
		t.Errorf("the plan is %v, %v", plan, err)
	}
}

func BenchmarkAllRacksOf10000Nodes(b *testing.B) {
	folder := b.TempDir()
	seal, err := store.OpenSeal(filepath.Join(folder, "key"))
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), store.Options{Path: filepath.Join(folder, "cagenut.db"), Seal: seal, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	// As many documents as nodes have, so that reading a row would cost what it does.
	_, err = s.Writer().ExecContext(b.Context(), `WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM i WHERE n < 9999)
		INSERT INTO nodes (uuid, name, created_at, driver, interfaces, provision_state, properties, driver_info, driver_internal_info, instance_info, extra, documents, traits, rack, rack_unit)
		SELECT printf('00000000-0000-4000-8000-%012d', n), printf('n%05d', n), 1, 'redfish', '{}', 'manageable', doc, doc, doc, '{}', '{}', '{}', '[]', printf('R%03d', n/34), n%34+1
		FROM i, (SELECT json_object('filler', hex(zeroblob(500))) AS doc)`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if all, err := s.Placed(b.Context()); err != nil || len(all) != 10000 {
			b.Fatal(len(all), err)
		}
	}
}
