package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cagenut/node"
)

func exists(t *testing.T, err error, text string) {
	t.Helper()
	var taken *node.Exists
	if !errors.As(err, &taken) || taken.Text != text {
		t.Errorf("got %v, not %q", err, text)
	}
}

func TestWhatAnotherNodeHasIsRefusedByName(t *testing.T) {
	r := newRig(t)
	a := r.add(t, node.Enroll, func(n *node.Node) { n.Name, n.InstanceUUID = "one", node.NewUUID() })
	create := func(n node.Node) error {
		n.Driver, n.ProvisionState = node.DriverFake, node.Enroll
		_, err := r.CreateNode(t.Context(), n, node.Audit{})
		return err
	}
	other := node.NewUUID()
	exists(t, create(node.Node{UUID: a.UUID}), "A node with UUID "+a.UUID+" already exists.")
	exists(t, create(node.Node{UUID: node.NewUUID(), Name: "one"}), "A node with name one already exists.")
	exists(t, create(node.Node{UUID: other, InstanceUUID: a.InstanceUUID}), "Instance "+a.InstanceUUID+" is already associated with a node, it cannot be associated with this other node "+other)
	b := r.add(t, node.Enroll)
	b.Name = "one"
	_, err := r.UpdateNode(t.Context(), b, node.Audit{})
	exists(t, err, "A node with name one already exists.")
}

func TestASecondPatchOfTheSameVersionIsLost(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	n.Description = "first"
	got := must(r.UpdateNode(t.Context(), n, node.Audit{}))(t)
	if got.Version != n.Version+1 || got.Description != "first" || !got.UpdatedAt.Equal(begin) {
		t.Errorf("got %+v", got)
	}
	n.Description = "second"
	if _, err := r.UpdateNode(t.Context(), n, node.Audit{}); !errors.Is(err, node.ErrLost) {
		t.Errorf("got %v", err)
	}
	must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Hold: "w1", Host: "rack", At: begin}))(t)
	if _, err := r.UpdateNode(t.Context(), got, node.Audit{}); !errors.Is(err, node.ErrLost) {
		t.Errorf("a held node was patched: %v", err)
	}
}

func TestPortsAreKnownByTheirMACAndLockedWithTheirNode(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	p := must(r.CreatePort(t.Context(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: "52:54:00:00:00:01", PXEEnabled: true}, node.Audit{}))(t)
	_, err := r.CreatePort(t.Context(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: p.Address}, node.Audit{})
	exists(t, err, "A port with MAC address 52:54:00:00:00:01 already exists.")
	_, err = r.CreatePort(t.Context(), node.Port{UUID: p.UUID, NodeUUID: n.UUID, Address: "52:54:00:00:00:02"}, node.Audit{})
	exists(t, err, "A port with UUID "+p.UUID+" already exists.")
	var invalid *node.Invalid
	if _, err := r.CreatePort(t.Context(), node.Port{NodeUUID: node.NewUUID(), Address: "52:54:00:00:00:03"}, node.Audit{}); !errors.As(err, &invalid) {
		t.Errorf("a port of no node: %v", err)
	}
	off := p
	off.PXEEnabled = false
	if got := must(r.UpdatePort(t.Context(), off, node.Audit{}))(t); got.PXEEnabled || got.Version != p.Version+1 {
		t.Errorf("got %+v", got)
	}
	if _, err := r.UpdatePort(t.Context(), p, node.Audit{}); !errors.Is(err, node.ErrLost) {
		t.Errorf("an old version: %v", err)
	}
	must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Hold: "w1", Host: "rack", At: begin}))(t)
	var locked *node.Locked
	if err := r.DeletePort(t.Context(), p.UUID, node.Audit{}); !errors.As(err, &locked) || locked.Holder != "rack" {
		t.Errorf("delete at a held node: %v", err)
	}
	must(r.Port(t.Context(), p.UUID))(t)
}

// contract.md §3.7: giving a port away takes the lock of the node that has it, too.
func TestAPortLeavesNoLockedNodeAndNoneWithoutANotice(t *testing.T) {
	r := newRig(t)
	from, to := r.add(t, node.Manageable), r.add(t, node.Manageable)
	p := must(r.CreatePort(t.Context(), node.Port{UUID: node.NewUUID(), NodeUUID: from.UUID, Address: "52:54:00:00:00:01"}, node.Audit{}))(t)
	moved := p
	moved.NodeUUID = to.UUID
	for _, held := range []node.Node{from, to} {
		must(r.Move(t.Context(), node.Move{Node: held.UUID, From: node.Manageable, Hold: "w1", Host: "rack", At: begin}))(t)
		var locked *node.Locked
		if _, err := r.UpdatePort(t.Context(), moved, node.Audit{}); !errors.As(err, &locked) || locked.Node != held.UUID {
			t.Errorf("with %s held: %v", held.UUID, err)
		}
		must(r.Move(t.Context(), node.Move{Node: held.UUID, From: node.Manageable, Held: "w1", At: begin}))(t)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	notices := r.Watch(ctx)
	if got := must(r.UpdatePort(t.Context(), moved, node.Audit{}))(t); got.NodeUUID != to.UUID {
		t.Errorf("got %+v", got)
	}
	told := map[string]bool{}
	for range 2 {
		n, _ := read(t, notices)
		told[n.NodeUUID] = true
	}
	if !told[from.UUID] || !told[to.UUID] {
		t.Errorf("told of %v, not of %s and %s", told, from.UUID, to.UUID)
	}
}

func read(t *testing.T, notices <-chan node.Notice) (node.Notice, bool) {
	t.Helper()
	select {
	case n, ok := <-notices:
		return n, ok
	case <-time.After(10 * time.Second):
		t.Fatal("no notice")
		return node.Notice{}, false
	}
}

func TestAWatcherHearsOfACommitThatItCanThenRead(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	notices := r.Watch(ctx)
	n, a := r.waiting(t)
	read(t, notices) // created
	got, _ := read(t, notices)
	if got.NodeUUID != n.UUID || got.Change == nil || got.Change.To != node.InspectWait || got.Change.AttemptID != a.ID {
		t.Errorf("notice %+v", got)
	}
	if _, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Inspect, At: begin}); !errors.Is(err, node.ErrLost) {
		t.Fatal(err)
	}
	if err := r.DeleteNode(t.Context(), n, node.Audit{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, notices); !got.Deleted || got.NodeUUID != n.UUID {
		t.Errorf("after a lost move and a delete: %+v", got)
	}
	cancel()
	if _, open := read(t, notices); open {
		t.Error("still open after its context ended")
	}
}

func TestAWatcherThatFallsBehindIsToldToLookAgain(t *testing.T) {
	r := newRig(t)
	notices := r.Watch(t.Context())
	n := r.add(t, node.Manageable)
	for range 100 {
		if err := r.Note(t.Context(), &node.History{NodeUUID: n.UUID, At: begin, Key: "k"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := read(t, notices); got != (node.Notice{}) {
		t.Errorf("first of what is left: %+v, not a zero notice", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for open := true; open; {
		_, open = read(t, notices)
	}
}

func TestAParentMustBeThereAndNoChildOfItsChild(t *testing.T) {
	r := newRig(t)
	a := r.add(t, node.Enroll)
	b := r.add(t, node.Enroll, func(n *node.Node) { n.ParentNode = a.UUID })
	c := r.add(t, node.Enroll, func(n *node.Node) { n.ParentNode = b.UUID })
	for what, parent := range map[string]string{"itself": a.UUID, "its child": b.UUID, "its child's child": c.UUID, "nobody": node.NewUUID()} {
		n := a
		n.ParentNode = parent
		var invalid *node.Invalid
		if _, err := r.UpdateNode(t.Context(), n, node.Audit{}); !errors.As(err, &invalid) ||
			invalid.Text != "Unable to apply the requested parent_node '"+parent+"'. Requested value was invalid." {
			t.Errorf("a node with %s as its parent: %v", what, err)
		}
	}
	if _, err := r.CreateNode(t.Context(), node.Node{UUID: node.NewUUID(), Driver: node.DriverFake, ProvisionState: node.Enroll, ParentNode: node.NewUUID()}, node.Audit{}); !errors.As(err, new(*node.Invalid)) {
		t.Errorf("a new node with an unknown parent: %v", err)
	}

	if err := r.DeleteNode(t.Context(), a, node.Audit{}); err != nil {
		t.Fatal(err)
	}
	b.Description = "orphan"
	if _, err := r.UpdateNode(t.Context(), b, node.Audit{}); err != nil {
		t.Errorf("a change of a node whose parent is gone: %v", err)
	}
}

func TestPortsAreFoundByNameAndNoTwoHaveTheSame(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Enroll)
	create := func(p node.Port) (node.Port, error) {
		p.UUID, p.NodeUUID = node.NewUUID(), n.UUID
		return r.CreatePort(t.Context(), p, node.Audit{})
	}
	one := must(create(node.Port{Address: "52:54:00:00:00:01", Name: "eth0"}))(t)
	two := must(create(node.Port{Address: "52:54:00:00:00:02"}))(t)
	must(create(node.Port{Address: "52:54:00:00:00:03"}))(t) // a second without a name
	for _, ident := range []string{one.UUID, "eth0"} {
		if p, err := r.Port(t.Context(), ident); err != nil || p.UUID != one.UUID {
			t.Errorf("%s: %s, %v", ident, p.UUID, err)
		}
	}
	for _, ident := range []string{"", "eth1"} {
		if _, err := r.Port(t.Context(), ident); !errors.As(err, new(*node.NotFound)) {
			t.Errorf("%q: %v", ident, err)
		}
	}
	_, err := create(node.Port{Address: "52:54:00:00:00:04", Name: "eth0"})
	exists(t, err, "A port with name eth0 already exists.")
	two.Name = "eth0"
	_, err = r.UpdatePort(t.Context(), two, node.Audit{})
	exists(t, err, "A port with name eth0 already exists.")
}

func TestAConfirmedPowerStateIsNewsOnlyWhereItChanges(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable, func(n *node.Node) { n.PowerState, n.TargetPowerState = node.PowerOn, node.PowerOff })
	ctx, cancel := context.WithCancel(t.Context())
	news := r.Watch(ctx)
	for _, p := range []node.PowerState{node.PowerOn, node.PowerOff, node.PowerOff} {
		if err := r.SetPowerState(t.Context(), n.UUID, p, begin.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		now := must(r.Node(t.Context(), n.UUID))(t)
		if now.PowerState != p || !now.PowerCheckedAt.Equal(begin.Add(time.Hour)) || (now.TargetPowerState == "") != (p == node.PowerOff) {
			t.Errorf("after %s: %s, target %q, checked %s", p, now.PowerState, now.TargetPowerState, now.PowerCheckedAt)
		}
	}
	if err := r.SetPowerState(t.Context(), node.NewUUID(), node.PowerOn, begin); err != nil {
		t.Errorf("of a node that is gone: %v", err)
	}
	cancel()
	told := 0
	for range news {
		told++
	}
	if told != 1 {
		t.Errorf("%d changes were told, not one", told)
	}
}
