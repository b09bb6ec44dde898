package main

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// What Metal3's operator does with a host, step by step (contract.md §7.4 and appendix A, 8). It polls; it does nothing
// that it has not seen the node ready for.
func TestTheSequenceOfMetal3sOperator(t *testing.T) {
	withGophercloud(t, func(t *testing.T, g *gopher) {
		s := g.servers(sim.Options{Servers: 1})[0]
		o := &operator{gopher: g, host: s, name: "metal3~worker-0"}
		t.Log("1. start-up: at least 1.89, and drivers")
		o.startUp(t)
		t.Log("2. the host by UUID, by name, by the address of its port: nobody has it, so it is enrolled")
		o.register(t)
		t.Log("3. inventory 404 means never inspected: PATCH, then inspect; 409 while it is busy, no abort in `inspecting`")
		o.startInspection(t)
		t.Log("4. a new pre-provisioning image: abort from `inspect wait`, and again from the beginning")
		o.abortForNewImage(t)
		t.Log("5. the word `aborted` stays, whatever power says")
		o.wordStays(t)
		t.Log("6. `inspect failed`: no change of the inspect interface")
		o.interfaceStays(t)
		t.Log("7. host switched off: manage first, because of the target; then power off")
		o.switchOff(t)
		t.Log("8. still no inventory: inspect again, and this time it reports")
		o.inspectToTheEnd(t)
		t.Log("9. provide")
		o.verb(o.id, nodes.TargetProvide)
		o.waitFor(o.id, nodes.Available)
		t.Log("10. deleted through maintenance")
		o.delete(t)
	}, func(s *settings) { s.PowerSyncInterval = 200 * time.Millisecond })
}

// operator is Metal3's: the version that it chose, one host and its node.
type operator struct {
	*gopher
	host *sim.Server
	name string
	id   string
}

func (o *operator) startUp(t *testing.T) {
	supported, err := utils.GetSupportedMicroversions(t.Context(), o.ironic)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := supported.IsSupported("1.89"); !ok || err != nil {
		t.Fatalf("it would not start: %+v, %v", supported, err)
	}
	for _, version := range []string{"1.110", "1.109", "1.95", "1.93", "1.89"} {
		if ok, _ := supported.IsSupported(version); ok {
			o.ironic = o.at(version)
			break
		}
	}
	if o.ironic.Microversion != "1.95" {
		t.Errorf("it chose %s", o.ironic.Microversion)
	}
	pages, err := drivers.ListDrivers(o.ironic, drivers.ListDriversOpts{}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if list, err := drivers.ExtractDrivers(pages); err != nil || len(list) == 0 {
		t.Fatalf("no conductor is ready: %v, %v", list, err)
	}
}

// find looks for the host as the operator does: nil when nobody has it.
func (o *operator) find(t *testing.T) (byID, byName *nodes.Node, byPort []ports.Port) {
	t.Helper()
	get := func(ident string) *nodes.Node {
		n, err := nodes.Get(t.Context(), o.ironic, ident).Extract()
		if err == nil {
			return n
		}
		refused(t, ident, err, 404, "could not be found")
		return nil
	}
	pages, err := ports.List(o.ironic, ports.ListOpts{Address: o.host.BootMAC, Fields: []string{"node_uuid"}}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byPort, err = ports.ExtractPorts(pages)
	if err != nil {
		t.Fatal(err)
	}
	return get(o.id), get(o.name), byPort
}

func (o *operator) register(t *testing.T) {
	o.id = node.NewUUID() // what the host's status remembers of an earlier life
	if a, b, c := o.find(t); a != nil || b != nil || len(c) != 0 {
		t.Fatalf("found %v, %v, %v", a, b, c)
	}
	n := o.create(nodes.CreateOpts{
		Name: o.name, Driver: o.host.Driver, DriverInfo: o.host.DriverInfo(), InspectInterface: "agent",
		Properties: map[string]any{"capabilities": "boot_mode:uefi"},
	})
	o.id = n.UUID
	pxe := true
	if err := ports.Create(t.Context(), o.ironic, ports.CreateOpts{NodeUUID: o.id, Address: strings.ToUpper(o.host.BootMAC), PXEEnabled: &pxe}).Err; err != nil {
		t.Fatal(err)
	}
	a, b, c := o.find(t)
	if a == nil || b == nil || a.UUID != o.id || b.UUID != o.id || len(c) != 1 || c[0].NodeUUID != o.id {
		t.Fatalf("enrolled, it is found as %v, %v, %v", a, b, c)
	}
	v, err := nodes.Validate(t.Context(), o.ironic, o.id).Extract()
	if err != nil || !v.Boot.Result || !v.Deploy.Result || !v.Management.Result || !v.Power.Result {
		t.Errorf("validated, it is %+v, %v", v, err)
	}
	o.verb(o.id, nodes.TargetManage)
	if n := o.waitFor(o.id, nodes.Manageable); n.LastError != "" || n.TargetProvisionState != "" {
		t.Errorf("managed, it is %+v", n)
	}
}

func (o *operator) neverInspected(t *testing.T) {
	t.Helper()
	refused(t, "the inventory", nodes.GetInventory(t.Context(), o.ironic, o.id).Err, 404, "Node inventory record for node ")
}

// patch is what precedes each inspection: properties, and the inspect interface as it was.
func (o *operator) patch(inspect string) error {
	return nodes.Update(o.t.Context(), o.ironic, o.id, nodes.UpdateOpts{
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/properties/capabilities", Value: "boot_mode:uefi,secure_boot:false"},
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/inspect_interface", Value: inspect},
	}).Err
}

func (o *operator) startInspection(t *testing.T) {
	o.neverInspected(t)
	if err := o.patch("agent"); err != nil {
		t.Fatal(err)
	}
	o.host.HoldReport()
	o.host.SetFaults(sim.Faults{Hang: true}) // a slow BMC: the node stays in `inspecting`
	o.verb(o.id, nodes.TargetInspect)
	if n := o.node(o.id); n.ProvisionState != string(nodes.Inspecting) || n.TargetProvisionState != string(nodes.Manageable) || n.InspectionStartedAt == nil {
		t.Errorf("started, it is %+v", n)
	}
	var all sync.WaitGroup
	for what, try := range map[string]func() error{
		"a second inspect": func() error { return o.tryVerb(o.id, nodes.TargetInspect) },
		"an abort":         func() error { return o.tryVerb(o.id, nodes.TargetAbort) },
		"a PATCH":          func() error { return o.patch("agent") },
		"a power off": func() error {
			return nodes.ChangePowerState(t.Context(), o.ironic, o.id, nodes.PowerStateOpts{Target: nodes.PowerOff}).ExtractErr()
		},
		"a delete, too early": func() error { return nodes.Delete(t.Context(), o.ironic, o.id).ExtractErr() },
	} {
		all.Go(func() {
			if err := try(); !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
				t.Errorf("%s: %v, want 409", what, err)
			}
		})
	}
	all.Wait()
	o.host.SetFaults(sim.Faults{})
	if n := o.waitFor(o.id, nodes.InspectWait); n.Reservation != "" || n.Properties["capabilities"] != "boot_mode:uefi,secure_boot:false" {
		t.Errorf("waiting, it is %+v", n)
	}
}

// aborted is how the operator knows that it was itself who ended an inspection.
func aborted(n *nodes.Node) bool {
	return n.ProvisionState == string(nodes.InspectFail) && strings.Contains(n.LastError, "aborted")
}

func (o *operator) abort(t *testing.T) {
	t.Helper()
	o.verb(o.id, nodes.TargetAbort)
	if n := o.node(o.id); !aborted(n) || n.TargetProvisionState != string(nodes.Manageable) {
		t.Fatalf("aborted, it is %q: %q, target %q", n.ProvisionState, n.LastError, n.TargetProvisionState)
	}
	o.neverInspected(t)
}

func (o *operator) abortForNewImage(t *testing.T) {
	o.abort(t)
	if err := o.patch("agent"); err != nil {
		t.Errorf("the PATCH before the next inspection: %v", err)
	}
	o.verb(o.id, nodes.TargetInspect)
	if n := o.waitFor(o.id, nodes.InspectWait); n.LastError != "" {
		t.Errorf("inspected again, it says %q", n.LastError)
	}
	o.abort(t)
}

func (o *operator) wordStays(t *testing.T) {
	o.wait(o.id, "off after clean-up", idleOff)
	// Somebody at the rack presses the button: once the node shows it, a power sync has been there.
	for _, power := range []node.PowerState{node.PowerOn, node.PowerOff} {
		o.host.SetPower(power)
		if n := o.wait(o.id, string(power), func(n *nodes.Node) bool { return n.PowerState == string(power) }); !aborted(n) {
			t.Errorf("after a power sync it is %q: %q", n.ProvisionState, n.LastError)
		}
	}
}

func (o *operator) interfaceStays(t *testing.T) {
	refused(t, "another inspect interface", o.patch("redfish"), 409, "can not have inspect_interface updated unless it is in one of allowed")
	if n := o.node(o.id); n.InspectInterface != "agent" || !aborted(n) {
		t.Errorf("refused, it is %+v", n)
	}
}

func (o *operator) switchOff(t *testing.T) {
	o.host.SetPower(node.PowerOn)
	o.wait(o.id, "on", func(n *nodes.Node) bool { return n.PowerState == string(node.PowerOn) })
	if n := o.node(o.id); n.TargetProvisionState != "" {
		o.verb(o.id, nodes.TargetManage)
	}
	if n := o.waitFor(o.id, nodes.Manageable); n.TargetProvisionState != "" {
		t.Errorf("managed, its target is %q", n.TargetProvisionState)
	}
	soft := nodes.ChangePowerState(t.Context(), o.ironic, o.id, nodes.PowerStateOpts{Target: nodes.SoftPowerOff, Timeout: 60}).ExtractErr()
	if soft != nil {
		refused(t, "a soft power off", soft, 400, "") // it falls back to a hard one
		if err := nodes.ChangePowerState(t.Context(), o.ironic, o.id, nodes.PowerStateOpts{Target: nodes.PowerOff}).ExtractErr(); err != nil {
			t.Fatal(err)
		}
	}
	if n := o.wait(o.id, "off", idleOff); n.LastError != "" || o.host.Power() != node.PowerOff {
		t.Errorf("off, it says %q, and the server is %q", n.LastError, o.host.Power())
	}
}

func (o *operator) inspectToTheEnd(t *testing.T) {
	o.neverInspected(t)
	if err := o.patch("agent"); err != nil {
		t.Fatal(err)
	}
	o.verb(o.id, nodes.TargetInspect)
	o.waitFor(o.id, nodes.InspectWait)
	o.host.ReleaseReport()
	if n := o.waitFor(o.id, nodes.Manageable); n.LastError != "" || n.InspectionFinishedAt == nil {
		t.Errorf("inspected, it is %+v", n)
	}
	data, err := nodes.GetInventory(t.Context(), o.ironic, o.id).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reportOf(t, o.host).Inventory, data.Inventory); diff != "" {
		t.Errorf("the hardware details (-posted +decoded):\n%s", diff)
	}
	standard, foreign, err := data.PluginData.GuessFormat()
	if err != nil || standard == nil || foreign != nil || len(standard.ValidInterfaces) == 0 || !slices.Contains(standard.MACs, o.host.BootMAC) {
		t.Errorf("the plugin data are %+v, %v", standard, err)
	}
	o.wait(o.id, "off", idleOff)
}

func (o *operator) delete(t *testing.T) {
	err := nodes.Update(t.Context(), o.ironic, o.id, nodes.UpdateOpts{nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/maintenance", Value: true}}).Err
	if err != nil {
		t.Fatal(err)
	}
	if err := nodes.Delete(t.Context(), o.ironic, o.id).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if a, b, c := o.find(t); a != nil || b != nil || len(c) != 0 {
		t.Errorf("deleted, it is found as %v, %v, %v", a, b, c)
	}
}
