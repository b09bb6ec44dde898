package alone_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func withNode(w *world, number int, change func(*node.Node)) {
	n := node.Node{UUID: uuid(number), Name: fmt.Sprint("n", number), Driver: "redfish", ProvisionState: node.Manageable, Properties: map[string]any{"cpus": 4}, DriverInfo: map[string]any{}, Extra: map[string]any{}}
	n.Interfaces.Inspect, n.Interfaces.Power = "inspector", "redfish"
	if change != nil {
		change(&n)
	}
	w.remote[n.UUID] = n
	w.remotePorts = append(w.remotePorts, node.Port{UUID: uuid(100 + number), NodeUUID: n.UUID, Address: fmt.Sprintf("02:00:5E:00:00:%02d", number), Name: "eth0"})
}

func kind(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%T %s", err, err)
}

var no, yes = false, true

func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		ident      string
		manageBoot *bool
		change     func(*node.Node)
		noPorts    bool
		want       string
		asked      []string
	}{
		"the server is booted by Ironic":    {"n1", &no, nil, false, "", []string{"copy-inspect " + uuid(1)}},
		"Ironic is asked to boot it":        {"n1", &yes, nil, false, "", []string{"inspect " + uuid(1)}},
		"Ironic is asked where nobody said": {"n1", nil, nil, false, "", []string{"inspect " + uuid(1)}},
		"a node that nobody knows":          {"nobody", &no, nil, false, "*node.NotFound Node nobody was not found in Ironic", nil},
		"a node that is inspected otherwise": {"n1", nil, func(n *node.Node) { n.Interfaces.Inspect = "agent" }, false,
			"*node.Invalid Node " + uuid(1) + " has the inspect interface agent; only where it is inspector does its inspection lead here.", nil},
		"a node in use": {"n1", &no, func(n *node.Node) { n.ProvisionState = node.Active }, false, `*node.Invalid Invalid provision state for introspection: "active", valid states are ["enroll" "manageable" "inspecting" "inspect wait" "inspect failed"]`, nil},
		"a node that no report could find": {"n1", &no, nil, true,
			"*node.Invalid No lookup attributes were found, inspector won't be able to find it after introspection, consider creating ironic ports or providing an IPMI address", nil},
		"a node with nothing but a BMC": {"n1", &no, func(n *node.Node) { n.DriverInfo = map[string]any{"redfish_address": "https://192.0.2.7"} }, true, "", []string{"copy-inspect " + uuid(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			withNode(w, 1, c.change)
			if c.noPorts {
				w.remotePorts = nil
			}
			if got := kind(w.inspector().Start(t.Context(), node.Actor{}, c.ident, c.manageBoot)); got != c.want {
				t.Errorf("got %q", got)
			}
			if diff := cmp.Diff(c.asked, w.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACopyIsWhatTheNodeIs(t *testing.T) {
	w := newWorld()
	withNode(w, 1, nil)
	withNode(w, 2, nil)
	i := w.inspector()
	start := func(number int) {
		t.Helper()
		if err := i.Start(t.Context(), node.Actor{}, uuid(number), &no); err != nil {
			t.Fatal(err)
		}
	}
	start(1)
	start(2)
	got := w.copies[uuid(1)]
	if got.Name != "n1" || got.Driver != "redfish" || got.Properties["cpus"] != 4 || got.Interfaces != (node.Interfaces{Inspect: "inspector"}) {
		t.Errorf("the copy is %+v", got)
	}
	// The MAC has gone to the other node, whose properties have changed, too.
	w.remotePorts[0].NodeUUID = uuid(2)
	n := w.remote[uuid(2)]
	n.Properties = map[string]any{"cpus": 8}
	w.remote[uuid(2)] = n
	start(2)
	if got := w.copies[uuid(2)]; got.Properties["cpus"] != 8 || got.ProvisionState != node.InspectWait {
		t.Errorf("the copy is %+v", got)
	}
	var all []string
	for _, p := range w.ports {
		all = append(all, p.NodeUUID+" "+p.Address)
	}
	slices.Sort(all)
	if diff := cmp.Diff([]string{uuid(2) + " 02:00:5e:00:00:01", uuid(2) + " 02:00:5e:00:00:02"}, all); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	// The second start found a run that waited: Ironic has begun anew.
	if diff := cmp.Diff([]string{"copy-inspect " + uuid(1), "copy-inspect " + uuid(2), "copy-abort " + uuid(2) + " attempt", "copy-inspect " + uuid(2)}, w.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// A node was deleted, and another has got its name.
func TestANameThatHasMovedOn(t *testing.T) {
	w := newWorld()
	w.copies[uuid(9)] = node.Node{UUID: uuid(9), Name: "n1"}
	withNode(w, 1, nil)
	if err := w.inspector().Start(t.Context(), node.Actor{}, "n1", &no); err != nil {
		t.Fatal(err)
	}
	if w.copies[uuid(9)].Name != "" || w.copies[uuid(1)].Name != "n1" {
		t.Errorf("the copies are %+v", w.copies)
	}
}

// Somebody had mixed up two servers: both are there, and each has the other's name now.
func TestTwoNodesThatHaveExchangedTheirNames(t *testing.T) {
	w := newWorld()
	i := w.inspector()
	for _, names := range [][2]string{{"n1", "n2"}, {"n2", "n1"}} {
		for k, name := range names {
			withNode(w, k+1, func(n *node.Node) { n.Name = name })
		}
		for k := range names {
			if err := i.Start(t.Context(), node.Actor{}, uuid(k+1), &no); err != nil {
				t.Fatal(err)
			}
		}
		if w.copies[uuid(1)].Name != names[0] || w.copies[uuid(2)].Name != names[1] {
			t.Errorf("the copies are %+v", w.copies)
		}
	}
}

func TestACopyAtWorkIsLeftAlone(t *testing.T) {
	w := newWorld()
	withNode(w, 1, nil)
	w.copies[uuid(1)] = node.Node{UUID: uuid(1), ProvisionState: node.Inspecting, Reservation: "host", ReservationID: "worker"}
	if got := kind(w.inspector().Start(t.Context(), node.Actor{}, "n1", &no)); !strings.Contains(got, "locked") {
		t.Errorf("got %q", got)
	}
	if len(w.asked) != 0 {
		t.Errorf("asked %v", w.asked)
	}
}
