package conductor_test

import (
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

const mac = "02:00:5e:00:00:01"

// enrolled makes a node in a state that needs no attempt.
func (w *world) enrolled(state node.State, inspect string) node.Node {
	w.t.Helper()
	n, err := w.CreateNode(w.t.Context(), node.System(), node.Node{
		Driver: node.DriverRedfish, ProvisionState: state, PowerState: node.PowerOff, Interfaces: node.Interfaces{Inspect: inspect},
		DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10", "redfish_username": "admin", "redfish_password": "not-a-real-one"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) ask(n node.Node, verb node.Event) error {
	return w.SetProvisionState(w.t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: string(verb)})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// inspected starts an inspection and brings it to `inspect wait`, by the verb and its job.
func (w *world) inspected(n node.Node) (node.Node, node.Attempt) {
	w.t.Helper()
	w.must(w.ask(n, node.Inspect))
	w.work(n.UUID, node.JobStart)
	n = w.node(n)
	if n.ProvisionState != node.InspectWait || n.Reserved() {
		w.t.Fatalf("the node is %s (%s), reserved by %q", n.ProvisionState, n.LastError, n.Reservation)
	}
	return n, w.attempt(n)
}

// waiting is a node in `inspect wait`.
func (w *world) waiting(inspect string) (node.Node, node.Attempt) {
	w.t.Helper()
	return w.inspected(w.enrolled(node.Manageable, inspect))
}

// aborted is a node whose inspection has been aborted; its BMC has not been asked yet.
func (w *world) aborted() (node.Node, node.Attempt) {
	w.t.Helper()
	n, _ := w.waiting("agent")
	w.must(w.ask(n, node.Abort))
	n = w.node(n)
	return n, w.attempt(n)
}

func (w *world) node(n node.Node) node.Node {
	w.t.Helper()
	n, err := w.store.Node(w.t.Context(), n.UUID)
	w.must(err)
	return n
}

func (w *world) attempt(n node.Node) node.Attempt {
	w.t.Helper()
	a, err := w.store.Attempt(w.t.Context(), n.AttemptID)
	w.must(err)
	return a
}

func (w *world) history(n node.Node) []node.History {
	w.t.Helper()
	h, err := w.store.History(w.t.Context(), n.UUID, node.Page{})
	w.must(err)
	return h
}

// lastAudit is what was noted of the latest request.
func (w *world) lastAudit(n node.Node) node.Audit {
	w.t.Helper()
	a, err := w.store.Audits(w.t.Context(), n.UUID)
	w.must(err)
	if len(a) == 0 {
		w.t.Fatal("there is no audit")
	}
	return a[len(a)-1]
}

// is fails unless the node is in the state and its last_error reads so.
func (w *world) is(n node.Node, state node.State, lastError string) {
	w.t.Helper()
	n = w.node(n)
	if n.ProvisionState != state || n.LastError != lastError {
		w.t.Errorf("the node is %q with last_error %q; want %q with %q", n.ProvisionState, n.LastError, state, lastError)
	}
}

func finals(all []node.History) (out []node.History) {
	for _, h := range all {
		if h.Final {
			out = append(out, h)
		}
	}
	return out
}

func report(body string) []byte {
	return []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"` + mac + `","ipv4_address":"192.0.2.7","has_carrier":true}],
		"cpu":{"architecture":"x86_64","count":4},"memory":{"physical_mb":4096},"disks":[]}` + body + `}`)
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
