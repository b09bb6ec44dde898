package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const abortedText = "Inspection was aborted by request."

// abort has to be accepted at a version.
func (m *machine) abort(version string) answer {
	m.t.Helper()
	a := m.insist(m.t, version, "PUT", m.path("states/provision"), doc{"target": "abort"})
	if a.status != http.StatusAccepted {
		m.t.Fatalf("abort at %s: %s", version, a)
	}
	return a
}

// aborted holds the node to what it is at the very moment at which an abort has been answered (contract.md §2.7).
func (m *machine) aborted() {
	m.t.Helper()
	n := m.node()
	wanted := doc{
		"provision_state": "inspect failed", "target_provision_state": "manageable", "reservation": nil, "inspection_started_at": nil, "inspection_finished_at": nil,
	}
	for field, want := range wanted {
		if n[field] != want {
			m.t.Errorf("aborted, its %s is %v, want %v", field, n[field], want)
		}
	}
	if text := fmt.Sprint(n["last_error"]); !strings.Contains(text, "aborted") || !strings.HasPrefix(text, abortedText) {
		m.t.Errorf("aborted, its last_error is %q", text)
	}
	if n["power_state"] != "power off" && n["target_power_state"] != "power off" {
		m.t.Errorf("aborted, it is %v and goes to %v", n["power_state"], n["target_power_state"])
	}
}

// off waits for the end of what follows an abort.
func (m *machine) off() {
	m.t.Helper()
	m.until(m.t, m.name+" off", func() bool {
		n := m.node()
		return n["power_state"] == "power off" && n["target_power_state"] == nil && n["reservation"] == nil
	})
	if m.server != nil && m.server.Power() != "power off" {
		m.t.Errorf("the node says off, and the server is %s", m.server.Power())
	}
}

// count is how many entries of the history say something.
func count(history []any, event string) (n int) {
	for _, e := range history {
		if e.(doc)["event"] == event {
			n++
		}
	}
	return n
}

func abortInInspectWait(t *testing.T, w *site) {
	m := w.waiting(t)
	before := m.remember()
	if a := m.try("1.40", "abort"); a.status != http.StatusNotAcceptable || a.fault() != "Request not acceptable." {
		t.Errorf("at 1.40: %s", a)
	}
	m.unchanged("refused at 1.40", before)

	a := m.abort("1.41")
	m.aborted()
	if location := a.header.Get("Location"); !strings.HasSuffix(location, m.path("states")) || !strings.HasPrefix(location, "http") {
		t.Errorf("Location %q", location)
	}
	if len(a.body) != 0 || a.header.Get("Content-Type") != "" {
		t.Errorf("the answer's body is %q of type %q", a.body, a.header.Get("Content-Type"))
	}
	if version := a.header.Get("X-OpenStack-Ironic-API-Version"); version != "1.41" {
		t.Errorf("the version of the answer is %q", version)
	}
	if h := m.history(); m.minor >= 78 && count(h, abortedText) != 1 {
		t.Errorf("the history is %v", h)
	}
	m.off()
	if a := m.try("1.41", "abort"); a.status != http.StatusBadRequest || a.fault() != cannot("abort", m.uuid, "inspect failed") {
		t.Errorf("a second abort: %s", a)
	}

	if w.free == nil {
		return // what follows needs a BMC whose other side is in our hands
	}
	t.Run("ours: answered while the BMC is dead", func(t *testing.T) {
		m := w.waiting(t)
		m.hang()
		if a := m.abort("1.41"); a.took > 5*time.Second {
			t.Errorf("it took %s", a.took)
		}
		m.aborted()
		m.heal()
		m.off()
	})
	t.Run("ours: the word aborted outlives a power sync", func(t *testing.T) {
		m.server.SetPower("power on")
		m.until(t, "a power sync", func() bool { return m.node()["power_state"] == "power on" })
		if text := fmt.Sprint(m.node()["last_error"]); !strings.HasPrefix(text, abortedText) {
			t.Errorf("afterwards last_error is %q", text)
		}
	})
}

// cannot is the sentence for a verb that the state does not allow (contract.md §2.4).
func cannot(verb, uuid, state string) string {
	return fmt.Sprintf("The requested action %q can not be performed on node %q while it is in state %q.", verb, uuid, state)
}

func versionsAndStates(t *testing.T, w *site) {
	m := w.enrolled(t)
	m.verb("manage")
	m.waitFor("manageable")
	refuse := func(version, verb string, status int, text string) {
		t.Helper()
		before := m.remember()
		if a := m.try(version, verb); a.status != status || a.fault() != text {
			t.Errorf("%s at %s in %v: %s, want %d %q", verb, version, before.node["provision_state"], a, status, text)
		}
		m.unchanged(verb+" at "+version, before)
	}
	const tooOld = "Request not acceptable."
	t.Log("manageable: the state is looked at before 1.41, and after 1.13")
	refuse("1.40", "abort", 400, cannot("abort", m.uuid, "manageable"))
	refuse("1.41", "abort", 400, cannot("abort", m.uuid, "manageable"))
	refuse("1.12", "abort", 406, tooOld)
	refuse("latest", "dance", 400, cannot("dance", m.uuid, "manageable"))

	t.Log("inspect wait")
	m.inspect()
	refuse("1.12", "abort", 406, tooOld)
	refuse("1.13", "abort", 406, tooOld)
	refuse("1.40", "abort", 406, tooOld)
	refuse("latest", "dance", 400, cannot("dance", m.uuid, "inspect wait"))
	refuse("latest", "provide", 400, cannot("provide", m.uuid, "inspect wait"))

	t.Log("inspect failed")
	m.abort("1.41")
	refuse("1.12", "abort", 406, tooOld)
	refuse("1.40", "abort", 400, cannot("abort", m.uuid, "inspect failed"))

	t.Log("a node that is not there")
	nobody := "3b6d8c1e-0d0f-4c53-9a39-6f5f2d1b7a10"
	for _, version := range []string{"1.12", "1.40", "1.41", "latest"} {
		for _, verb := range []string{"abort", "dance"} {
			if a := w.at(t, version, "PUT", "/v1/nodes/"+nobody+"/states/provision", doc{"target": verb}); a.status != 404 || a.fault() != "Node "+nobody+" could not be found." {
				t.Errorf("%s at %s: %s", verb, version, a)
			}
		}
	}
}

func interfaceWithoutAbort(t *testing.T, w *site) {
	m := w.waiting(t)
	if a := m.patch("replace", "/inspect_interface", w.noAbort); a.status != http.StatusOK {
		t.Fatalf("inspect_interface %s: %s", w.noAbort, a)
	}
	before := m.remember()
	want := "Driver " + w.driver + " does not support abort (disabled or not implemented)."
	if a := m.insist(t, "1.41", "PUT", m.path("states/provision"), doc{"target": "abort"}); a.status != http.StatusBadRequest || a.fault() != want {
		t.Errorf("%s, want 400 %q", a, want)
	}
	m.unchanged("refused", before)
	if a := m.patch("replace", "/inspect_interface", w.inspect); a.status != http.StatusOK {
		t.Fatalf("inspect_interface %s: %s", w.inspect, a)
	}
	m.abort("1.41")
	m.aborted()
}

// held lets a power request of a slow BMC hold the node, and tells whether it does; free lets it go.
func (m *machine) held() (free func(), ok bool) {
	m.t.Helper()
	free = func() {}
	switch {
	case m.server != nil:
		m.hang()
		free = m.heal
	case m.driver == "fake-hardware": // ours answers late then, others do not mind
		if a := m.patch("add", "/driver_info/fake_answer_delay", 4); a.status != http.StatusOK {
			m.t.Fatalf("fake_answer_delay: %s", a)
		}
		m.delayed = true
	}
	if a := m.insist(m.t, "latest", "PUT", m.path("states/power"), doc{"target": "rebooting"}); a.status != http.StatusAccepted {
		m.t.Fatalf("rebooting: %s", a)
	}
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m.node()["reservation"] == nil {
			continue
		}
		time.Sleep(time.Second) // a BMC that is not slow has let it go by now
		if m.node()["reservation"] != nil {
			return free, true
		}
		break
	}
	free()
	return free, false
}

// holdOrSkip is held for a test that can do nothing without.
func (m *machine) holdOrSkip(t *testing.T) (free func()) {
	t.Helper()
	free, ok := m.held()
	if ok {
		return free
	}
	if m.own {
		t.Fatal("nothing holds the node")
	}
	t.Skip("nothing held the node long enough to be seen, so this is NOT tested: its BMC has to be slow (see doc.go)")
	return free
}

// released waits until nobody holds the node, and its BMC answers at once again.
func (m *machine) released() {
	m.t.Helper()
	m.until(m.t, m.name+" free", func() bool { return m.node()["reservation"] == nil })
	if m.delayed {
		if a := m.patch("remove", "/driver_info/fake_answer_delay", nil); a.status != http.StatusOK {
			m.t.Fatalf("fake_answer_delay: %s", a)
		}
		m.delayed = false
	}
}

func locksAndCrowds(t *testing.T, w *site) {
	t.Run("a held node is 409 within about 2.5 s", func(t *testing.T) {
		m := w.waiting(t)
		free := m.holdOrSkip(t)
		defer free()
		a := m.try("1.41", "abort")
		if text := a.fault(); a.status != http.StatusConflict || !strings.HasPrefix(text, "Node "+m.uuid+" is locked by host ") || !strings.HasSuffix(text, ", please retry after the current operation is completed.") {
			t.Errorf("%s", a)
		}
		if a.took > 5*time.Second { // with room for a busy machine
			t.Errorf("it took %s", a.took)
		}
		if n := m.node(); n["provision_state"] != "inspect wait" || n["last_error"] != nil {
			t.Errorf("the node is %v: %v", n["provision_state"], n["last_error"])
		}
		free()
		m.released()
		m.abort("1.41") // nothing is left of the refusal
		m.aborted()
	})
	t.Run("of five parallel aborts one is accepted", func(t *testing.T) {
		m := w.waiting(t)
		var (
			mu       sync.Mutex
			statuses = map[int]int{}
			all      sync.WaitGroup
			begin    = make(chan struct{})
		)
		for range 5 {
			all.Go(func() {
				<-begin
				a, err := m.ask(t.Context(), "1.41", "PUT", m.path("states/provision"), doc{"target": "abort"})
				mu.Lock()
				defer mu.Unlock()
				statuses[a.status]++
				if err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
		if statuses[202] != 1 || statuses[400]+statuses[409] != 4 {
			t.Errorf("the answers were %v", statuses)
		}
		m.aborted()
		if h := m.history(); m.minor >= 78 && count(h, abortedText) != 1 {
			t.Errorf("the history is %v", h)
		}
	})
}
