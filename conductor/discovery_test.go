package conductor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// newDiscoveringWorld is a world whose unknown machines go to the waiting room.
func newDiscoveringWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, conductor.Settings{Discovery: true})
	w.Discovered, w.Describer = w.store, reports{}
	return w
}

// Machine is conductor.Describer's.
func (reports) Machine(body []byte) (node.Machine, error) {
	r, err := inventory.Parse(body)
	if err != nil {
		return node.Machine{}, err
	}
	return r.Machine(), nil
}

// machine is a report of a server with its first MAC, a serial number and a BMC; more goes beside the inventory.
func machine(address, serial, bmc, more string) []byte {
	return fmt.Appendf(nil, `{"inventory":{"interfaces":[{"name":"eno1","mac_address":%q,"ipv4_address":"192.0.2.7","has_carrier":true}],
		"cpu":{"architecture":"x86_64","count":4,"model_name":"Example 9000"},"memory":{"physical_mb":4096},"disks":[{"name":"/dev/sda","size":480103981056,"model":"D1"}],
		"bmc_address":%q,"system_vendor":{"manufacturer":"Acme","product_name":"EdgeBox 100","serial_number":%q}}%s}`, address, bmc, serial, more)
}

// waitingRoom is everything in it.
func (w *world) waitingRoom() []node.Discovered {
	w.t.Helper()
	all, err := w.store.DiscoveredMachines(w.t.Context(), node.DiscoveredFilter{})
	w.must(err)
	return all
}

// discovered posts a report of an unknown machine, and is what is known of it then.
func (w *world) discovered(body []byte) node.Discovered {
	w.t.Helper()
	n, err := w.Report(w.t.Context(), ramdisk, conductor.ReportRequest{Body: body})
	w.must(err)
	d, err := w.store.DiscoveredMachine(w.t.Context(), n.UUID)
	w.must(err)
	return d
}

func TestTheReportOfAnUnknownMachineGoesToTheWaitingRoom(t *testing.T) {
	w := newDiscoveringWorld(t)
	d := w.discovered(machine(mac, "EB-1", "192.0.2.10", `,"logs":"AAAA"`))
	want := node.Discovered{
		UUID: d.UUID, State: node.DiscoveredNew, FirstAt: w.clock.Now(), LastAt: w.clock.Now(), ReportAt: w.clock.Now(), Times: 1, Address: "192.0.2.7", Size: d.Size,
		Machine: node.Machine{
			Manufacturer: "Acme", Product: "EdgeBox 100", Serial: "EB-1", CPU: "Example 9000", CPUs: 4, Architecture: "x86_64", MemoryMB: 4096,
			Disks: []node.MachineDisk{{Name: "/dev/sda", Model: "D1", Bytes: 480103981056}}, NICs: []node.MachineNIC{{Name: "eno1", MAC: mac, Address: "192.0.2.7"}},
			BMCAddresses: []string{"192.0.2.10"}, MACs: []string{mac},
		},
	}
	if diff := cmp.Diff(want, d); diff != "" || d.Size == 0 {
		t.Errorf("(-want +got), %d bytes:\n%s", d.Size, diff)
	}
	kept, err := w.store.DiscoveredReport(t.Context(), d.UUID)
	w.must(err)
	if !json.Valid(kept.Report) || strings.Contains(string(kept.Report), "AAAA") || string(kept.Logs) != "\x00\x00\x00" {
		t.Errorf("kept: %s, logs %q", kept.Report, kept.Logs)
	}
	var gone *node.NotFound
	if _, err := w.store.Node(t.Context(), d.UUID); !errors.As(err, &gone) {
		t.Errorf("there is a node already: %v", err)
	}

	// G19: the same machine again is the same entry.
	w.clock.advance(time.Minute)
	again := w.discovered(machine(mac, "EB-1", "192.0.2.10", ""))
	if again.UUID != d.UUID || again.Times != 2 || !again.FirstAt.Equal(d.FirstAt) || !again.LastAt.Equal(w.clock.Now()) {
		t.Errorf("again: %+v", again)
	}
}

func TestTheNewestMicroversionIsAnsweredAsWithANodeWithoutAToken(t *testing.T) {
	w := newDiscoveringWorld(t)
	n, token, err := w.ReportAndLookup(t.Context(), ramdisk, conductor.ReportRequest{Body: machine(mac, "EB-1", "", "")})
	w.must(err)
	if token != "" || len(w.waitingRoom()) != 1 || n.UUID != w.waitingRoom()[0].UUID || n.Properties == nil {
		t.Errorf("node %+v, token %q", n, token)
	}
}

// Which reports are of one machine (G27, G52).
func TestReportsOfOneMachine(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []byte
		one           bool
	}{
		"another MAC, the same serial number":                     {machine(mac, "EB-1", "", ""), machine(otherMAC, "EB-1", "", ""), true},
		"the same MAC, a serial number only the second time":      {machine(mac, "Not Specified", "", ""), machine(mac, "EB-1", "", ""), true},
		"another MAC, no serial number":                           {machine(mac, "", "", ""), machine(otherMAC, "", "", ""), false},
		"another MAC, a vendor's placeholder (G52)":               {machine(mac, "Not Specified", "", ""), machine(otherMAC, "Not Specified", "", ""), false},
		"a MAC that many machines have, other serials (G27)":      {machine(mac, "EB-1", "", ""), machine(mac, "EB-2", "", ""), false},
		"a serial number that two machines have, two BMCs (G52)":  {machine(mac, "EB-1", "192.0.2.10", ""), machine(otherMAC, "EB-1", "192.0.2.11", ""), false},
		"the same BMC alone, which a chassis of blades has (G13)": {machine(mac, "", "192.0.2.10", ""), machine(otherMAC, "", "192.0.2.10", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDiscoveringWorld(t)
			one, two := w.discovered(c.first), w.discovered(c.second)
			if (one.UUID == two.UUID) != c.one {
				t.Errorf("one machine: %v", one.UUID == two.UUID)
			}
		})
	}
}

func TestWhatIsNoUnknownMachineIsTurnedAwayAsWithoutDiscovery(t *testing.T) {
	waiting := func(w *world) (node.Node, node.Attempt) {
		n, a := w.waiting("agent")
		_, err := w.store.Move(w.t.Context(), node.Move{Node: n.UUID, From: node.InspectWait, At: w.clock.Now(), Internal: map[string]any{"lookup_bmc_addresses": []string{"192.0.2.10"}}})
		w.must(err)
		return n, a
	}
	body := machine(mac, "EB-1", "192.0.2.10", "")
	for name, request := range map[string]func(w *world) conductor.ReportRequest{
		"with the setting off": func(w *world) conductor.ReportRequest {
			w.Discovery = false
			return conductor.ReportRequest{Body: body}
		},
		"a MAC of a node that does not wait": func(w *world) conductor.ReportRequest {
			w.portOf(w.enrolled(node.Manageable, "agent"))
			return conductor.ReportRequest{Body: body}
		},
		"a BMC that two waiting nodes share (G13)": func(w *world) conductor.ReportRequest {
			waiting(w)
			waiting(w)
			return conductor.ReportRequest{Body: body}
		},
		"the BMC of a node without ports, which does not wait": func(w *world) conductor.ReportRequest {
			w.enrolled(node.Manageable, "agent")
			return conductor.ReportRequest{Body: body}
		},
		"a token that nobody knows": func(*world) conductor.ReportRequest { return conductor.ReportRequest{Body: body, Token: "unknown"} },
		"the token of an attempt that is over (G01)": func(w *world) conductor.ReportRequest {
			_, a := w.aborted()
			return conductor.ReportRequest{Body: body, Token: a.Token}
		},
		"a node that it names": func(*world) conductor.ReportRequest {
			return conductor.ReportRequest{Body: body, NodeUUID: node.NewUUID()}
		},
		"no MAC that could become a port (G14)": func(*world) conductor.ReportRequest {
			return conductor.ReportRequest{Body: machine("21:00:02:00:5e:01:02:03", "EB-1", "192.0.2.10", "")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDiscoveringWorld(t)
			if _, err := w.Report(t.Context(), ramdisk, request(w)); !errors.Is(err, node.ErrNotReported) {
				t.Errorf("the answer is %v", err)
			}
			if all := w.waitingRoom(); len(all) != 0 {
				t.Errorf("in the waiting room: %+v", all)
			}
		})
	}
	// A waiting node that is found by its BMC alone gets its report as ever.
	w := newDiscoveringWorld(t)
	n, _ := waiting(w)
	w.must(w.post("", body))
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
}

func TestAMachineThatPeopleHaveDecidedAboutIsOnlyCounted(t *testing.T) {
	for _, c := range []struct {
		state  node.DiscoveredState
		answer error
	}{{node.DiscoveredIgnored, nil}, {node.DiscoveredBlocked, node.ErrNotReported}} {
		t.Run(string(c.state), func(t *testing.T) {
			w := newDiscoveringWorld(t)
			d := w.discovered(machine(mac, "EB-1", "", ""))
			w.must(w.DecideOnMachine(t.Context(), operator, d.UUID, c.state))
			w.clock.advance(time.Minute)
			if err := w.post("", machine(mac, "EB-1", "192.0.2.10", "")); !errors.Is(err, c.answer) {
				t.Errorf("the answer is %v", err)
			}
			now := w.waitingRoom()
			if len(now) != 1 || now[0].Times != 2 || !now[0].LastAt.Equal(w.clock.Now()) || !now[0].ReportAt.Equal(d.ReportAt) || len(now[0].Machine.BMCAddresses) != 0 {
				t.Errorf("in the waiting room: %+v", now)
			}
			w.must(w.DecideOnMachine(t.Context(), operator, d.UUID, node.DiscoveredNew))
			if again := w.discovered(machine(mac, "EB-1", "192.0.2.10", "")); again.UUID != d.UUID || again.State != node.DiscoveredNew || len(again.Machine.BMCAddresses) != 1 {
				t.Errorf("restored: %+v", again)
			}
			w.must(w.ForgetMachine(t.Context(), operator, d.UUID))
			if all := w.waitingRoom(); len(all) != 0 {
				t.Errorf("forgotten: %+v", all)
			}
			audits, err := w.store.Audits(t.Context(), d.UUID)
			w.must(err)
			var actions []string
			for _, a := range audits {
				actions = append(actions, a.Action+" by "+a.Actor.User)
			}
			word := map[node.DiscoveredState]string{node.DiscoveredIgnored: "ignore", node.DiscoveredBlocked: "block"}[c.state]
			if want := []string{word + " discovered machine by rosa", "restore discovered machine by rosa", "forget discovered machine by rosa"}; !slices.Equal(actions, want) {
				t.Errorf("audit: %q", actions)
			}
		})
	}
}

func TestAnAcceptedMachineIsANodeInEnrollWithAllThatItReported(t *testing.T) {
	w := newDiscoveringWorld(t)
	_, err := w.CreateInspectionRule(t.Context(), operator, node.InspectionRule{
		Conditions: []node.RuleCondition{{Op: "is-true", Args: map[string]any{"value": "{plugin_data[auto_discovered]}"}}},
		Actions:    []node.RuleAction{setting("driver_info/redfish_username", "rack"), setting("extra/serial", "{inventory[system_vendor][serial_number]}")},
	})
	w.must(err)
	d := w.discovered(machine(mac, "EB-1", "192.0.2.10", `,"marker":{"x":1},"auto_discovered":false,"logs":"AAAA"`))
	n, err := w.AcceptMachine(t.Context(), operator, d.UUID, conductor.AcceptRequest{Name: "r07-u21", DriverInfo: map[string]any{"redfish_password": "not-a-real-one"}, ReportAt: d.ReportAt})
	w.must(err)

	if n.UUID != d.UUID || n.Name != "r07-u21" || n.ProvisionState != node.Enroll || n.Driver != node.DriverRedfish || n.Interfaces.Inspect != "agent" || n.Conductor != "rack-7" || n.Reserved() || n.LastError != "" {
		t.Errorf("the node is %+v", n)
	}
	if diff := cmp.Diff(map[string]any{"redfish_address": "https://192.0.2.10", "redfish_username": "rack", "redfish_password": "not-a-real-one"}, n.DriverInfo); diff != "" {
		t.Errorf("driver_info (-want +got):\n%s", diff)
	}
	if n.Properties["cpu_arch"] != "x86_64" || n.Properties["memory_mb"] == nil || n.Extra["serial"] != "EB-1" {
		t.Errorf("properties %v, extra %v", n.Properties, n.Extra)
	}
	ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
	w.must(err)
	if len(ports) != 1 || ports[0].Address != mac {
		t.Errorf("ports: %+v", ports)
	}
	inv, err := w.store.Inventory(t.Context(), n.UUID)
	w.must(err)
	if p := string(inv.PluginData); !strings.Contains(string(inv.Inventory), "EB-1") || !strings.Contains(p, `"auto_discovered":true`) || !strings.Contains(p, `"marker":{"x":1}`) {
		t.Errorf("inventory %s, plugin data %s", inv.Inventory, p)
	}
	a := w.attempt(n)
	if a.Outcome != node.Succeeded || a.Proof != node.NotProven || a.State != node.RunFinished || a.Ended.User != "rosa" || !a.ReportAt.Equal(d.ReportAt) {
		t.Errorf("attempt: %+v", a)
	}
	if l, err := w.store.RamdiskLogs(t.Context(), a.ID); err != nil || string(l.Archive) != "\x00\x00\x00" {
		t.Errorf("logs: %q, %v", l.Archive, err)
	}
	if h := w.history(n); len(h) != 1 || h[0].Actor.User != "rosa" || !strings.Contains(h[0].Event, "192.0.2.7") {
		t.Errorf("history: %+v", h)
	}
	same(t, "audit", w.lastAudit(n).Action, "accept discovered machine")
	same(t, "in the waiting room", len(w.waitingRoom()), 0)
	if calls, _ := w.rack.of(n.UUID).seen(); calls != 0 {
		t.Errorf("the BMC was asked %d times", calls)
	}
	// A second post by the same machine is 404 (contract.md §4.2).
	if err := w.post("", machine(mac, "EB-1", "192.0.2.10", "")); !errors.Is(err, node.ErrNotReported) || len(w.waitingRoom()) != 0 {
		t.Errorf("a second report: %v, %+v", err, w.waitingRoom())
	}
	// What was reported can be worked up once more.
	w.must(w.Reapply(t.Context(), operator, n.UUID, nil))
	w.work(n.UUID, node.JobReapply)
	w.is(n, node.Enroll, "")
	// And the node goes its way.
	w.must(w.ask(n, node.Manage))
	w.work(n.UUID, node.JobVerify)
	w.is(n, node.Manageable, "")
	n, next := w.inspected(w.node(n))
	w.must(w.post(next.Token, machine(mac, "EB-1", "192.0.2.10", "")))
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
}

func TestTheDriverIsChosenByWhatTheReportTellsOfTheBMC(t *testing.T) {
	for name, c := range map[string]struct {
		bmc, driver string
		given       map[string]any
		want        string
		info        map[string]any
	}{
		"a BMC":              {"192.0.2.10", "", nil, node.DriverRedfish, map[string]any{"redfish_address": "https://192.0.2.10"}},
		"a BMC in IPv6":      {"2001:db8::10", "", nil, node.DriverRedfish, map[string]any{"redfish_address": "https://[2001:db8::10]"}},
		"ipmi is wanted":     {"192.0.2.10", node.DriverIPMI, nil, node.DriverIPMI, map[string]any{"ipmi_address": "192.0.2.10"}},
		"no BMC (G12)":       {"0.0.0.0", "", nil, node.DriverIPMI, map[string]any{}},
		"no BMC is wanted":   {"192.0.2.10", node.DriverFake, nil, node.DriverFake, map[string]any{}},
		"an address is said": {"192.0.2.10", "", map[string]any{"redfish_address": "bmc-7"}, node.DriverRedfish, map[string]any{"redfish_address": "bmc-7"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDiscoveringWorld(t)
			d := w.discovered(machine(mac, "EB-1", c.bmc, ""))
			n, err := w.AcceptMachine(t.Context(), operator, d.UUID, conductor.AcceptRequest{Driver: c.driver, DriverInfo: c.given})
			w.must(err)
			if diff := cmp.Diff(c.info, n.DriverInfo); diff != "" || n.Driver != c.want {
				t.Errorf("driver %s, driver_info (-want +got):\n%s", n.Driver, diff)
			}
		})
	}
}

func TestARefusedAcceptanceLeavesTheMachineWhereItIs(t *testing.T) {
	var conflict *node.Conflict
	var invalid *node.Invalid
	var exists *node.Exists
	for name, c := range map[string]struct {
		prepare func(w *world, d node.Discovered)
		request conductor.AcceptRequest
		more    string
		kind    any
		text    string
	}{
		"a rule fails it": {prepare: func(w *world, _ node.Discovered) { w.rule(failing("not one of ours")) }, kind: &conflict,
			text: "The machine was not accepted: Failed to inspect hardware. Reason: not one of ours"},
		"a hook fails it (G25)":     {more: `,"error":"no disks were found"`, kind: &conflict, text: "Ramdisk reported error: no disks were found"},
		"a name that is none (G59)": {request: conductor.AcceptRequest{Name: "a b"}, kind: &invalid, text: "Cannot create node with invalid name 'a b'"},
		"a driver that is none":     {request: conductor.AcceptRequest{Driver: "magic"}, kind: &invalid, text: "driver magic"},
		"a name that is taken": {prepare: func(w *world, _ node.Discovered) {
			_, err := w.CreateNode(w.t.Context(), operator, node.Node{Name: "taken", Driver: node.DriverFake})
			w.must(err)
		}, request: conductor.AcceptRequest{Name: "taken"}, kind: &exists, text: "A node with name taken already exists."},
		"its MACs have ports by now (G28)": {prepare: func(w *world, _ node.Discovered) { w.portOf(w.enrolled(node.Manageable, "agent")) }, kind: &conflict, text: "its MACs have ports of node"},
		"it is blocked": {prepare: func(w *world, d node.Discovered) {
			w.must(w.DecideOnMachine(w.t.Context(), operator, d.UUID, node.DiscoveredBlocked))
		}, kind: &conflict, text: "is blocked"},
		"it has reported again": {request: conductor.AcceptRequest{ReportAt: time.Unix(1, 0)}, kind: &conflict, text: "has reported again"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDiscoveringWorld(t)
			d := w.discovered(machine(mac, "EB-1", "192.0.2.10", c.more))
			if c.prepare != nil {
				c.prepare(w, d)
			}
			_, err := w.AcceptMachine(t.Context(), operator, d.UUID, c.request)
			if err == nil || !errors.As(err, c.kind) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("the answer is %v", err)
			}
			same(t, "in the waiting room", len(w.waitingRoom()), 1)
			var gone *node.NotFound
			if _, err := w.store.Node(t.Context(), d.UUID); !errors.As(err, &gone) {
				t.Errorf("the node is there: %v", err)
			}
			audits, err := w.store.Audits(t.Context(), d.UUID)
			w.must(err)
			if last := audits[len(audits)-1]; last.Action != "accept discovered machine" || last.Result == "accepted" {
				t.Errorf("audit: %+v", last)
			}
		})
	}
}

func TestAMachineThatIsNotThereCannotBeDecidedAbout(t *testing.T) {
	w := newDiscoveringWorld(t)
	_, accepted := w.AcceptMachine(t.Context(), operator, node.NewUUID(), conductor.AcceptRequest{})
	for _, err := range []error{accepted, w.ForgetMachine(t.Context(), operator, node.NewUUID()), w.DecideOnMachine(t.Context(), operator, node.NewUUID(), node.DiscoveredIgnored)} {
		var missing *node.NotFound
		if !errors.As(err, &missing) {
			t.Errorf("the answer is %v", err)
		}
	}
}
