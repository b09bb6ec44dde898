package redfish_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// drawer is a redfish.Sessions that outlives drivers.
type drawer struct {
	mu    sync.Mutex
	kept  map[string]redfish.KeptSession
	broke error
}

func newDrawer() *drawer { return &drawer{kept: map[string]redfish.KeptSession{}} }

func (d *drawer) Load(context.Context) ([]redfish.KeptSession, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.kept)), d.broke
}

func (d *drawer) Keep(_ context.Context, s redfish.KeptSession) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[s.ID] = s
	return d.broke
}

func (d *drawer) Drop(_ context.Context, ids ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		delete(d.kept, id)
	}
	return d.broke
}

func (d *drawer) ids() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.kept))
}

// run is a driver as a process has it. Nobody closes it: the process may be killed.
func (d *drawer) run(t *testing.T, change ...func(*redfish.Options)) *redfish.Driver {
	t.Helper()
	o := patient()
	o.Sessions = d
	for _, c := range change {
		c(&o)
	}
	driver := redfish.New(o)
	if err := driver.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return driver
}

func ask(t *testing.T, d *redfish.Driver, n node.Node) {
	t.Helper()
	if _, err := open(t, d, n).Power(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sessionsAre fails unless the BMC counts so many logins in all and at the moment, and as many of the latter are kept.
func (d *drawer) sessionsAre(t *testing.T, when string, s *sim.Server, opened, open int) {
	t.Helper()
	if c := s.Sessions(); c.Opened != opened || c.Open != open || len(d.ids()) != open {
		t.Errorf("%s: %d logins, %d open, %d kept; want %d, %d, %[6]d", when, c.Opened, c.Open, len(d.ids()), opened, open)
	}
}

func TestTheSessionOfAKilledProcessServesTheNextOne(t *testing.T) { // quirk 39
	s, kept := startServer(t, sim.Options{}), newDrawer()
	ask(t, kept.run(t), nodeOf(s)) // and then it is killed
	kept.sessionsAre(t, "after the first", s, 1, 1)
	next := kept.run(t)
	ask(t, next, nodeOf(s))
	kept.sessionsAre(t, "used by the next", s, 1, 1)
	if err := next.Close(t.Context()); err != nil {
		t.Error(err)
	}
	kept.sessionsAre(t, "closed", s, 1, 0)
}

func TestAKeptSessionThatTheBMCForgotIsReplaced(t *testing.T) { // quirk 40
	s, kept := startServer(t, sim.Options{}), newDrawer()
	ask(t, kept.run(t), nodeOf(s))
	before := kept.ids()
	s.ExpireSessions()
	next := kept.run(t)
	ask(t, next, nodeOf(s))
	kept.sessionsAre(t, "renewed", s, 2, 1)
	if slices.Equal(before, kept.ids()) {
		t.Error("the old one is still kept")
	}
	if err := next.Close(t.Context()); err != nil {
		t.Error(err)
	}
	kept.sessionsAre(t, "closed", s, 2, 0)
}

// A token belongs to exactly the address, user, password and trust that it was made with.
func TestASessionOfOtherSettingsIsNotUsedButEnded(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"another password": {"redfish_password": "another"},
		"another trust":    {"redfish_verify_ca": false},
		"old TLS":          {"redfish_old_tls": true},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s, kept := startServer(t, sim.Options{}), newDrawer()
				d := kept.run(t)
				ask(t, d, nodeOf(s))
				if killed {
					d = kept.run(t)
				}
				n := nodeOf(s)
				maps.Copy(n.DriverInfo, change)
				s.ForgetRequests()
				_, err := open(t, d, n).Power(t.Context())
				if wrong := name == "another password"; wrong != errors.Is(err, node.ErrCredentials) {
					t.Errorf("%v", err)
				}
				if n := count(s, "DELETE /redfish/v1/SessionService/Sessions/1"); n != 1 || s.Sessions().Closed != 1 {
					t.Errorf("%d logouts, %+v", n, s.Sessions())
				}
				for _, r := range s.Requests() {
					if r.By == "session 1" && r.Method != "DELETE" {
						t.Errorf("the old session was used: %s", r)
					}
				}
				if err := d.Close(t.Context()); err != nil {
					t.Error(err)
				}
				kept.sessionsAre(t, "closed", s, s.Sessions().Opened, 0)
			})
		}
	}
}

func TestForgettingANodeEndsASessionThatIsOnlyKept(t *testing.T) {
	s, kept := startServer(t, sim.Options{}), newDrawer()
	ask(t, kept.run(t), nodeOf(s))
	kept.run(t).Forget(t.Context(), nodeOf(s))
	kept.sessionsAre(t, "forgotten", s, 1, 0)
}

func TestSessionsOfNodesThatAreGoneAreEndedTheOthersStay(t *testing.T) {
	gone, stays, kept := startServer(t, sim.Options{}), startServer(t, sim.Options{}), newDrawer()
	first := kept.run(t)
	ask(t, first, nodeOf(gone))
	ask(t, first, nodeOf(stays))
	next := kept.run(t)
	endStrays(t, next, []node.Node{nodeOf(stays)}, func() bool { return len(kept.ids()) == 1 })
	if gone.OpenSessions() != 0 || stays.OpenSessions() != 1 || len(kept.ids()) != 1 {
		t.Errorf("open at the BMC of the deleted node: %d, of the other: %d, kept: %d", gone.OpenSessions(), stays.OpenSessions(), len(kept.ids()))
	}
	ask(t, next, nodeOf(stays))
	if err := next.Close(t.Context()); err != nil {
		t.Error(err)
	}
	kept.sessionsAre(t, "closed", stays, 1, 0)
}

func TestASessionThatCannotBeEndedIsLeftForTheNextRun(t *testing.T) {
	s, kept := startServer(t, sim.Options{}), newDrawer()
	d := kept.run(t)
	ask(t, d, nodeOf(s))
	s.SetFaults(sim.Faults{Hang: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.Close(ctx); err == nil {
		t.Error("closed, although the BMC hangs")
	}
	kept.sessionsAre(t, "while it hangs", s, 1, 1)
	s.SetFaults(sim.Faults{})
	next := kept.run(t)
	endStrays(t, next, nil, func() bool { return len(kept.ids()) == 0 })
	kept.sessionsAre(t, "healed", s, 1, 0)

	// The process ends while a stray's BMC is down: the stray is kept.
	ask(t, next, nodeOf(s))
	s.SetFaults(sim.Faults{Hang: true})
	last := kept.run(t, shortOfTime)
	s.ForgetRequests()
	endStrays(t, last, nil, func() bool { return count(s, "DELETE") > 1 })
	kept.sessionsAre(t, "while it hangs again", s, 2, 1)
	s.SetFaults(sim.Faults{})
	if err := last.Close(t.Context()); err != nil {
		t.Error(err)
	}
	kept.sessionsAre(t, "closed at last", s, 2, 0)
}

// A node is deleted while its BMC hangs: nobody will come back for the session.
func TestASessionThatCouldNotBeEndedIsTriedAgain(t *testing.T) {
	s, kept := startServer(t, sim.Options{}), newDrawer()
	d := kept.run(t, shortOfTime)
	ask(t, d, nodeOf(s))
	s.SetFaults(sim.Faults{Hang: true})
	s.ForgetRequests()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d.Forget(ctx, nodeOf(s))
	kept.sessionsAre(t, "forgotten in vain", s, 1, 1)
	endStrays(t, d, nil, func() bool {
		if count(s, "DELETE") > 1 {
			s.SetFaults(sim.Faults{})
		}
		return len(kept.ids()) == 0
	})
	kept.sessionsAre(t, "healed", s, 1, 0)
}

// shortOfTime are options with which a hanging BMC is soon tried again.
func shortOfTime(o *redfish.Options) {
	o.Try, o.Operation, o.StrayPause = 300*time.Millisecond, time.Second, 10*time.Millisecond
}

// endStrays lets a driver end strays until something has become true.
func endStrays(t *testing.T, d *redfish.Driver, nodes []node.Node, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.EndStrays(ctx, nodes)
	}()
	deadline := time.Now().Add(20 * time.Second)
	for !ready() && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if !ready() {
		t.Error("the strays are not ended")
	}
	cancel()
	<-done
}

func TestKeptSessionsThatCannotBeReadAreDropped(t *testing.T) {
	s, kept := startServer(t, sim.Options{}), newDrawer()
	for id, secret := range map[string]node.Secret{"a": "", "b": "{", "c": `{"Base":"http://192.0.2.1"}`} {
		kept.kept[id] = redfish.KeptSession{ID: id, Secret: secret}
	}
	d := kept.run(t)
	if n := len(kept.ids()); n != 0 {
		t.Errorf("%d are left", n)
	}
	// A store that fails costs the sessions their next life, nothing else.
	kept.broke = errors.New("the disk is full")
	ask(t, d, nodeOf(s))
	if err := d.Close(t.Context()); err != nil || s.OpenSessions() != 0 {
		t.Errorf("%v, %d open", err, s.OpenSessions())
	}
}

func TestAKeptSessionShowsItsSecretNowhere(t *testing.T) {
	s, kept := startServer(t, sim.Options{}), newDrawer()
	d := kept.run(t)
	ask(t, d, nodeOf(s))
	for _, k := range kept.kept {
		if k.Address != s.Address || !strings.Contains(string(k.Secret), "/Sessions/1") || strings.Contains(string(k.Secret), string(s.Password)) {
			t.Errorf("kept of %s: unexpected, or with the password", k.Address)
		}
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A node is deleted while something long goes on at its BMC: what goes on must not log in again, for nobody would log out.
func TestWhatIsStillGoingOnAtAForgottenBMCDoesNotLogInAgain(t *testing.T) {
	s, kept := startServer(t, sim.Options{}), newDrawer()
	d := kept.run(t)
	c := open(t, d, nodeOf(s))
	if _, err := c.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Forget(t.Context(), nodeOf(s))
	kept.sessionsAre(t, "forgotten", s, 1, 0)
	if _, err := c.Power(t.Context()); err == nil || !strings.Contains(err.Error(), "changed or removed") {
		t.Errorf("it goes on: %v", err)
	}
	kept.sessionsAre(t, "afterwards", s, 1, 0)
	ask(t, d, nodeOf(s))
	kept.sessionsAre(t, "asked anew", s, 2, 1)
}
