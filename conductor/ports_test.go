package conductor_test

import (
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// portOf gives a node a port.
func (w *world) portOf(n node.Node) node.Port {
	w.t.Helper()
	p, err := w.CreatePort(w.t.Context(), operator, node.Port{NodeUUID: n.UUID, Address: mac, PXEEnabled: true})
	w.must(err)
	return p
}

func relabel(p node.Port) (node.Port, error) {
	p.Extra = map[string]any{"cable": "blue"}
	return p, nil
}

// contract.md §2.4: a lock that lasts no longer than LockPatience is waited for, and a longer one is a 409.
func TestPortsWaitForTheirNode(t *testing.T) {
	for name, do := range map[string]func(w *world, n, other node.Node, p node.Port) error{
		"create": func(w *world, n, _ node.Node, _ node.Port) error {
			_, err := w.CreatePort(t.Context(), operator, node.Port{NodeUUID: n.UUID, Address: "02:00:5e:00:00:02"})
			return err
		},
		"patch": func(w *world, _, _ node.Node, p node.Port) error {
			_, err := w.PatchPort(t.Context(), operator, p.UUID, relabel)
			return err
		},
		"give away": func(w *world, _, other node.Node, p node.Port) error {
			_, err := w.PatchPort(t.Context(), operator, p.UUID, func(p node.Port) (node.Port, error) {
				p.NodeUUID = other.UUID
				return p, nil
			})
			return err
		},
		"delete": func(w *world, _, _ node.Node, p node.Port) error { return w.DeletePort(t.Context(), operator, p.UUID) },
	} {
		for _, locked := range []string{"its node", "the node that gets it"} {
			if locked == "the node that gets it" && name != "give away" {
				continue
			}
			t.Run(name+" while "+locked+" is held", func(t *testing.T) {
				w := newWorld(t, conductor.Settings{})
				n, other := w.enrolled(node.Manageable, "agent"), w.enrolled(node.Manageable, "agent")
				p := w.portOf(n)
				held := n
				if locked != "its node" {
					held = other
				}
				w.held(held)
				began := w.clock.Now()
				refusedAs[*node.Locked](t, "for ever", do(w, n, other, p), "Node "+held.UUID+" is locked by host rack-9, please retry after the current operation is completed.")
				if took := w.clock.Now().Sub(began); took < w.LockPatience {
					t.Errorf("refused after %s, not %s", took, w.LockPatience)
				}

				w.clock.hurries = false
				answer := make(chan error, 1)
				go func() { answer <- do(w, n, other, p) }()
				w.clock.untilWaiting(1)
				_, err := w.store.Move(t.Context(), node.Move{Node: held.UUID, From: node.Manageable, Held: "somebody", At: w.clock.Now()})
				w.must(err)
				w.clock.advance(w.LockPatience / 2)
				w.must(<-answer)
			})
		}
	}
}

// A change that was decided on a port as it is no more is decided again.
func TestAPatchThatWasNotFirstIsMadeAgain(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	p := w.portOf(w.enrolled(node.Manageable, "agent"))
	calls := 0
	after, err := w.PatchPort(t.Context(), operator, p.UUID, func(p node.Port) (node.Port, error) {
		if calls++; calls == 1 {
			_, err := w.PatchPort(t.Context(), operator, p.UUID, relabel)
			w.must(err)
		}
		p.Name = "left"
		return p, nil
	})
	w.must(err)
	if calls != 2 || after.Name != "left" || after.Extra["cable"] != "blue" {
		t.Errorf("after %d calls: %+v", calls, after)
	}
}
