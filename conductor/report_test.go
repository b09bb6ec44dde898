package conductor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

var ramdisk = node.Actor{Source: node.SourceRamdisk, Address: "192.0.2.7"}

func (w *world) post(token node.Secret, body []byte) error {
	_, err := w.Report(w.t.Context(), ramdisk, conductor.ReportRequest{Body: body, Token: token})
	return err
}

func TestReportMakesTheNodeManageableWithPortsPropertiesAndInventory(t *testing.T) {
	for _, c := range []struct {
		name  string
		token func(node.Attempt) node.Secret
		proof node.Proof
	}{
		{"with the token of the attempt", func(a node.Attempt) node.Secret { return a.Token }, node.Proven},
		{"without a token, by its MAC", func(node.Attempt) node.Secret { return "" }, node.NotProven},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := w.enrolled(node.Manageable, "agent")
			w.portOf(n)
			n, a := w.inspected(n)
			w.must(w.post(c.token(a), report("")))
			processing := w.node(n)
			same(t, "state until the hooks have run", processing.ProvisionState, node.Inspecting)
			same(t, "reserved until then", processing.Reserved(), true)
			w.work(n.UUID, node.JobFinish)

			w.is(n, node.Manageable, "")
			now := w.node(n)
			if now.Reserved() || !now.InspectionStartedAt.IsZero() || !now.InspectionFinishedAt.Equal(w.clock.Now()) {
				t.Errorf("reservation %q, started %v, finished %v", now.Reservation, now.InspectionStartedAt, now.InspectionFinishedAt)
			}
			cpus, _ := node.Int(now.Properties["cpus"])
			same(t, "cpus", cpus, 4)
			ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
			w.must(err)
			same(t, "ports", len(ports), 1)
			inv, err := w.store.Inventory(t.Context(), n.UUID)
			w.must(err)
			if inv.AttemptID != a.ID || !strings.Contains(string(inv.Inventory), mac) {
				t.Errorf("inventory of attempt %s: %s", inv.AttemptID, inv.Inventory)
			}
			ended := w.attempt(now)
			same(t, "proof", ended.Proof, c.proof)
			same(t, "outcome", ended.Outcome, node.Succeeded)
			if h := finals(w.history(n)); len(h) != 1 || h[0].Severity != node.SeverityInfo {
				t.Errorf("final history: %+v", h)
			}
		})
	}
}

// G28: who is proven by the token is not doubted for a card that another node had before; without it nobody guesses.
func TestAReportWithAMACOfAnotherNode(t *testing.T) {
	both := []byte(strings.Replace(string(report("")), `"interfaces":[`, `"interfaces":[{"name":"eno2","mac_address":"`+otherMAC+`"},`, 1))
	only := []byte(strings.ReplaceAll(string(report("")), mac, otherMAC))
	for _, c := range []struct {
		name   string
		body   []byte
		proven bool
		taken  bool
	}{
		{"beside its own, with the token", both, true, true},
		{"beside its own, without the token", both, false, false},
		{"alone, with the token", only, true, false},
		{"alone, without the token", only, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			other := w.enrolled(node.Manageable, "agent")
			w.port(other, otherMAC)
			n, a := w.waiting("agent")
			w.portOf(n)
			token := a.Token
			if !c.proven {
				token = ""
			}
			err := w.post(token, c.body)
			if !c.taken {
				if !errors.Is(err, node.ErrNotReported) {
					t.Errorf("the answer is %v", err)
				}
				return
			}
			w.must(err)
			w.work(n.UUID, node.JobFinish)
			w.is(n, node.Manageable, "")
			want := "MAC " + otherMAC + " was reported, but its port belongs to node " + other.UUID + " and stays there"
			if notes := w.attempt(n).Notes; !slices.Contains(notes, want) {
				t.Errorf("the attempt notes %q", notes)
			}
			ports, err := w.store.Ports(t.Context(), node.PortFilter{Addresses: []string{otherMAC}})
			if err != nil || len(ports) != 1 || ports[0].NodeUUID != other.UUID {
				t.Errorf("the port is now %+v, %v", ports, err)
			}
		})
	}
}

func TestReportThatNobodyWaitsForIsRefusedAndCounted(t *testing.T) {
	for _, c := range []struct {
		name string
		prep func(w *world) (node.Node, node.Secret)
	}{
		{"after an abort, with its token (G01)", func(w *world) (node.Node, node.Secret) {
			n, a := w.aborted()
			return n, a.Token
		}},
		{"after an abort, known by its MAC (G01)", func(w *world) (node.Node, node.Secret) {
			n, _ := w.aborted()
			w.portOf(n)
			return n, ""
		}},
		{"of the aborted attempt while the next one waits (G01, G09)", func(w *world) (node.Node, node.Secret) {
			n, a := w.aborted()
			w.inspected(n)
			return n, a.Token
		}},
		{"posted again after it was taken (G19)", func(w *world) (node.Node, node.Secret) {
			n, a := w.waiting("agent")
			w.must(w.post(a.Token, report("")))
			w.work(n.UUID, node.JobFinish)
			return n, a.Token
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, token := c.prep(w)
			before, history := w.node(n), len(w.history(n))
			for range 3 {
				if err := w.post(token, report("")); !errors.Is(err, node.ErrNotReported) {
					t.Fatalf("the answer is %v", err)
				}
				w.clock.advance(time.Second)
			}
			if diff := cmp.Diff(before, w.node(n)); diff != "" {
				t.Errorf("the node changed (-before +after):\n%s", diff)
			}
			all := w.history(n)
			if len(all) != history+1 {
				t.Fatalf("history: %+v", all)
			}
			last := all[len(all)-1]
			same(t, "count", last.Count, 3)
			same(t, "first to last", last.LastAt.Sub(last.At), 2*time.Second)
			if jobs := w.queue.of(n.UUID, node.JobFinish); len(jobs) != 0 {
				t.Errorf("jobs: %+v", jobs)
			}
		})
	}
}

func TestReportWithAForeignTokenIsRefused(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.portOf(n)
	if err := w.post("not-a-token-of-ours", report("")); !errors.Is(err, node.ErrNotReported) {
		t.Errorf("the answer is %v", err)
	}
	w.is(n, node.InspectWait, "")
}

// The token of one attempt does not open another: what comes with it from another server is refused, and told of where the
// token belongs.
func TestReportWithTheTokenOfAnotherAttemptIsRefusedAndRecorded(t *testing.T) {
	for name, request := range map[string]func(other node.Node, a node.Attempt) conductor.ReportRequest{
		"by its MACs": func(_ node.Node, a node.Attempt) conductor.ReportRequest {
			return conductor.ReportRequest{Token: a.Token, Body: []byte(strings.ReplaceAll(string(report("")), mac, otherMAC))}
		},
		"by the node that it names": func(other node.Node, a node.Attempt) conductor.ReportRequest {
			return conductor.ReportRequest{Token: a.Token, Body: report(""), NodeUUID: other.UUID}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, a := w.waiting("agent")
			w.portOf(n)
			other, _ := w.waiting("agent")
			w.port(other, otherMAC)
			for range 2 {
				if _, err := w.Report(t.Context(), ramdisk, request(other, a)); !errors.Is(err, node.ErrNotReported) {
					t.Errorf("the answer is %v", err)
				}
			}
			w.is(n, node.InspectWait, "")
			w.is(other, node.InspectWait, "")
			last := w.history(n)[len(w.history(n))-1]
			if !strings.Contains(last.Event, "came from another server and was refused") || last.Count != 2 || last.Actor.Address != ramdisk.Address {
				t.Errorf("history: %+v", last)
			}
			w.must(w.post(a.Token, report("")))
			w.work(n.UUID, node.JobFinish)
			w.is(n, node.Manageable, "")
		})
	}
}

func TestReportOfARamdiskThatFailedFailsTheInspection(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, a := w.waiting("agent")
	w.must(w.post(a.Token, report(`,"error":"no disks were found"`)))
	w.work(n.UUID, node.JobFinish)
	now := w.node(n)
	same(t, "state", now.ProvisionState, node.InspectFailed)
	if !strings.Contains(now.LastError, "Ramdisk reported error: no disks were found") || strings.Contains(now.LastError, "aborted") {
		t.Errorf("last_error is %q", now.LastError)
	}
	same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 1)
}

func TestReportOfAnExternalInspectorIsFetchedAndFinished(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "inspector")
	w.portOf(n)
	n, _ = w.inspected(n)
	w.foreign.set(func() { w.foreign.state, w.foreign.data = node.RunFinished, report("") })
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
	same(t, "proof", w.attempt(n).Proof, node.NotProven)
}

// What a foreign service stores has not been looked at by anybody here: nonsense must end the attempt, not hold the node.
func TestReportOfAnExternalInspectorThatIsNoReportFailsTheInspection(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() { w.foreign.state, w.foreign.data = node.RunFinished, []byte(`{"message":"nothing here"}`) })
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
	w.work(n.UUID, node.JobFinish)
	now := w.node(n)
	if now.ProvisionState != node.InspectFailed || !strings.HasPrefix(now.LastError, "Failed to finish inspection: ") {
		t.Errorf("the node is %q: %q", now.ProvisionState, now.LastError)
	}
}

func TestBootingIsOnlyWhoIsBeingInspected(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.portOf(n)
	var gone *node.NotFound
	if _, _, err := w.Booting(t.Context(), mac); !errors.As(err, &gone) {
		t.Errorf("before an inspection: %v", err)
	}
	n, a := w.inspected(n)
	got, attempt, err := w.Booting(t.Context(), mac)
	if err != nil || got.UUID != n.UUID || attempt.ID != a.ID {
		t.Errorf("while it waits: %s, %s, %v", got.UUID, attempt.ID, err)
	}
	w.must(w.ask(n, node.Abort))
	if _, _, err := w.Booting(t.Context(), mac); !errors.As(err, &gone) {
		t.Errorf("after the abort: %v", err)
	}
}
