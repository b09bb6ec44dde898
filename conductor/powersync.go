package conductor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"cagenut/node"
)

const (
	// lookTime bounds one look at a BMC, once it is its turn in the BMC's queue.
	lookTime = 15 * time.Second
	// rebootTime is how long after a reboot was asked for a server may be off for a moment without anybody's doing.
	rebootTime = 10 * time.Minute
)

// powerSync looks at the BMCs of idle nodes: each once per interval, at a turn of its own, so that the looks at a rack are
// spread also after a start or a mass enrolment. It takes no reservation and never touches last_error (G03). Its rounds
// wait for no BMC (G36): a round records what the looks since the last one have found, and begins the next ones.
type powerSync struct {
	c     *Conductor
	began time.Time
	first int64          // the turn at which it began
	given int64          // turns up to here have been given
	looks sync.WaitGroup // those that go on

	mu     sync.Mutex
	going  map[string]bool    // the nodes of those
	silent map[string]silence // nodes whose BMC could not be used at the last look
	found  []node.Look        // not recorded yet
}

// silence is what is known of a BMC that cannot be used.
type silence struct {
	since   time.Time
	last    time.Time
	looks   int
	version int64 // of the node: a change may have led to another BMC
	refused bool  // it refuses the credentials
	told    bool  // the node's mark has this reason
	odd     bool  // nobody could be asked, and the log says so
}

func newPowerSync(c *Conductor) *powerSync {
	s := &powerSync{c: c, began: c.Clock.Now(), going: map[string]bool{}, silent: map[string]silence{}}
	// The time of day decides where the round begins: after a restart everybody's turn comes when it would have come.
	s.first = s.turns(time.Duration(s.began.UnixNano() % int64(c.PowerSyncInterval)))
	s.given = s.first
	return s
}

// turns is how many turns fit into d.
func (s *powerSync) turns(d time.Duration) int64 {
	return int64(float64(d) / float64(s.c.PowerSyncInterval) * node.Turns)
}

// round gives everybody a look whose turn has come since the last round.
func (s *powerSync) round(ctx context.Context) error {
	recorded := s.record(ctx)
	// Durations are monotonic: a clock that is set neither skips a turn nor gives all of them at once.
	now := s.first + s.turns(s.c.Clock.Now().Sub(s.began))
	due, err := s.c.Watched.PowerDue(ctx, s.given, now)
	if err != nil {
		return errors.Join(recorded, err)
	}
	s.given = max(s.given, now)
	s.forget()
	for _, n := range due {
		if s.begin(n.UUID) {
			s.looks.Go(func() { s.look(ctx, n) })
		}
	}
	return recorded
}

// forget drops what is known of nodes that nobody looks at any more.
func (s *powerSync) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.c.Clock.Now().Add(-max(time.Hour, 10*s.c.PowerSyncInterval))
	maps.DeleteFunc(s.silent, func(_ string, k silence) bool { return k.last.Before(old) })
}

// begin is false while an earlier look at the node goes on.
func (s *powerSync) begin(uuid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going[uuid] {
		return false
	}
	s.going[uuid] = true
	return true
}

// record keeps what the looks have found. What cannot be kept is lost: the next look finds it again.
func (s *powerSync) record(ctx context.Context) error {
	s.mu.Lock()
	found := s.found
	s.found = nil
	s.mu.Unlock()
	if len(found) == 0 {
		return nil
	}
	return s.c.Moves.RecordLooks(ctx, found)
}

// look asks the BMC of a node for the power.
func (s *powerSync) look(ctx context.Context, n node.Node) {
	var seen node.Glance
	// The place in the queue is waited for until the node's next turn would come.
	waiting, cancel := context.WithTimeout(ctx, max(s.c.PowerSyncInterval, lookTime))
	defer cancel()
	err := s.c.BMCs.Look(waiting, n, func(b BMC) (err error) {
		step, cancel := context.WithTimeout(waiting, lookTime)
		defer cancel()
		seen, err = glance(step, b)
		return err
	})
	l := node.BeginLook(n)
	l.At = s.c.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.going, n.UUID)
	switch {
	case ctx.Err() != nil, unasked(err):
		return
	case err == nil:
		s.answered(n, &l)
		sees(n, seen.Power, &l)
		seesHealth(n, seen, &l)
	case node.Silent(err):
		s.unanswered(n, err, &l)
	case complained(err):
		s.answered(n, &l)
	default:
		s.odd(n, err, l.At)
		return
	}
	s.found = append(s.found, l)
}

// odd says once per version of a node why nobody can be asked, such as for what is wrong in its driver_info.
func (s *powerSync) odd(n node.Node, err error, at time.Time) {
	k := s.silent[n.UUID]
	if k.version != n.Version {
		k = silence{version: n.Version}
	}
	if !k.odd {
		s.c.Log.Info("the power of a node cannot be read", "node", n.UUID, "err", err)
	}
	k.odd, k.last = true, at
	s.silent[n.UUID] = k
}

// unasked tells of a BMC whose turn did not come, or that is left alone for a while: nothing is known of it that was not
// known before.
func unasked(err error) bool {
	var u *node.Unreachable
	return errors.As(err, &u) && u.Unasked
}

// complained tells of a BMC that is there and answered with an error.
func complained(err error) bool {
	var u *node.Unreachable
	return errors.As(err, &u) && u.Answered
}

func (s *powerSync) answered(n node.Node, l *node.Look) {
	delete(s.silent, n.UUID)
	l.Answered = true
	if !n.BMCUnreachableSince.IsZero() {
		s.c.Log.Info("a BMC is reachable again", "node", n.UUID)
	}
}

// unanswered counts a look that led to nothing, and marks the node at the second one: one alone may be a lost packet, or a
// BMC that restarts after an update.
func (s *powerSync) unanswered(n node.Node, err error, l *node.Look) {
	refused := errors.Is(err, node.ErrCredentials)
	k := s.silent[n.UUID]
	if k.version != n.Version || k.looks == 0 {
		k = silence{since: l.At, version: n.Version}
	}
	if k.refused != refused {
		k.refused, k.told = refused, false
	}
	k.looks, k.last = k.looks+1, l.At
	marked := !n.BMCUnreachableSince.IsZero()
	if marked && !k.told || !marked && k.looks > 1 {
		s.c.unreachable(n, err, k.since, l)
		k.told = true
	}
	s.silent[n.UUID] = k
}

// reasonLimit is how many characters of a BMC's error a node keeps.
const reasonLimit = 1000

// unreachable makes of a look that the BMC of a node cannot be used. A node that is marked already gets another reason.
func (c *Conductor) unreachable(n node.Node, err error, since time.Time, l *node.Look) {
	text := node.Shorten(err.Error(), reasonLimit)
	if text == n.BMCError {
		return
	}
	l.Unreachable, l.SilentAt = text, since
	if !n.BMCUnreachableSince.IsZero() {
		return
	}
	event := "The BMC does not answer: " + text
	if errors.Is(err, node.ErrCredentials) {
		event = "The BMC does not let the appliance in: " + text
	}
	c.Log.Warn("a BMC cannot be used", "node", n.UUID, "since", since, "err", err)
	l.History = append(l.History, noticed(n, l.At, node.SeverityError, event))
}

// sees compares the power that a look found with the one that is recorded. Where the two differ, somebody has been at the
// machine, unless the appliance itself asked for that: it may have come about later than the appliance waited for it.
func sees(n node.Node, power node.PowerState, l *node.Look) {
	l.Power = power
	if power == "" || n.PowerState == "" || power == n.PowerState {
		return
	}
	if ours(n, power, l.At) {
		l.History = append(l.History, noticed(n, l.At, node.SeverityInfo, fmt.Sprintf(
			"Power state is '%s' now, after the appliance asked for '%s'.", power, n.PowerAsked)))
		return
	}
	l.Outside = true
	l.History = append(l.History, noticed(n, l.At, node.SeverityInfo, fmt.Sprintf(
		"Power state changed from '%s' to '%s' outside of this appliance.", n.PowerState, power)))
}

// ours tells whether a power state that is not the recorded one may be what the appliance asked for last, as it has not
// been seen since to come about; or the moment in a reboot in which a server is off.
func ours(n node.Node, power node.PowerState, now time.Time) bool {
	switch n.PowerAsked {
	case "":
		return false
	case node.ActionReboot, node.ActionSoftReboot:
		if power == node.PowerOff && now.Sub(n.PowerAskedAt) < rebootTime {
			return true
		}
	}
	return power == n.PowerAsked.Result()
}

func noticed(n node.Node, at time.Time, s node.Severity, event string) node.History {
	return node.History{
		NodeUUID: n.UUID, At: at, LastAt: at, Severity: s, Type: node.TypePower, Event: event, Actor: node.System(),
		State: n.ProvisionState, TargetState: n.TargetProvisionState(),
	}
}

// silentTo marks a node whose BMC was silent to one of our own commands: somebody asked for it, there is no need to wait for
// a second look. n is the node as it is now.
func (c *Conductor) silentTo(ctx context.Context, n node.Node, err error) error {
	if !node.Silent(err) || !n.BMCUnreachableSince.IsZero() {
		return nil
	}
	l := node.BeginLook(n)
	l.At = c.Clock.Now()
	c.unreachable(n, err, l.At, &l)
	return c.Moves.RecordLooks(ctx, []node.Look{l})
}

// answeredTo ends the mark of a node whose BMC has answered somebody who asked. n is the node as it was before.
func (c *Conductor) answeredTo(ctx context.Context, n node.Node) error {
	if n.BMCUnreachableSince.IsZero() {
		return nil
	}
	l := node.BeginLook(n)
	l.At, l.Answered = c.Clock.Now(), true
	return c.Moves.RecordLooks(ctx, []node.Look{l})
}
