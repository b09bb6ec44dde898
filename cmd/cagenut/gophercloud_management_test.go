package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func gopherSwitchesServersOnAndOff(t *testing.T, g *gopher) {
	for _, s := range g.servers(sim.Options{Servers: 2, IPMI: 1}) {
		t.Run(s.Driver, func(t *testing.T) {
			t.Parallel()
			g.in(t).switchOnAndOff(t, s)
		})
	}
}

func (g *gopher) switchOnAndOff(t *testing.T, s *sim.Server) {
	n := g.enrol(s)
	power := func(c *gophercloud.ServiceClient, o nodes.PowerStateOpts) error {
		return nodes.ChangePowerState(t.Context(), c, n.UUID, o).ExtractErr()
	}
	for _, o := range []struct {
		nodes.PowerStateOpts
		want node.PowerState
	}{
		{nodes.PowerStateOpts{Target: nodes.PowerOn}, node.PowerOn},
		{nodes.PowerStateOpts{Target: nodes.Rebooting, Timeout: 30}, node.PowerOn},
		{nodes.PowerStateOpts{Target: nodes.SoftPowerOff, Timeout: 30}, node.PowerOff},
		{nodes.PowerStateOpts{Target: nodes.PowerOn}, node.PowerOn},
		{nodes.PowerStateOpts{Target: nodes.PowerOff}, node.PowerOff},
	} {
		if err := power(g.ironic, o.PowerStateOpts); err != nil {
			t.Fatalf("%s: %v", o.Target, err)
		}
		got := g.wait(n.UUID, string(o.Target), func(n *nodes.Node) bool { return n.TargetPowerState == "" && n.Reservation == "" })
		if got.PowerState != string(o.want) || s.Power() != o.want || got.LastError != "" {
			t.Errorf("%s: the node is %q, the server %q, last error %q", o.Target, got.PowerState, s.Power(), got.LastError)
		}
	}
	refused(t, "a soft power off at 1.26", power(g.at("1.26"), nodes.PowerStateOpts{Target: nodes.SoftPowerOff}), 406, "Request not acceptable.")
	refused(t, "a time-out at 1.26", power(g.at("1.26"), nodes.PowerStateOpts{Target: nodes.PowerOn, Timeout: 5}), 406, "Request not acceptable.")
	refused(t, "a target that is none", power(g.ironic, nodes.PowerStateOpts{Target: "warp speed"}), 400, `The requested action "warp speed"`)
	refused(t, "a time-out that is none", power(g.ironic, nodes.PowerStateOpts{Target: nodes.PowerOn, Timeout: -1}), 400, "timeout has to be positive integer")
}

func gopherChoosesTheBootDevice(t *testing.T, g *gopher) {
	for _, s := range g.servers(sim.Options{Servers: 2, IPMI: 1}) {
		t.Run(s.Driver, func(t *testing.T) {
			t.Parallel()
			g := g.in(t)
			n := g.enrol(s)
			supported, err := nodes.GetSupportedBootDevices(t.Context(), g.ironic, n.UUID).Extract()
			if err != nil || !slices.Contains(supported, "pxe") || !slices.Contains(supported, "disk") {
				t.Errorf("supported are %v, %v", supported, err)
			}
			for _, want := range []nodes.BootDeviceOpts{{BootDevice: "pxe"}, {BootDevice: "disk", Persistent: true}, {BootDevice: "cdrom"}} {
				if err := nodes.SetBootDevice(t.Context(), g.ironic, n.UUID, want).ExtractErr(); err != nil {
					t.Errorf("set %+v: %v", want, err)
				}
				got, err := nodes.GetBootDevice(t.Context(), g.ironic, n.UUID).Extract()
				if err != nil || *got != want || string(s.Boot().Device) != want.BootDevice {
					t.Errorf("set %+v: the node says %+v, %v, the server %+v", want, got, err, s.Boot())
				}
			}
			refused(t, "a device that is none", nodes.SetBootDevice(t.Context(), g.ironic, n.UUID, nodes.BootDeviceOpts{BootDevice: "floppy"}).ExtractErr(), 400, "Invalid boot device floppy specified.")
		})
	}
}

func gopherMaintainsAndValidates(t *testing.T, g *gopher) {
	n := g.create(nodes.CreateOpts{Name: "r9-u01", Driver: "redfish"})
	for _, reason := range []string{"wrong cable", ""} {
		if err := nodes.SetMaintenance(t.Context(), g.ironic, n.UUID, nodes.MaintenanceOpts{Reason: reason}).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		if got := g.node(n.UUID); !got.Maintenance || got.MaintenanceReason != reason {
			t.Errorf("in maintenance: %+v", got)
		}
	}
	if names := g.names(nodes.ListOpts{Maintenance: true}); !slices.Equal(names, []string{n.Name}) {
		t.Errorf("in maintenance are %v", names)
	}
	if err := nodes.UnsetMaintenance(t.Context(), g.ironic, n.UUID).ExtractErr(); err != nil || g.node(n.UUID).Maintenance {
		t.Errorf("still in maintenance: %v", err)
	}
	v, err := nodes.Validate(t.Context(), g.ironic, n.UUID).Extract()
	if err != nil || v.Power.Result || !strings.Contains(v.Power.Reason, "redfish_address") || v.Management.Result || !v.Network.Result {
		t.Errorf("without an address it is %+v, %v", v, err)
	}
	refused(t, "a node that cannot be inspected yet", g.tryVerb(n.UUID, nodes.TargetInspect), 400, `The requested action "inspect" can not be performed on node "`+n.UUID+`" while it is in state "enroll".`)
	s := g.servers(sim.Options{Servers: 1})[0]
	n = g.enrol(s)
	if v, err := nodes.Validate(t.Context(), g.ironic, n.UUID).Extract(); err != nil || !v.Power.Result || !v.Management.Result || !v.Boot.Result || !v.Deploy.Result || !v.Inspect.Result {
		t.Errorf("with its address it is %+v, %v", v, err)
	}
}

// What BMCs have beyond power and boot (contract.md §3.6).
func gopherUsesWhatABMCHas(t *testing.T, g *gopher) {
	s := g.servers(sim.Options{Servers: 1})[0]
	n, ctx := g.enrol(s), t.Context()
	one := nodes.GetBIOSSetting(ctx, g.ironic, n.UUID, "NumLock")
	var setting map[string]nodes.BIOSSetting // Extract would look for a setting that is called Setting, which Ironic does not answer
	if err := one.ExtractInto(&setting); err != nil || setting["NumLock"].Name != "NumLock" || setting["NumLock"].Value != "On" {
		t.Errorf("a BIOS setting: %+v, %v", setting, err)
	}
	for _, detail := range []bool{false, true} {
		if list, err := nodes.ListBIOSSettings(ctx, g.ironic, n.UUID, nodes.ListBIOSSettingsOpts{Detail: detail}).Extract(); err != nil || !slices.ContainsFunc(list, func(b nodes.BIOSSetting) bool { return b.Name == "BootMode" && b.Value == "Uefi" }) {
			t.Errorf("BIOS settings: %+v, %v", list, err)
		}
	}
	if list, err := nodes.ListFirmware(ctx, g.ironic, n.UUID).Extract(); err != nil || !slices.ContainsFunc(list, func(f nodes.FirmwareComponent) bool { return f.Component == "bmc" && f.CurrentVersion != "" }) {
		t.Errorf("firmware: %+v, %v", list, err)
	}
	image := nodes.AttachVirtualMediaOpts{DeviceType: nodes.VirtualMediaCD, ImageURL: "http://192.0.2.1/i.iso"}
	if err := nodes.AttachVirtualMedia(ctx, g.ironic, n.UUID, image).ExtractErr(); err != nil || len(s.Media()) != 1 {
		t.Errorf("with virtual media: %v, %v", s.Media(), err)
	}
	if r := nodes.GetVirtualMedia(ctx, g.ironic, n.UUID); r.Err != nil || !strings.Contains(fmt.Sprint(r.Body), image.ImageURL) {
		t.Errorf("the virtual media are %v, %v", r.Body, r.Err)
	}
	if err := nodes.DetachVirtualMedia(ctx, g.ironic, n.UUID, nodes.DetachVirtualMediaOpts{DeviceTypes: []nodes.VirtualMediaDeviceType{nodes.VirtualMediaCD}}).ExtractErr(); err != nil || len(s.Media()) != 0 {
		t.Errorf("without virtual media: %v, %v", s.Media(), err)
	}
	s.SetPower(node.PowerOn)
	if err := nodes.InjectNMI(ctx, g.ironic, n.UUID).ExtractErr(); err != nil || s.Interrupts() != 1 {
		t.Errorf("%d interrupts, %v", s.Interrupts(), err)
	}
}

// What no interface of these drivers can do is told so, and what has nothing in it is empty (contract.md §3.1).
func gopherIsToldWhatAServerCannotDo(t *testing.T, g *gopher) {
	n := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "redfish", DriverInfo: map[string]any{"redfish_address": "http://127.0.0.1:9"}})
	f := g.create(nodes.CreateOpts{Name: "r1-u02", Driver: "fake-hardware"})
	ctx := t.Context()
	if list, err := nodes.ListBIOSSettings(ctx, g.ironic, f.UUID, nodes.ListBIOSSettingsOpts{Detail: true}).Extract(); err != nil || len(list) != 0 {
		t.Errorf("BIOS settings: %v, %v", list, err)
	}
	if list, err := nodes.ListFirmware(ctx, g.ironic, f.UUID).Extract(); err != nil || len(list) != 0 {
		t.Errorf("firmware: %v, %v", list, err)
	}
	if list, err := nodes.ListVirtualInterfaces(ctx, g.ironic, n.UUID).Extract(); err != nil || len(list) != 0 {
		t.Errorf("VIFs: %v, %v", list, err)
	}
	if list, err := nodes.ListVendorPassthruMethods(ctx, g.ironic, n.UUID).Extract(); err != nil || len(list) != 0 {
		t.Errorf("vendor methods: %v, %v", list, err)
	}
	if list, err := nodes.GetVendorPassthruMethods(ctx, g.ironic, n.UUID).Extract(); err != nil || len(list.CreateSubscription.HTTPMethods) != 0 {
		t.Errorf("vendor methods: %v, %v", list, err)
	}
	refused(t, "virtual media", nodes.AttachVirtualMedia(ctx, g.ironic, f.UUID, nodes.AttachVirtualMediaOpts{DeviceType: nodes.VirtualMediaCD, ImageURL: "http://192.0.2.1/i.iso"}).ExtractErr(), 400, "does not support")
	refused(t, "less virtual media", nodes.DetachVirtualMedia(ctx, g.ironic, f.UUID, nodes.DetachVirtualMediaOpts{DeviceTypes: []nodes.VirtualMediaDeviceType{nodes.VirtualMediaCD}}).ExtractErr(), 400, "does not support")
	refused(t, "the virtual media", nodes.GetVirtualMedia(ctx, g.ironic, f.UUID).Err, 400, "does not support")
	refused(t, "virtual media at 1.88", nodes.AttachVirtualMedia(ctx, g.at("1.88"), n.UUID, nodes.AttachVirtualMediaOpts{DeviceType: nodes.VirtualMediaCD, ImageURL: "http://192.0.2.1/i.iso"}).ExtractErr(), 404, "")
	refused(t, "a VIF", nodes.AttachVirtualInterface(ctx, g.ironic, n.UUID, nodes.VirtualInterfaceOpts{ID: node.NewUUID()}).ExtractErr(), 400, "does not support")
	refused(t, "less of a VIF", nodes.DetachVirtualInterface(ctx, g.ironic, n.UUID, node.NewUUID()).ExtractErr(), 400, "does not support")
	refused(t, "an NMI", nodes.InjectNMI(ctx, g.ironic, f.UUID).ExtractErr(), 400, "does not support")
	refused(t, "an NMI at 1.28", nodes.InjectNMI(ctx, g.at("1.28"), n.UUID).ExtractErr(), 404, "Resource could not be found.")
	refused(t, "RAID", nodes.SetRAIDConfig(ctx, g.ironic, n.UUID, nodes.RAIDConfigOpts{LogicalDisks: []nodes.LogicalDisk{{RAIDLevel: nodes.RAID1}}}).ExtractErr(), 400, "does not support")
	method := nodes.VendorPassthruCallOpts{Method: "bogus"}
	refused(t, "a vendor's method", nodes.CallVendorPassthru(ctx, g.ironic, n.UUID, "POST", method).Err, 400, "does not support")
	refused(t, "subscriptions", nodes.GetAllSubscriptions(ctx, g.ironic, n.UUID, nodes.CallVendorPassthruOpts{Method: "get_all_subscriptions"}).Err, 400, "does not support")
	refused(t, "a driver's vendor method", drivers.CallVendorPassthru(ctx, g.ironic, "redfish", "GET", drivers.VendorPassthruCallOpts{Method: "bogus"}).Err, 400, "does not support")
	refused(t, "a vendor's method of an unknown node", nodes.CallVendorPassthru(ctx, g.ironic, "nobody", "POST", method).Err, 404, "Node nobody could not be found.")
	refused(t, "a BIOS setting", nodes.GetBIOSSetting(ctx, g.ironic, f.UUID, "NumLock").Err, 404, "")
	refused(t, "a clean", nodes.ChangeProvisionState(ctx, g.ironic, n.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{}}).ExtractErr(), 400, "can not be performed")
	refused(t, "a target that is none", g.tryVerb(n.UUID, "dance"), 400, `The requested action "dance" can not be performed on node "`+n.UUID+`" while it is in state "enroll".`)
}

// Traits have no function in gophercloud's nodes; its service client carries them (contract.md §3.6).
func gopherCarriesTraits(t *testing.T, g *gopher) {
	n := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "fake-hardware"})
	url := g.ironic.ServiceURL("nodes", n.UUID, "traits")
	if _, err := g.ironic.Put(t.Context(), url, map[string]any{"traits": []string{"HW_CPU_X86_VMX", "CUSTOM_GPU"}}, nil, &gophercloud.RequestOpts{OkCodes: []int{204}}); err != nil { //nolint:bodyclose // gophercloud closes it
		t.Fatal(err)
	}
	if _, err := g.ironic.Put(t.Context(), url+"/CUSTOM_RACK_R1", nil, nil, &gophercloud.RequestOpts{OkCodes: []int{204}}); err != nil { //nolint:bodyclose // gophercloud closes it
		t.Fatal(err)
	}
	if got := g.node(n.UUID).Traits; !same(got, []string{"CUSTOM_GPU", "CUSTOM_RACK_R1", "HW_CPU_X86_VMX"}) {
		t.Errorf("the traits are %v", got)
	}
	_, err := g.ironic.Put(t.Context(), url+"/lower_case", nil, nil, &gophercloud.RequestOpts{OkCodes: []int{204}}) //nolint:bodyclose // gophercloud closes it
	refused(t, "a trait in lower case", err, 400, "lower_case")
	if _, err := g.ironic.Delete(t.Context(), url+"/CUSTOM_GPU", nil); err != nil { //nolint:bodyclose // gophercloud closes it
		t.Error(err)
	}
	_, err = g.ironic.Delete(t.Context(), url+"/CUSTOM_GPU", nil) //nolint:bodyclose // gophercloud closes it
	refused(t, "a trait that is not there", err, 404, "Node "+n.UUID+" doesn't have a trait 'CUSTOM_GPU'")
	if _, err := g.ironic.Delete(t.Context(), url, nil); err != nil || len(g.node(n.UUID).Traits) != 0 { //nolint:bodyclose // gophercloud closes it
		t.Errorf("traits are left: %v", err)
	}
}
