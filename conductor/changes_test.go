package conductor_test

import (
	"errors"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// change patches a node and gives its answer.
func (w *world) change(n node.Node, change func(*node.Node)) (node.Node, error) {
	return w.PatchNode(w.t.Context(), operator, n.UUID, 96, func(n node.Node) (node.Node, error) {
		change(&n)
		return n, nil
	})
}

func refusedAs[E error](t *testing.T, what string, err error, text string) {
	t.Helper()
	var kind E
	if !errors.As(err, &kind) || kind.Error() != text {
		t.Errorf("%s: %T %v, want %T %s", what, err, err, kind, text)
	}
}

func TestANodeIsProtectedOnlyWhileSomebodyUsesIt(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	for _, state := range []node.State{node.Enroll, node.Manageable, node.Available, node.InspectFailed, node.DeployFailed} {
		n := w.enrolled(state, "agent")
		_, err := w.change(n, func(n *node.Node) { n.Protected = true })
		refusedAs[*node.Conflict](t, string(state), err,
			"Node "+n.UUID+" can only be made protected in provision states 'active' or 'rescue', the current state is '"+string(state)+"'")
	}
	for _, state := range []node.State{node.Active, node.Rescue} {
		n := w.enrolled(state, "agent")
		if n, err := w.change(n, func(n *node.Node) { n.Protected, n.ProtectedReason = true, "in use" }); err != nil || !n.Protected {
			t.Errorf("%s: %v", state, err)
		}
		n, err := w.change(n, func(n *node.Node) { n.Protected = false })
		if err != nil || n.ProtectedReason != "" {
			t.Errorf("%s: unprotected for the reason %q, %v", state, n.ProtectedReason, err)
		}
		_, err = w.change(n, func(n *node.Node) { n.ProtectedReason = "why" })
		refusedAs[*node.Invalid](t, string(state), err, "The protected_reason field can only be set when protected is True")
	}
}

func TestAProtectedNodeIsNeitherDeletedNorRebuiltNorUndeployed(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, err := w.change(w.enrolled(node.Active, "agent"), func(n *node.Node) { n.Protected = true })
	w.must(err)
	text := "Node " + n.UUID + " is protected and cannot be undeployed, rebuilt or deleted"
	for _, target := range []string{"deleted", "undeploy", "rebuild"} {
		refusedAs[*node.Forbidden](t, target, w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: target, Minor: 96}), text)
	}
	refusedAs[*node.Forbidden](t, "DELETE", w.DeleteNode(t.Context(), operator, n.UUID), text)
	w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, ""))
	refusedAs[*node.Forbidden](t, "DELETE in maintenance", w.DeleteNode(t.Context(), operator, n.UUID), text)
	same(t, "result in the audit", w.lastAudit(n).Result, text)
	w.is(n, node.Active, "")
}

func TestANodeIsRetiredOutsideAvailable(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Available, "agent")
	_, err := w.change(n, func(n *node.Node) { n.Retired = true })
	refusedAs[*node.Conflict](t, "available", err,
		"Node "+n.UUID+" can not have 'retired' set in provision state 'available', the current state is 'available'")
	_, err = w.change(n, func(n *node.Node) { n.RetiredReason = "old" })
	refusedAs[*node.Invalid](t, "a reason alone", err, "The retired_reason field can only be set when retired is True")

	n, err = w.change(w.enrolled(node.Manageable, "agent"), func(n *node.Node) { n.Retired, n.RetiredReason = true, "old" })
	w.must(err)
	same(t, "reason", n.RetiredReason, "old")
	n, err = w.change(n, func(n *node.Node) { n.Retired = false })
	w.must(err)
	same(t, "reason", n.RetiredReason, "")
}

func TestANodeIsRenamedToWhatItCanBeAddressedBy(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	for name, text := range map[string]string{
		"bad name!":       "Node " + n.UUID + ": Cannot change name to invalid name 'bad name!'",
		node.NewUUID():    "",
		"vendor_passthru": `The word "vendor_passthru" is reserved and can not be used as a node name. Reserved words are: maintenance, management, states, vendor_passthru, detail, validate.`,
	} {
		if text == "" {
			text = "Node " + n.UUID + ": Cannot change name to invalid name '" + name + "'"
		}
		_, err := w.change(n, func(n *node.Node) { n.Name = name })
		refusedAs[*node.Invalid](t, name, err, text)
	}
	n, err := w.change(n, func(n *node.Node) { n.Name = "ns~host" })
	w.must(err)
	same(t, "name", n.Name, "ns~host")
}

func TestWhatGoesTogetherIsClearedTogether(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	n, err := w.change(n, func(n *node.Node) { n.Maintenance, n.MaintenanceReason, n.Fault = true, "disk", "power failure" })
	w.must(err)
	n, err = w.change(n, func(n *node.Node) { n.Maintenance = false })
	w.must(err)
	same(t, "maintenance_reason", n.MaintenanceReason, "")
	same(t, "fault", n.Fault, "")
}

func TestAnInstanceAndItsResourceClassStay(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	first, second := node.NewUUID(), node.NewUUID()
	n, err := w.change(w.enrolled(node.Active, "agent"), func(n *node.Node) { n.InstanceUUID, n.ResourceClass = first, "gold" })
	w.must(err)
	_, err = w.change(n, func(n *node.Node) { n.InstanceUUID = second })
	refusedAs[*node.Conflict](t, "another instance", err, "Node "+n.UUID+" is associated with instance "+first+".")
	refusedAs[*node.Conflict](t, "DELETE", w.DeleteNode(t.Context(), operator, n.UUID), "Node "+n.UUID+" is associated with instance "+first+".")
	_, err = w.change(n, func(n *node.Node) { n.ResourceClass = "silver" })
	refusedAs[*node.Conflict](t, "another class", err,
		"Node "+n.UUID+" can not have resource_class updated unless it is in one of allowed (enroll, manageable, inspect wait, available) states. Current state is 'active'.")
	other := w.enrolled(node.Manageable, "agent")
	_, err = w.change(other, func(n *node.Node) { n.InstanceUUID = first })
	refusedAs[*node.Exists](t, "the instance of another node", err,
		"Instance "+first+" is already associated with a node, it cannot be associated with this other node "+other.UUID)
	_, err = w.change(n, func(n *node.Node) { n.InstanceUUID = "" })
	w.must(err)
	_, err = w.change(other, func(n *node.Node) { n.InstanceUUID, n.ResourceClass = first, "gold" })
	w.must(err)
}

func TestTraitsAreCheckedWhoeverSetsThem(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, err := w.change(w.enrolled(node.Manageable, "agent"), func(n *node.Node) { n.Traits = []string{"CUSTOM_GOLD", "HW_CPU_X86_VMX"} })
	w.must(err)
	same(t, "traits", len(n.Traits), 2)
	_, err = w.change(n, func(n *node.Node) { n.Traits = []string{"GOLD"} })
	refusedAs[*node.Invalid](t, "another name", err, "Schema error for trait: 'GOLD' is not valid under any of the given schemas")
}

func TestANodeInMaintenanceIsSeparatedFromItsInstanceInAnyState(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, err := w.CreateNode(t.Context(), operator, node.Node{Driver: node.DriverRedfish, ProvisionState: node.Cleaning, InstanceUUID: node.NewUUID()})
	w.must(err)
	release := func(n *node.Node) { n.InstanceUUID = "" }
	_, err = w.change(n, release)
	refusedAs[*node.Conflict](t, "without maintenance", err, `Cannot update node "`+n.UUID+`" while it is in state "cleaning".`)
	w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, ""))
	_, err = w.change(n, func(n *node.Node) { n.InstanceUUID, n.Description = "", "and more" })
	refusedAs[*node.Conflict](t, "with another change", err, `Cannot update node "`+n.UUID+`" while it is in state "cleaning".`)
	n, err = w.change(n, release)
	w.must(err)
	same(t, "instance", n.InstanceUUID, "")
}

func TestTheDriverStaysWhileItsConsoleIsOn(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.fakeNode()
	w.must(w.SetConsole(t.Context(), operator, n.UUID, true))
	toRedfish := func(n *node.Node) { n.Driver, n.Interfaces = node.DriverRedfish, node.Interfaces{} }
	_, err := w.change(n, toRedfish)
	refusedAs[*node.Conflict](t, "with the console on", err,
		"Node "+n.UUID+" can not update the driver while the console is enabled. Please stop the console first.")
	w.must(w.SetConsole(t.Context(), operator, n.UUID, false))
	_, err = w.change(n, toRedfish)
	w.must(err)
}

func TestAParentIsAnotherNodeOfTheSameOwner(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	create := func(n node.Node) node.Node {
		n.Driver = node.DriverFake
		n, err := w.CreateNode(t.Context(), operator, n)
		w.must(err)
		return n
	}
	chassis := create(node.Node{Name: "enclosure", Owner: "a"})
	blade := create(node.Node{Name: "blade", Owner: "a", ParentNode: "enclosure"})
	same(t, "parent by name", blade.ParentNode, chassis.UUID)
	for what, parent := range map[string]string{"unknown": "nobody", "another owner's": create(node.Node{Name: "other", Owner: "b"}).UUID, "itself": chassis.UUID, "its child": blade.UUID} {
		_, err := w.change(chassis, func(n *node.Node) { n.ParentNode = parent })
		refusedAs[*node.Invalid](t, what, err, "Unable to apply the requested parent_node '"+parent+"'. Requested value was invalid.")
	}
	_, err := w.CreateNode(t.Context(), operator, node.Node{Driver: node.DriverFake, ParentNode: "nobody"})
	refusedAs[*node.Invalid](t, "a new node", err, "Unable to apply the requested parent_node 'nobody'. Requested value was invalid.")
	w.must(w.DeleteNode(t.Context(), operator, chassis.UUID))
	_, err = w.change(blade, func(n *node.Node) { n.Description = "its enclosure is gone" })
	w.must(err)
}
