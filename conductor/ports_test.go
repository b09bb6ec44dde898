package conductor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

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
				waits := make(chan struct{})
				go func() {
					w.clock.untilWaiting(1)
					close(waits)
				}()
				select {
				case <-waits:
				case err := <-answer:
					w.clock.After(time.Hour) // lets the goroutine go
					t.Fatalf("it did not wait: %v", err)
				}
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

// Ironic's refusals by the node's state, for a network interface that does nothing.
func TestAServerInUseKeepsTheMACsAndConnectionsOfItsPorts(t *testing.T) {
	const (
		inUse      = "Cannot update hardware address for port PORT as node NODE is active or has instance UUID assigned"
		connected  = "Port PORT can not have any connectivity attributes (portgroup_id, pxe_enabled, local_link_connection, physical_network) updated unless node NODE is in a enroll, inspecting, inspect wait, manageable state or in maintenance mode. The current state is "
		inspecting = `Cannot update port "PORT" on "NODE" while it is in state "inspecting".`
	)
	for what, c := range map[string]struct {
		state   node.State
		node    func(*node.Node)
		change  func(*node.Port)
		refused string // "": taken
	}{
		"a new MAC on an active node":              {node.Active, nil, func(p *node.Port) { p.Address = "02:00:5e:00:00:02" }, inUse},
		"a new MAC on a node with an instance":     {node.Manageable, func(n *node.Node) { n.InstanceUUID = node.NewUUID() }, func(p *node.Port) { p.Address = "02:00:5e:00:00:02" }, inUse},
		"a new MAC on an active node being mended": {node.Active, func(n *node.Node) { n.Maintenance = true }, func(p *node.Port) { p.Address = "02:00:5e:00:00:02" }, ""},
		"a new MAC on an available node":           {node.Available, nil, func(p *node.Port) { p.Address = "02:00:5e:00:00:02" }, ""},
		"pxe_enabled on an active node":            {node.Active, nil, func(p *node.Port) { p.PXEEnabled = false }, connected + "active."},
		"physical_network after a failure":         {node.InspectFailed, nil, func(p *node.Port) { p.PhysicalNetwork = "inspection" }, connected + "inspect failed."},
		"local_link_connection, available":         {node.Available, nil, func(p *node.Port) { p.LocalLinkConnection = map[string]any{"port_id": "1"} }, connected + "available."},
		"pxe_enabled in maintenance":               {node.Active, func(n *node.Node) { n.Maintenance = true }, func(p *node.Port) { p.PXEEnabled = false }, ""},
		"pxe_enabled in enroll":                    {node.Enroll, nil, func(p *node.Port) { p.PXEEnabled = false }, ""},
		"pxe_enabled in inspect wait":              {node.InspectWait, nil, func(p *node.Port) { p.PXEEnabled = false }, ""},
		"an unchanged connection on an active one": {node.Active, nil, func(p *node.Port) { p.PXEEnabled, p.LocalLinkConnection = true, map[string]any{} }, ""},
		"extra on an active node":                  {node.Active, nil, func(p *node.Port) { p.Extra = map[string]any{"x": "y"} }, ""},
		"anything while inspecting":                {node.Inspecting, nil, func(p *node.Port) { p.Extra = map[string]any{"x": "y"} }, inspecting},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := node.Node{Driver: node.DriverFake, ProvisionState: c.state}
			if c.node != nil {
				c.node(&n)
			}
			n, err := w.CreateNode(t.Context(), operator, n)
			w.must(err)
			p := w.portOf(n)
			_, err = w.PatchPort(t.Context(), operator, p.UUID, func(p node.Port) (node.Port, error) {
				c.change(&p)
				return p, nil
			})
			if c.refused == "" {
				w.must(err)
				return
			}
			refusedAs[*node.Conflict](t, what, err, strings.NewReplacer("PORT", p.UUID, "NODE", n.UUID).Replace(c.refused))
		})
	}
}

// A port that is given to a server in use brings it no new connection.
func TestAPortIsGivenAsItIsToAServerInUse(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	free, used := w.enrolled(node.Manageable, "agent"), w.enrolled(node.Active, "agent")
	p := w.portOf(free)
	give := func(pxe bool) error {
		_, err := w.PatchPort(t.Context(), operator, p.UUID, func(p node.Port) (node.Port, error) {
			p.NodeUUID, p.PXEEnabled = used.UUID, pxe
			return p, nil
		})
		return err
	}
	var conflict *node.Conflict
	if err := give(false); !errors.As(err, &conflict) || !strings.Contains(err.Error(), used.UUID) {
		t.Errorf("with another connection: %v", err)
	}
	w.must(give(true))
}

func TestASmartNICSaysWhereItIs(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	p := node.Port{NodeUUID: n.UUID, Address: mac, IsSmartNIC: true, LocalLinkConnection: map[string]any{"port_id": "rep0-0"}}
	_, err := w.CreatePort(t.Context(), operator, p)
	refusedAs[*node.Invalid](t, "without a host", err, "Smart NIC port must have port_id and hostname in local_link_connection")
	p.LocalLinkConnection["hostname"] = "r1-u01"
	_, err = w.CreatePort(t.Context(), operator, p)
	w.must(err)
}
