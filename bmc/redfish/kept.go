package redfish

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"cagenut/node"
)

// Sessions keeps login sessions beyond the life of the process, so that the next one uses or ends them: a BMC has a handful, and
// keeps one for half an hour and more after its owner died (quirk 39).
type Sessions interface {
	// Load lists what is kept.
	Load(ctx context.Context) ([]KeptSession, error)
	// Keep adds a session. It must be sealed: whoever has its Secret is the BMC's administrator.
	Keep(ctx context.Context, s KeptSession) error
	// Drop forgets sessions; ids that are not there are no error.
	Drop(ctx context.Context, ids ...string) error
}

// KeptSession is a session as it is kept.
type KeptSession struct {
	ID      string      // ours
	Address string      // base URL of the BMC, for people
	Secret  node.Secret // what the driver knows of it; "" where it cannot be read any more
}

// session is a login session at a BMC.
type session struct {
	id    string // ours
	base  string
	user  string
	print string // of the settings that it was made with; it serves those alone
	token node.Secret
	path  string // at the BMC, for the logout; "" where the BMC did not say
	trust trust  // by which the BMC is reached to end it
	// stray is since when nobody will use it any more; zero: somebody may.
	stray time.Time
}

func (s session) isStray() bool { return !s.stray.IsZero() }

// keptLogin is a session's Secret, as JSON.
type keptLogin struct {
	Base, User, Print, Token, Path, Verify, Pin string
	OldTLS                                      bool
}

func (s session) kept() (KeptSession, error) {
	b, err := json.Marshal(keptLogin{s.base, s.user, s.print, string(s.token), s.path, s.trust.verify, s.trust.pin, s.trust.oldTLS})
	return KeptSession{ID: s.id, Address: s.base, Secret: node.Secret(b)}, err
}

func (k KeptSession) session() (session, bool) {
	var l keptLogin
	if json.Unmarshal([]byte(k.Secret), &l) != nil || l.Base == "" || l.Token == "" {
		return session{}, false
	}
	return session{
		id: k.ID, base: l.Base, user: l.User, print: l.Print, token: node.Secret(l.Token), path: l.Path,
		trust: trust{verify: l.Verify, pin: l.Pin, oldTLS: l.OldTLS},
	}, true
}

// keeper writes sessions down, and holds those that nobody uses at the moment: of an earlier run, or of settings that have
// changed since. They wait for somebody to use or to end them.
type keeper struct {
	sessions Sessions // nil: nothing outlives the process
	log      *slog.Logger

	strays chan struct{} // tells that there is a new stray

	mu   sync.Mutex
	idle map[string]session // by id
}

func newKeeper(s Sessions, log *slog.Logger) *keeper {
	return &keeper{sessions: s, log: log, strays: make(chan struct{}, 1), idle: map[string]session{}}
}

// keepTime bounds one write. It does not depend on the caller's time: a session that was made and not written down would be lost.
const keepTime = 5 * time.Second

// load takes over what an earlier run has left.
func (k *keeper) load(ctx context.Context) error {
	if k.sessions == nil {
		return nil
	}
	all, err := k.sessions.Load(ctx)
	if err != nil {
		return err
	}
	var broken []string
	for _, kept := range all {
		s, ok := kept.session()
		if !ok {
			broken = append(broken, kept.ID)
			continue
		}
		k.giveBack(s)
	}
	k.drop(ctx, broken...)
	return nil
}

// keep writes a new session down. Where that fails the session serves all the same and ends with the process.
func (k *keeper) keep(ctx context.Context, s *session) {
	s.id = rand.Text()
	if k.sessions == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	kept, err := s.kept()
	if err == nil {
		err = k.sessions.Keep(ctx, kept)
	}
	if err != nil {
		k.log.Warn("a session at a BMC is not written down: it stays open if this process dies", "bmc", s.base, "err", err)
	}
}

// drop forgets sessions that have ended. One that cannot be dropped is ended once more by the next run, in vain.
func (k *keeper) drop(ctx context.Context, ids ...string) {
	if k.sessions == nil || len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	if err := k.sessions.Drop(ctx, ids...); err != nil {
		k.log.Warn("sessions at BMCs that have ended are still written down", "sessions", len(ids), "err", err)
	}
}

// abandon holds sessions that nobody will use and that could not be ended yet.
func (k *keeper) abandon(all ...session) {
	for i := range all {
		all[i].stray = time.Now()
	}
	k.giveBack(all...)
	select {
	case k.strays <- struct{}{}:
	default:
	}
}

func (k *keeper) giveBack(all ...session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range all {
		k.idle[s.id] = s
	}
}

// take hands over the idle sessions that fit.
func (k *keeper) take(fits func(session) bool) []session {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []session
	for id, s := range k.idle {
		if fits(s) {
			all = append(all, s)
			delete(k.idle, id)
		}
	}
	return all
}

// of fits the sessions of one way in.
func of(l login) func(session) bool {
	return func(s session) bool { return login{s.base, s.user} == l }
}
