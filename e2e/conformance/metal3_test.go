package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// metal3Sequence is what Metal3's operator does with a host (contract.md §7.4), in its order.
func metal3Sequence(t *testing.T, w *site) {
	if w.minor < 89 && !w.own {
		t.Skip("Metal3 does not start below 1.89, and this service ends before")
	}
	if list, _ := w.read(t, "/v1/drivers")["drivers"].([]any); len(list) == 0 {
		t.Fatal("there are no drivers")
	}

	t.Log("enrolled with a name of the form namespace~name, and found by UUID, by name, by the address of its port")
	m := w.enrolled(t)
	for _, ident := range []string{m.uuid, m.name} {
		if n := w.read(t, "/v1/nodes/"+ident); n["uuid"] != m.uuid || n["name"] != m.name || n["provision_state"] != "enroll" {
			t.Errorf("%s is %v", ident, n)
		}
	}
	ports, _ := w.read(t, "/v1/ports?address="+url.QueryEscape(strings.ToUpper(m.mac))+"&fields=node_uuid")["ports"].([]any)
	if len(ports) != 1 || ports[0].(doc)["node_uuid"] != m.uuid {
		t.Errorf("its port is found as %v", ports)
	}

	t.Log("managed, patched, inspected")
	m.verb("manage")
	m.waitFor("manageable")
	m.noInventory()
	patch := func() answer { return m.patch("add", "/properties/capabilities", "boot_mode:uefi") }
	if a := patch(); a.status != http.StatusOK {
		t.Fatalf("PATCH properties: %s", a)
	}
	m.inspect()

	t.Log("aborted, and inspected again from there")
	m.abort("1.89")
	m.aborted()
	m.noInventory()
	if a := m.at(t, "latest", "PATCH", m.path(), []doc{{"op": "replace", "path": "/inspect_interface", "value": w.noAbort}}); a.status != http.StatusConflict || !strings.Contains(a.fault(), "inspect_interface") {
		t.Errorf("another inspect interface in `inspect failed`: %s", a)
	}
	if a := patch(); a.status != http.StatusOK {
		t.Fatalf("PATCH properties in `inspect failed`: %s", a)
	}
	if n := m.inspect(); n["last_error"] != nil || n["inspection_started_at"] == nil {
		t.Errorf("inspected again, it is %v since %v", n["last_error"], n["inspection_started_at"])
	}

	t.Log("409 is busy, for everything that would change it")
	t.Run("busy", m.isBusy)
	m.released()

	t.Log("the report, and what Metal3 reads of it")
	callback := w.attemptCallback(t, m.mac)
	if callback == "" {
		callback = w.callback
	}
	if a := post(t, callback, m.report()); a.status != http.StatusAccepted {
		t.Fatalf("the report: %s", a)
	}
	m.waitFor("manageable")
	m.inventory(t)

	t.Log("provided, and deleted through maintenance")
	m.off()
	m.verb("provide")
	m.waitFor("available")
	if a := m.patch("replace", "/maintenance", true); a.status != http.StatusOK {
		t.Errorf("maintenance: %s", a)
	}
	if a := m.insist(t, "latest", "DELETE", m.path(), nil); a.status != http.StatusNoContent {
		t.Errorf("DELETE: %s", a)
	}
	if a := w.at(t, "latest", "GET", m.path(), nil); a.status != http.StatusNotFound {
		t.Errorf("deleted, it is still there: %s", a)
	}
}

func (m *machine) isBusy(t *testing.T) {
	free := m.holdOrSkip(t)
	defer free()
	var all sync.WaitGroup
	for what, c := range map[string]struct {
		method, path string
		body         any
	}{
		"abort":     {"PUT", m.path("states/provision"), doc{"target": "abort"}},
		"PATCH":     {"PATCH", m.path(), []doc{{"op": "add", "path": "/extra/x", "value": "y"}}},
		"power off": {"PUT", m.path("states/power"), doc{"target": "power off"}},
		"DELETE":    {"DELETE", m.path(), nil},
	} {
		all.Go(func() {
			a, err := m.ask(t.Context(), "latest", c.method, c.path, c.body)
			if err != nil || a.status != http.StatusConflict {
				t.Errorf("%s: %s %v, want 409", what, a, err)
			}
		})
	}
	all.Wait()
}

// inventory decodes what is stored with gophercloud's types, as Metal3 does (contract.md §4.6).
func (m *machine) inventory(t *testing.T) {
	t.Helper()
	a := m.at(t, "1.89", "GET", m.path("inventory"), nil)
	var got, posted nodes.InventoryData
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK {
		t.Fatalf("the inventory does not decode: %v: %s", err, a)
	}
	if err := json.Unmarshal(m.report(), &posted); err != nil {
		t.Fatal(err)
	}
	if is, was := fmt.Sprintf("%+v", got.Inventory), fmt.Sprintf("%+v", posted.Inventory); is != was {
		t.Errorf("the inventory is\n%s\nand was posted as\n%s", is, was)
	}
	standard, foreign, err := got.PluginData.GuessFormat()
	if err != nil || standard == nil || foreign != nil || standard.BootInterface != m.mac {
		t.Errorf("the plugin data are %s: %v", got.PluginData.RawMessage, err)
	}
}
