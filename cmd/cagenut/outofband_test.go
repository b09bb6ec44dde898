package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"cagenut/bmc"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// withoutRamdisk is an appliance that knows of no ramdisk.
func withoutRamdisk(s *settings) { s.ramdiskOnLoopback = false }

// outOfBand makes a node of a server that is inspected out of band.
func (a *testAppliance) outOfBand(s *sim.Server) node.Node {
	a.t.Helper()
	patch := []map[string]any{{"op": "replace", "path": "/inspect_interface", "value": "redfish"}}
	if status, _, body := a.send("PATCH", "/v1/nodes/"+s.Name, "latest", patch); status != http.StatusOK {
		a.t.Fatalf("%d %s", status, body)
	}
	n, err := a.store.Node(a.t.Context(), s.Name)
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// inUse is a server that runs, with a medium in a drive and a boot override that somebody chose.
func (a *testAppliance) inUse(n node.Node, s *sim.Server) {
	a.t.Helper()
	err := a.bmcs.Do(a.t.Context(), n, func(c bmc.Client) error {
		if err := c.SetPower(a.t.Context(), node.ActionOn); err != nil {
			return err
		}
		if err := c.SetBoot(a.t.Context(), node.Boot{Device: node.BootDisk, Persistent: true}); err != nil {
			return err
		}
		_, err := c.(bmc.Media).BeginInsert(a.t.Context(), node.Medium{Kind: node.MediumCD, URL: "http://192.0.2.1/rescue.iso"})
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	if s.Power() != node.PowerOn || len(s.Media()) != 1 {
		a.t.Fatalf("the server is %s with media %v", s.Power(), s.Media())
	}
}

// Issue 4, point 3: contract.md §4.5 over the wire, on a server that runs and must go on running.
func TestARunningServerIsInspectedOutOfBand(t *testing.T) {
	a := serveForTest(t, true, withoutRamdisk)
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	n := a.outOfBand(s)
	a.inUse(n, s)
	rule := `{"actions":[{"op":"set-attribute","args":{"path":"/extra/serial","value":"{inventory[system_vendor][serial_number]}"}}]}`
	if status, _, body := a.send("POST", "/v1/inspection_rules", "1.96", []byte(rule)); status != http.StatusCreated {
		t.Fatalf("rule: %d %s", status, body)
	}
	power, override, media := n.PowerState, s.Boot(), s.Media()
	s.ForgetRequests()
	a.provision(s.Name, "inspect")
	a.untilState(s.Name, node.Manageable)

	n = a.until(s.Name, "its end", func(n node.Node) bool { return !n.Reserved() })
	if n.LastError != "" || n.InspectionFinishedAt.IsZero() || !n.InspectionStartedAt.IsZero() || n.PowerState != power || n.TargetPowerState != "" {
		t.Errorf("last error %q, started %v, finished %v, power %q → %q", n.LastError, n.InspectionStartedAt, n.InspectionFinishedAt, n.PowerState, n.TargetPowerState)
	}
	for _, key := range []string{"cpu_arch", "memory_mb", "local_gb", "capabilities"} {
		if n.Properties[key] == nil {
			t.Errorf("properties.%s was not filled: %v", key, n.Properties)
		}
	}
	if serial, _ := n.Extra["serial"].(string); serial == "" {
		t.Errorf("the rule set nothing: %v", n.Extra)
	}
	if s.Power() != node.PowerOn || s.Boot() != override || !cmp.Equal(media, s.Media()) {
		t.Errorf("the server is %s with override %v and media %v; it was on with %v and %v", s.Power(), s.Boot(), s.Media(), override, media)
	}
	onlyReads(t, s)
	checkInventory(t, a.base, n.UUID, s)
	a.checkOutOfBandInventory(n)
}

// onlyReads looks through all that the BMC was asked: nothing but GET, and the login.
func onlyReads(t *testing.T, s *sim.Server) {
	t.Helper()
	reads := 0
	for _, r := range s.Requests() {
		if r.Method == http.MethodGet {
			reads++
		} else if login := r.Method == http.MethodPost && strings.TrimSuffix(r.Path, "/") == "/redfish/v1/SessionService/Sessions"; !login {
			t.Errorf("the BMC was asked %s", r)
		}
	}
	if reads < 10 {
		t.Errorf("only %d requests were seen", reads)
	}
}

// checkOutOfBandInventory reads what was stored, as clients that expect a ramdisk's inventory do.
func (a *testAppliance) checkOutOfBandInventory(n node.Node) {
	a.t.Helper()
	client, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: a.base + "/v1/"})
	if err != nil {
		a.t.Fatal(err)
	}
	client.Microversion = "1.96"
	stored, err := nodes.GetInventory(a.t.Context(), client, n.UUID).Extract()
	if err != nil {
		a.t.Fatal(err)
	}
	inv := stored.Inventory
	if inv.CPU.Frequency == "" || inv.CPU.Architecture != n.Properties["cpu_arch"] || inv.Boot.CurrentBootMode == "" || inv.SystemVendor.ProductName == "" {
		a.t.Errorf("the inventory is thin: %+v", inv)
	}
	var raw struct {
		Inventory struct {
			CPU struct{ Frequency any }
			PCI []any          `json:"pci_devices"`
			RAM map[string]any `json:"memory"`
			HBA []any          `json:"storage_controllers"`
			Who struct {
				UUID string `json:"system_uuid"`
			} `json:"system_vendor"`
		}
		Plugin struct {
			LLDP map[string]map[string]string `json:"parsed_lldp"`
		} `json:"plugin_data"`
	}
	_, _, body := a.send("GET", "/v1/nodes/"+n.UUID+"/inventory", "latest", nil)
	if err := json.Unmarshal(body, &raw); err != nil {
		a.t.Fatal(err)
	}
	if _, text := raw.Inventory.CPU.Frequency.(string); !text {
		a.t.Errorf("the frequency is %v, no text", raw.Inventory.CPU.Frequency)
	}
	if len(raw.Inventory.PCI) == 0 || len(raw.Inventory.HBA) == 0 || raw.Inventory.Who.UUID == "" || len(raw.Plugin.LLDP) == 0 {
		a.t.Errorf("no devices, controllers, UUID or neighbours: %s", body)
	}
	ports, err := a.store.Ports(a.t.Context(), node.PortFilter{NodeUUID: n.UUID})
	if err != nil {
		a.t.Fatal(err)
	}
	var found []string
	for _, p := range ports {
		found = append(found, p.Address)
	}
	for _, i := range inv.Interfaces {
		if i.MACAddress != strings.ToLower(i.MACAddress) || !slices.Contains(found, i.MACAddress) {
			a.t.Errorf("interface %s is not among the ports %v", i.MACAddress, found)
		}
	}
}

// What a BMC does not tell is left out; what a node cannot be without fails in one sentence. Either way nothing is touched.
func TestBMCsThatTellLittleAreInspectedOutOfBand(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []sim.Fault
		fails  string // "" where the inspection succeeds
	}{
		{"no links to chassis and managers", []sim.Fault{sim.FaultMissingLinks}, ""},
		{"members that are not there", []sim.Fault{sim.FaultMissingMembers}, ""},
		{"MACs with the adapters alone", []sim.Fault{sim.FaultNICsAtAdapters}, ""},
		{"MACs in odd spellings", []sim.Fault{sim.FaultOddMACs}, ""},
		{"numbers as texts and no sums", []sim.Fault{sim.FaultTextNumbers, sim.FaultUnknownSummaries}, ""},
		{"disks under Oem, permanent MACs alone", []sim.Fault{sim.FaultSmartStorage, sim.FaultPermanentMACOnly}, ""},
		{"fields of other types", []sim.Fault{sim.FaultWrongTypes}, ""},
		{"another system first", []sim.Fault{sim.FaultSeveralSystems}, ""},
		{"no MAC anywhere", []sim.Fault{sim.FaultEmptyMACs, sim.FaultNoAdapters}, "Error in preprocess hook validate-interfaces: no usable network interface was reported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := serveForTest(t, true, withoutRamdisk)
			s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
			n := a.outOfBand(s)
			for _, f := range c.faults {
				if err := s.SwitchOn(f, sim.Strength{}); err != nil {
					t.Fatal(err)
				}
			}
			s.ForgetRequests()
			a.provision(s.Name, "inspect")
			n = a.until(n.UUID, "its end", func(n node.Node) bool { return n.ProvisionState != node.Inspecting })
			want := node.Manageable
			if c.fails != "" {
				want = node.InspectFailed
			}
			if n.ProvisionState != want || !strings.HasSuffix(n.LastError, c.fails) || (c.fails == "") != (n.LastError == "") {
				t.Errorf("the node is %q with %q, want %s", n.ProvisionState, n.LastError, want)
			}
			onlyReads(t, s)
			if c.fails == "" {
				checkInventory(t, a.base, n.UUID, s)
			} else if status, _, _ := a.send("GET", "/v1/nodes/"+n.UUID+"/inventory", "latest", nil); status != http.StatusNotFound {
				t.Errorf("an inventory was stored: %d", status)
			}
		})
	}
}

// A BMC that hangs costs the node its inspection and nothing else: it says which one, in time; while it is asked the
// inspection cannot be aborted, as with Ironic.
func TestAnOutOfBandInspectionEndsInTimeWhereTheBMCHangs(t *testing.T) {
	const bound = 2 * time.Second
	a := serveForTest(t, true, withoutRamdisk, func(s *settings) { s.StartTimeout = bound })
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	before := a.outOfBand(s)
	if err := s.SwitchOn(sim.FaultHang, sim.Strength{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	a.provision(s.Name, "inspect")
	if status, _, body := a.send("PUT", "/v1/nodes/"+s.Name+"/states/provision", "latest", map[string]string{"target": "abort"}); status != http.StatusConflict && status != http.StatusBadRequest {
		t.Errorf("abort: %d %s", status, body)
	}
	n := a.untilState(s.Name, node.InspectFailed)
	if took := time.Since(began); took > 10*bound {
		t.Errorf("it took %s", took)
	}
	host := strings.TrimPrefix(s.Address, "http://")
	if !strings.Contains(n.LastError, host) || strings.Contains(n.LastError, "aborted") || strings.Contains(n.LastError, string(s.Password)) {
		t.Errorf("last error %q, want the BMC's address %s in it", n.LastError, host)
	}
	if n.PowerState != before.PowerState || n.TargetPowerState != "" || n.Reserved() {
		t.Errorf("power %q → %q, reserved by %q", n.PowerState, n.TargetPowerState, n.Reservation)
	}
	if status, _, _ := a.send("GET", "/v1/nodes/"+s.Name+"/inventory", "latest", nil); status != http.StatusNotFound {
		t.Errorf("an inventory was stored: %d", status)
	}
}

// A BMC that takes longer than one step of a job may is read in several: here of a second, at home of 25 (issue 4, point 3).
func TestASlowBMCIsInspectedOutOfBandInSteps(t *testing.T) {
	a := serveForTest(t, true, withoutRamdisk, func(s *settings) { s.StartTimeout = time.Second })
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	n := a.outOfBand(s)
	if err := s.SwitchOn(sim.FaultSlow, sim.Strength{Delay: 70 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	s.ForgetRequests()
	began := time.Now()
	a.provision(s.Name, "inspect")
	a.untilState(s.Name, node.Manageable)
	if took := time.Since(began); took < time.Second {
		t.Fatalf("it took %s: that is one step", took)
	}
	onlyReads(t, s)
	checkInventory(t, a.base, n.UUID, s)
	if open := s.Sessions(); open.Opened != 1 {
		t.Errorf("it took %d logins", open.Opened)
	}
}
