package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func lateReports(t *testing.T, w *site) {
	m := w.waiting(t)
	oldCallback := w.attemptCallback(t, m.mac)
	m.abort("1.41")
	m.aborted()
	before := m.remember()

	t.Log("after the abort")
	for _, callback := range []string{w.callback, oldCallback} {
		if callback == "" {
			continue
		}
		if a := post(t, callback, m.report()); a.status != http.StatusNotFound || a.fault() != "Resource could not be found." {
			t.Errorf("a report after the abort: %s", a)
		}
	}
	m.sameNode("a late report", before, m.remember()) // the history may tell of it
	m.noInventory()

	t.Log("after the next inspection has begun")
	m.inspect()
	newCallback := w.attemptCallback(t, m.mac)
	t.Run("ours: a report of the old attempt is not taken for the new one", func(t *testing.T) {
		if oldCallback == "" {
			if w.own {
				t.Fatal("the boot script does not say which attempt it is of")
			}
			t.Skip("KNOWN WEAKNESS, NOT tested: this service does not tell attempts apart, so a ramdisk that an abort has left running reports for the next inspection (contract.md §9, 5)")
		}
		if newCallback == oldCallback || newCallback == "" {
			t.Fatal("both attempts are told the same callback")
		}
		if a := post(t, oldCallback, m.report()); a.status != http.StatusNotFound || a.fault() != "Resource could not be found." {
			t.Errorf("%s", a)
		}
		if n := m.node(); n["provision_state"] != "inspect wait" || n["last_error"] != nil {
			t.Errorf("the node is %v: %v", n["provision_state"], n["last_error"])
		}
		m.noInventory()
	})
	t.Run("ours: late reports leave a trace", func(t *testing.T) {
		if m.minor < 78 && !m.own {
			t.Skip("this service is too old for a history")
		}
		if h := m.history(); count(h, "A report of an inspection that is over was refused.") != 1 {
			t.Errorf("the history is %v", h)
		}
	})

	t.Log("the new attempt's own report")
	if newCallback == "" {
		newCallback = w.callback
	}
	a := post(t, newCallback, m.report())
	var said struct{ UUID string }
	if err := json.Unmarshal(a.body, &said); a.status != http.StatusAccepted || err != nil || said.UUID != m.uuid {
		t.Errorf("%s", a)
	}
	m.waitFor("manageable")
	if a := post(t, newCallback, m.report()); a.status != http.StatusNotFound {
		t.Errorf("a second report of the same run: %s", a)
	}
}

// noInventory is "never inspected" to a program.
func (m *machine) noInventory() {
	m.t.Helper()
	if m.minor < 81 {
		return
	}
	if a := m.at(m.t, "latest", "GET", m.path("inventory"), nil); a.status != http.StatusNotFound || !strings.HasPrefix(a.fault(), "Node inventory record for node ") {
		m.t.Errorf("the inventory: %s", a)
	}
}

func viewsOfOlderVersions(t *testing.T, w *site) {
	m := w.waiting(t)
	shown := func(version, path string) (states []string) {
		t.Helper()
		d := w.readAt(t, version, path)
		list, ok := d["nodes"].([]any)
		if !ok {
			list = []any{d}
		}
		for _, one := range list {
			if n := one.(doc); n["uuid"] == nil || n["uuid"] == m.uuid {
				states = append(states, fmt.Sprint(n["provision_state"]))
			}
		}
		return states
	}
	for version, want := range map[string]string{"1.38": "inspecting", "1.9": "inspecting", "1.39": "inspect wait", "latest": "inspect wait"} {
		for _, path := range []string{
			m.path(), m.path("states"), "/v1/nodes?limit=1000", "/v1/nodes/detail?limit=1000", m.path() + "?fields=uuid,provision_state", "/v1/nodes?fields=uuid,provision_state&limit=1000",
			"/v1/nodes?provision_state=inspect%20wait&limit=1000",
		} {
			if got := shown(version, path); len(got) != 1 || got[0] != want {
				t.Errorf("%s at %s: %q, want %q", path, version, got, want)
			}
		}
	}
	m.abort("1.41")
	if got := shown("1.38", m.path()); got[0] != "inspect failed" {
		t.Errorf("aborted, at 1.38 it is %q", got)
	}
}
