package conductor_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

const (
	agentURL = "https://192.0.2.40:9999"
	otherMAC = "02:00:5e:00:00:02"
)

func (w *world) lookup(req conductor.LookupRequest) (node.Node, node.Secret, error) {
	return w.Lookup(w.t.Context(), ramdisk, req)
}

// token is the token that a first lookup discloses.
func (w *world) token(n node.Node) node.Secret {
	w.t.Helper()
	_, token, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 96})
	w.must(err)
	return token
}

func (w *world) beat(n node.Node, token node.Secret, change ...func(*conductor.HeartbeatRequest)) error {
	req := conductor.HeartbeatRequest{NodeUUID: n.UUID, CallbackURL: agentURL, AgentVersion: "10.1.0", Token: token, Minor: 96}
	for _, c := range change {
		c(&req)
	}
	return w.Heartbeat(w.t.Context(), ramdisk, req)
}

func (w *world) port(n node.Node, address string) {
	w.t.Helper()
	_, err := w.CreatePort(w.t.Context(), operator, node.Port{NodeUUID: n.UUID, Address: address})
	w.must(err)
}

func TestARamdiskFindsItsNodeByItsMACsOrItsUUID(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.port(n, mac)
	idle := w.enrolled(node.Manageable, "agent")
	w.port(idle, otherMAC)
	for what, c := range map[string]struct {
		req   conductor.LookupRequest
		found bool
	}{
		"its MAC":                           {conductor.LookupRequest{MACs: []string{mac}}, true},
		"its MAC in capitals, among others": {conductor.LookupRequest{MACs: []string{"nonsense", strings.ToUpper(mac), "02:00:5e:00:00:99"}}, true},
		"its UUID":                          {conductor.LookupRequest{NodeUUID: n.UUID}, true},
		"its UUID and the MAC of another":   {conductor.LookupRequest{NodeUUID: n.UUID, MACs: []string{otherMAC}}, true},
		"an unknown MAC":                    {conductor.LookupRequest{MACs: []string{"02:00:5e:00:00:99"}}, false},
		"an unknown UUID":                   {conductor.LookupRequest{NodeUUID: node.NewUUID()}, false},
		"a name":                            {conductor.LookupRequest{NodeUUID: "rack1"}, false},
		"the MACs of two nodes":             {conductor.LookupRequest{MACs: []string{mac, otherMAC}}, false},
		"a node that is not inspected":      {conductor.LookupRequest{MACs: []string{otherMAC}}, false},
		"that node's UUID":                  {conductor.LookupRequest{NodeUUID: idle.UUID}, false},
	} {
		c.req.Minor = 61
		got, token, err := w.lookup(c.req)
		if c.found && (err != nil || got.UUID != n.UUID) || !c.found && !errors.Is(err, node.ErrNotReported) {
			t.Errorf("%s: %s, %v", what, got.UUID, err)
		}
		if errors.As(err, new(*node.NotFound)) {
			t.Errorf("%s: the miss shows: %v", what, err)
		}
		if token != "" {
			t.Errorf("%s: a token below 1.62", what)
		}
	}
	for _, macs := range [][]string{nil, {"nonsense"}} {
		_, _, err := w.lookup(conductor.LookupRequest{MACs: macs, Minor: 96})
		refusedAs[*node.Invalid](t, "nothing to look up", err, "At least one of 'addresses' and 'node_uuid' parameters is required")
	}
}

func TestATokenIsToldOncePerBoot(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	first := w.token(n)
	if len(first) != 43 || first == node.Mask {
		t.Errorf("the token has %d characters", len(first))
	}
	same(t, "kept", node.Secret(w.node(n).DriverInternalInfo["agent_secret_token"].(string)), first)
	for _, minor := range []int{61, 62, 96} {
		_, again, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: minor})
		w.must(err)
		if string(again) != node.Mask {
			t.Errorf("1.%d: told again", minor)
		}
	}
	w.held(w.node(n))
	if _, again, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 96}); err != nil || string(again) != node.Mask {
		t.Errorf("of a held node that has one: %v", err)
	}
}

func TestMakingATokenNeedsAFreeNode(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.held(n)
	_, _, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 62})
	refusedAs[*node.Locked](t, "held", err, "Node "+n.UUID+" is locked by host rack-9, please retry after the current operation is completed.")
	if _, _, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 61}); err != nil {
		t.Errorf("without a token: %v", err)
	}
}

func TestOfTenLookupsAtOnceOneLearnsTheToken(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	told := make(chan node.Secret, 10)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			_, token, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 96})
			if err != nil {
				t.Error(err)
			}
			if string(token) != node.Mask {
				told <- token
			}
		})
	}
	all.Wait()
	close(told)
	if len(told) != 1 {
		t.Fatalf("%d learnt a token", len(told))
	}
	w.must(w.beat(n, <-told))
}

func TestAHeartbeatIsRememberedAndMovesNothing(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	token := w.token(n)
	w.clock.advance(time.Minute)
	w.must(w.beat(n, token, func(r *conductor.HeartbeatRequest) {
		r.VerifyCA, r.Status, r.StatusMessage = "-----BEGIN CERTIFICATE-----", "start", "hello"
	}))
	now := w.node(n)
	for key, want := range map[string]any{
		"agent_url": agentURL, "agent_version": "10.1.0", "agent_verify_ca": "-----BEGIN CERTIFICATE-----", "agent_status": "start", "agent_status_message": "hello",
		"agent_last_heartbeat": w.clock.Now().Format(time.RFC3339Nano),
	} {
		same(t, key, now.DriverInternalInfo[key], want)
	}
	same(t, "state", now.ProvisionState, node.InspectWait)
	same(t, "since", now.ProvisionUpdatedAt, n.ProvisionUpdatedAt)
	same(t, "history", len(w.history(n)), 0)
	w.must(w.beat(n, token)) // by UUID, again, the same
	w.must(w.beat(node.Node{UUID: n.UUID}, token, func(r *conductor.HeartbeatRequest) { r.VerifyCA = "-----BEGIN CERTIFICATE-----\n" }))
}

func TestAHeartbeatThatIsNotTheRamdisksOwnIsRefused(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	token := w.token(n)
	w.must(w.beat(n, token, func(r *conductor.HeartbeatRequest) { r.VerifyCA = "a" }))
	before := w.node(n)
	for what, c := range map[string]struct {
		change func(*conductor.HeartbeatRequest)
		text   string
	}{
		"without a token":            {func(r *conductor.HeartbeatRequest) { r.Token = "" }, "Agent token is required for heartbeat processing."},
		"with another token":         {func(r *conductor.HeartbeatRequest) { r.Token = "another" }, "Invalid or missing agent token received."},
		"with the mask as its token": {func(r *conductor.HeartbeatRequest) { r.Token = node.Mask }, "Invalid or missing agent token received."},
		"without a version": {func(r *conductor.HeartbeatRequest) { r.AgentVersion = "" },
			"Agent did not transmit a version, and a version is required. Please update the agent being used."},
		"from another address":          {func(r *conductor.HeartbeatRequest) { r.CallbackURL = "https://192.0.2.66:9999" }, `Detected change in ramdisk provided "callback_url"`},
		"from no address any more":      {func(r *conductor.HeartbeatRequest) { r.CallbackURL = "" }, `Detected change in ramdisk provided "callback_url"`},
		"with another certificate":      {func(r *conductor.HeartbeatRequest) { r.VerifyCA = "b" }, `Detected change in ramdisk provided "agent_verify_ca"`},
		"from no URL":                   {func(r *conductor.HeartbeatRequest) { r.CallbackURL = "ftp://192.0.2.40" }, `An issue with the supplied "callback_url" has been detected.`},
		"from a URL without a host":     {func(r *conductor.HeartbeatRequest) { r.CallbackURL = "https:///x" }, `An issue with the supplied "callback_url" has been detected.`},
		"with an unknown status":        {func(r *conductor.HeartbeatRequest) { r.Status = "tired" }, "Agent status is invalid. Valid states are start,end,error."},
		"with a version below 1.36":     {func(r *conductor.HeartbeatRequest) { r.Minor = 35 }, `Field "agent_version" not recognised`},
		"with a certificate below 1.68": {func(r *conductor.HeartbeatRequest) { r.Minor, r.VerifyCA = 67, "a" }, `Field "agent_verify_ca" not recognised in this version`},
		"with a status below 1.72":      {func(r *conductor.HeartbeatRequest) { r.Minor, r.Status = 71, "end" }, `Fields "agent_status" and "agent_status_message" not recognised.`},
		"that is too long":              {func(r *conductor.HeartbeatRequest) { r.StatusMessage = strings.Repeat("x", 70<<10) }, "A heartbeat may have 65536 bytes at most."},
	} {
		refusedAs[*node.Invalid](t, what, w.beat(n, token, c.change), c.text)
	}
	refusedAs[*node.NotFound](t, "of nobody", w.beat(node.Node{UUID: "nobody"}, token), "Node nobody could not be found.")
	same(t, "updated_at", w.node(n).UpdatedAt, before.UpdatedAt)

	other, _ := w.waiting("agent")
	refusedAs[*node.Invalid](t, "of a node that has no token", w.beat(other, token), "Invalid or missing agent token received.")
	refusedAs[*node.Invalid](t, "without TLS", w.beat(other, w.token(other), func(r *conductor.HeartbeatRequest) { r.CallbackURL = "http://192.0.2.40:9999" }),
		"TLS is required by configuration")
}

func TestAHeartbeatOfAHeldNodeIsToTryAgain(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	token := w.token(n)
	w.held(w.node(n))
	refusedAs[*node.Locked](t, "held", w.beat(n, token), "Node "+n.UUID+" is locked by host rack-9, please retry after the current operation is completed.")
}

// G09: nothing of the aborted run's ramdisk is left, and the next run works the first time.
func TestTheTokenOfAnAbortedRunIsWorthNothing(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.port(n, mac)
	old := w.token(n)
	w.must(w.beat(n, old))
	gone := func(when string) {
		t.Helper()
		for key := range w.node(n).DriverInternalInfo {
			if strings.HasPrefix(key, "agent_") {
				t.Errorf("%s: %s is left", when, key)
			}
		}
		refusedAs[*node.Invalid](t, when, w.beat(n, old), "Invalid or missing agent token received.")
	}
	w.must(w.ask(n, node.Abort))
	gone("after the abort")
	if _, _, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 96}); !errors.Is(err, node.ErrNotReported) {
		t.Errorf("a lookup after the abort: %v", err)
	}
	n, a := w.inspected(w.node(n))
	gone("in the next run")
	fresh := w.token(n)
	if fresh == old {
		t.Error("the next run has the token of the one before")
	}
	refusedAs[*node.Invalid](t, "beside the next run's token", w.beat(n, old), "Invalid or missing agent token received.")
	w.must(w.beat(n, fresh, func(r *conductor.HeartbeatRequest) { r.CallbackURL = "https://192.0.2.41:9999" }))
	w.must(w.post(a.Token, report("")))
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
	refusedAs[*node.Invalid](t, "after the success", w.beat(n, fresh), "Invalid or missing agent token received.")
}

func TestAReportCanBeAnsweredLikeALookup(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, a := w.waiting("agent")
	w.port(n, mac)
	req := conductor.ReportRequest{Body: report(""), Token: a.Token}
	w.held(n)
	_, _, err := w.ReportAndLookup(t.Context(), ramdisk, req)
	refusedAs[*node.Locked](t, "held", err, "Node "+n.UUID+" is locked by host rack-9, please retry after the current operation is completed.")
	_, err = w.store.Move(t.Context(), node.Move{Node: n.UUID, From: node.InspectWait, Held: "somebody", At: w.clock.Now()})
	w.must(err)

	got, token, err := w.ReportAndLookup(t.Context(), ramdisk, req)
	if err != nil || got.UUID != n.UUID || len(token) != 43 {
		t.Fatalf("%s, a token of %d characters, %v", got.UUID, len(token), err)
	}
	same(t, "state", w.node(n).ProvisionState, node.Inspecting)
	if _, again, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 96}); err != nil || string(again) != node.Mask {
		t.Errorf("a lookup while the report is worked up: %v", err)
	}
	if _, _, err := w.ReportAndLookup(t.Context(), ramdisk, req); !errors.Is(err, node.ErrNotReported) {
		t.Errorf("a second report: %v", err)
	}
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
	if _, _, err := w.lookup(conductor.LookupRequest{NodeUUID: n.UUID, Minor: 96}); !errors.Is(err, node.ErrNotReported) {
		t.Errorf("a lookup after the end: %v", err)
	}
}
