package conformance_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
)

// site is where the tests take their servers from, all with the same driver.
type site struct {
	*service
	driver, inspect, noAbort string
	info                     doc // driver_info of a BMC that is already there

	free []*sim.Server // simulated ones that no test has yet
	idle []*machine    // in `inspect wait`, made together because that takes as long as making one
}

// simulated tells whether the suite brings BMCs for a driver.
func simulated(driver string) bool { return driver == "redfish" || driver == "ipmi" }

func newSite(t *testing.T, s *service, driver string) *site {
	t.Helper()
	w := &site{service: s, driver: driver, inspect: setting("INSPECT_INTERFACE", "agent"), noAbort: setting("NO_ABORT_INTERFACE", "no-inspect")}
	if text := setting("DRIVER_INFO", ""); text != "" {
		if err := json.Unmarshal([]byte(text), &w.info); err != nil {
			t.Fatalf("CAGENUT_CONFORMANCE_DRIVER_INFO: %v", err)
		}
	}
	if w.info != nil || !simulated(driver) {
		return w
	}
	const servers = 12
	o := sim.Options{Servers: servers, Silent: servers, FirstAddress: setting("BMC_ADDRESS", "")}
	if driver == "ipmi" {
		o.IPMI = servers
	}
	rack, err := sim.Start(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rack.Close(); err != nil {
			t.Error(err)
		}
	})
	w.free = rack.Servers()
	return w
}

// machine is an enrolled node, and the simulated server behind it where there is one.
type machine struct {
	*site
	t      *testing.T
	uuid   string
	name   string
	mac    string
	server *sim.Server // nil where the suite has brought none
	// delayed says that fake-hardware has been told to answer late.
	delayed bool
}

// enrolled is a new node in `enroll` that is gone when the test is over.
func (w *site) enrolled(t *testing.T) *machine {
	t.Helper()
	m := &machine{site: w, t: t, name: "conformance~" + strings.ToLower(rand.Text()[:12])}
	b := make([]byte, 4)
	rand.Read(b)
	m.mac = fmt.Sprintf("02:cf:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
	info := doc{}
	for k, v := range w.info {
		info[k] = v
	}
	if w.free != nil {
		if len(w.free) == 0 {
			t.Fatal("the suite has brought too few servers")
		}
		m.server, w.free = w.free[0], w.free[1:]
		info = m.server.DriverInfo()
	}
	made := w.must(t, "POST", "/v1/nodes", doc{"name": m.name, "driver": w.driver, "driver_info": info, "inspect_interface": w.inspect})
	m.uuid = fmt.Sprint(made["uuid"])
	if !w.own { // our own goes as a whole
		t.Cleanup(m.remove)
	}
	w.must(t, "POST", "/v1/ports", doc{"node_uuid": m.uuid, "address": m.mac})
	return m
}

// remove takes the node away, whatever state a failed test has left it in.
func (m *machine) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), m.patience)
	defer cancel()
	if m.server != nil {
		m.heal()
	}
	for ctx.Err() == nil {
		_, _ = m.ask(ctx, "latest", "PUT", m.path("maintenance"), doc{"reason": "the conformance test is over"})
		a, err := m.ask(ctx, "latest", "DELETE", m.path(), nil)
		if err == nil && (a.status == http.StatusNoContent || a.status == http.StatusNotFound) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	m.t.Errorf("%s could not be removed", m.name)
}

// hang lets the server's simulated BMC answer nothing any more, until heal.
func (m *machine) hang() { m.server.SetFaults(sim.Faults{Hang: true}) }

func (m *machine) heal() { m.server.SetFaults(sim.Faults{}) }

func (m *machine) path(below ...string) string {
	return "/v1/nodes/" + strings.Join(append([]string{m.uuid}, below...), "/")
}

func (m *machine) node() doc { m.t.Helper(); return m.read(m.t, m.path()) }

// verb asks for a verb that has to be accepted.
func (m *machine) verb(target string) {
	m.t.Helper()
	if a := m.insist(m.t, "latest", "PUT", m.path("states/provision"), doc{"target": target}); a.status != http.StatusAccepted {
		m.t.Fatalf("%s: %s", target, a)
	}
}

// try asks for a verb at a version, once.
func (m *machine) try(version, target string) answer {
	m.t.Helper()
	return m.at(m.t, version, "PUT", m.path("states/provision"), doc{"target": target})
}

func (m *machine) waitFor(state string) doc {
	m.t.Helper()
	var n doc
	m.until(m.t, m.name+" in "+state, func() bool {
		n = m.node()
		return n["provision_state"] == state
	})
	return n
}

// patch changes one field.
func (m *machine) patch(op, path string, value any) answer {
	m.t.Helper()
	return m.insist(m.t, "latest", "PATCH", m.path(), []doc{{"op": op, "path": path, "value": value}})
}

// prepare makes nodes in `inspect wait` for the tests to come.
func (w *site) prepare(t *testing.T, nodes int) {
	t.Helper()
	for range nodes {
		w.idle = append(w.idle, w.enrolled(t))
	}
	for _, step := range []struct{ verb, state string }{{"manage", "manageable"}, {"inspect", "inspect wait"}} {
		for _, m := range w.idle {
			m.verb(step.verb)
		}
		for _, m := range w.idle {
			m.waitFor(step.state)
		}
	}
}

// waiting is a node in `inspect wait` that no other test has.
func (w *site) waiting(t *testing.T) *machine {
	t.Helper()
	if len(w.idle) == 0 {
		w.prepare(t, 1)
	}
	m := *w.idle[0]
	w.idle = w.idle[1:]
	m.t = t
	return &m
}

func (m *machine) inspect() doc {
	m.t.Helper()
	m.verb("inspect")
	return m.waitFor("inspect wait")
}

// history are the node's entries, oldest first; nil where the service is too old to have any.
func (m *machine) history() []any {
	m.t.Helper()
	if m.minor < 78 {
		return nil
	}
	list, ok := m.read(m.t, m.path("history?detail=true"))["history"].([]any)
	if !ok {
		m.t.Fatal("the history is no list")
	}
	return list
}

// memory is what has to stay as it is when something is refused: the whole node but for what a power sync may touch, and
// its history.
type memory struct {
	node    doc
	history []any
}

func (m *machine) remember() memory {
	m.t.Helper()
	n := m.node()
	for _, key := range []string{"updated_at", "power_state", "target_power_state"} {
		delete(n, key)
	}
	return memory{n, m.history()}
}

// unchanged holds the node and its history to what they were.
func (m *machine) unchanged(what string, before memory) {
	m.t.Helper()
	after := m.remember()
	m.sameNode(what, before, after)
	if len(before.history) != len(after.history) {
		m.t.Errorf("%s: the history had %d entries and has %d", what, len(before.history), len(after.history))
	}
}

func (m *machine) sameNode(what string, before, after memory) {
	m.t.Helper()
	for key := range after.node {
		if was, is := fmt.Sprint(before.node[key]), fmt.Sprint(after.node[key]); was != is {
			m.t.Errorf("%s: %s was %s and is %s", what, key, was, is)
		}
	}
}

// report is what the server's ramdisk would post (contract.md §6.2).
func (m *machine) report() []byte {
	return []byte(`{"inventory": {
		"interfaces": [{"name": "eno1", "mac_address": "` + m.mac + `", "ipv4_address": "192.0.2.7", "ipv6_address": null, "has_carrier": true, "lldp": null,
			"vendor": "0x8086", "product": "0x1563", "client_id": null, "biosdevname": null, "speed_mbps": 10000, "pci_address": "0000:3b:00.0"}],
		"cpu": {"model_name": "Example Edge CPU 4310", "frequency": "3300.0000", "count": 24, "architecture": "x86_64", "flags": ["fpu", "vmx"]},
		"disks": [{"name": "/dev/sda", "model": "EXAMPLE HDD 4T", "size": 4000787030016, "rotational": true, "wwn": null, "serial": "SIM0001", "vendor": null,
			"wwn_with_extension": null, "wwn_vendor_extension": null, "hctl": "0:0:0:0", "by_path": null}],
		"memory": {"total": 67645734912, "physical_mb": 65536}, "bmc_address": null, "bmc_v6address": "::/0",
		"system_vendor": {"product_name": "EdgeBox 100", "serial_number": "SIM0001", "manufacturer": "Example Corp",
			"firmware": {"vendor": "Example BIOS", "version": "1.2.3", "build_date": "05/01/2026"}},
		"boot": {"current_boot_mode": "uefi", "pxe_interface": "` + m.mac + `"}, "hostname": "localhost.localdomain"},
		"boot_interface": "` + m.mac + `", "root_disk": null, "configuration": {"collectors": ["default"], "managers": []}, "error": null}`)
}
