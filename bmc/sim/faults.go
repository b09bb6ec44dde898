package sim

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Strength says how a fault strikes. The zero value is: always, until it is switched off, for its usual time.
type Strength struct {
	Count   int           // how often it strikes before it ends by itself; 0: until it is switched off
	Percent int           // how likely it strikes where it could; 0: always
	Delay   time.Duration // of faults that take time; 0: their usual one
}

// usualLoss is how many of a hundred datagrams are lost where nobody says.
const usualLoss = 30

// activeFault is a fault that is switched on.
type activeFault struct {
	Strength
	left int // strikes, where Count is set
}

// SwitchOn lets the BMC have a fault from now on; where it has it already, the strength is replaced.
func (s *Server) SwitchOn(f Fault, strength Strength) error {
	info, known := faultInfo(f)
	switch {
	case !known:
		return fmt.Errorf("sim: there is no fault %q", f)
	case !slices.Contains(info.Drivers, s.Driver):
		return fmt.Errorf("sim: fault %q is not one of a BMC that speaks %s", f, s.Driver)
	case info.TLS && !s.speaksTLS():
		return fmt.Errorf("sim: fault %q is one of BMCs that speak TLS, and this rack does not", f)
	case info.Steady && (strength.Count != 0 || strength.Percent != 0):
		return fmt.Errorf("sim: fault %q is a way of the BMC and takes no count and no percentage", f)
	case strength.Count < 0 || strength.Percent < 0 || strength.Percent > 100 || strength.Delay < 0:
		return fmt.Errorf("sim: fault %q: count and delay are at least 0, percent is 0 to 100", f)
	}
	if f == FaultLoss && strength == (Strength{}) {
		strength.Percent = usualLoss
	}
	s.changeFaults(func() { s.faults[f] = &activeFault{Strength: strength, left: strength.Count} })
	return nil
}

// SwitchOff heals one fault; nothing happens where the BMC does not have it.
func (s *Server) SwitchOff(f Fault) { s.changeFaults(func() { delete(s.faults, f) }) }

// Heal ends all faults.
func (s *Server) Heal() { s.changeFaults(func() { clear(s.faults) }) }

// ActiveFaults are those that are switched on, with what is left of their counts.
func (s *Server) ActiveFaults() map[Fault]Strength {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[Fault]Strength{}
	for f, a := range s.faults {
		strength := a.Strength
		strength.Count = a.left
		all[f] = strength
	}
	return all
}

// changeFaults wakes what waits for a fault to end, and brings what lies outside the requests in line.
func (s *Server) changeFaults(change func()) {
	s.mu.Lock()
	if s.faults == nil {
		s.faults = map[Fault]*activeFault{}
	}
	change()
	close(s.lifted)
	s.lifted = make(chan struct{})
	s.mu.Unlock()
	s.followFaults()
	s.news.tell()
	s.settle()
}

// settle returns when the BMC listens, or has stopped to, as the faults have it.
func (s *Server) settle() {
	long := time.NewTimer(doorTime)
	defer long.Stop()
	for {
		changed := s.news.next() // before the question, so that no change falls between the two
		if s.listening.Load() != s.has(FaultRefuse) {
			return
		}
		select {
		case <-changed:
		case <-long.C: // somebody else has the port: it is tried on
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// doorTime bounds how long a change of the faults waits for its effect.
const doorTime = time.Second

// followFaults brings in line what lies outside the requests: sessions, doors, passwords.
func (s *Server) followFaults() {
	var early time.Duration
	if s.has(FaultSessionExpiry) {
		early = s.delayOf(FaultSessionExpiry)
	}
	s.sessions.setTimeout(early)
	if !s.has(FaultParentFirst) {
		s.listRead.Store(false)
	}
	if failed := s.has(FaultFailedPSU); s.psuTold.Swap(failed) != failed && failed {
		s.events.add(eventPSUFails)
	}
	if s.speaksTLS() {
		s.tls.follow(s.tlsWay(), s.has(FaultPlainHTTP))
	}
	s.shutDoor()
	if s.account != nil {
		s.account.follow(s)
	}
}

// has tells of a fault without counting.
func (s *Server) has(f Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults[f] != nil
}

// strikes tells whether a fault strikes now, and counts it.
func (s *Server) strikes(f Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.faults[f]
	if a == nil || (a.Percent > 0 && s.dice.IntN(100) >= a.Percent) {
		return false
	}
	if a.Count > 0 {
		if a.left--; a.left == 0 {
			delete(s.faults, f)
		}
	}
	return true
}

// delayOf is how long a fault takes.
func (s *Server) delayOf(f Fault) time.Duration {
	info, _ := faultInfo(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.faults[f]; a != nil && a.Delay > 0 {
		return a.Delay
	}
	return info.Delay
}

// waitWhileHanging returns when the BMC does not hang (any more); false when ctx or the rack ended first.
func (s *Server) waitWhileHanging(ctx context.Context) bool {
	lifted, hangs := s.hangs()
	return !hangs || s.waitUntilLifted(ctx, lifted)
}

// hangs tells whether the BMC hangs now; lifted is for waitUntilLifted.
func (s *Server) hangs() (lifted <-chan struct{}, yes bool) {
	s.mu.Lock()
	lifted = s.lifted // before the question, so that no change falls between the two
	s.mu.Unlock()
	return lifted, s.strikes(FaultHang)
}

// waitUntilLifted returns when the BMC hangs no more; false when ctx or the rack ended first.
func (s *Server) waitUntilLifted(ctx context.Context, lifted <-chan struct{}) bool {
	for {
		select {
		case <-lifted:
		case <-ctx.Done():
			return false
		case <-s.ctx.Done():
			return false
		}
		s.mu.Lock()
		hang := s.faults[FaultHang] != nil
		lifted = s.lifted
		s.mu.Unlock()
		if !hang {
			return true
		}
	}
}

// waitWhile returns when the BMC does not have a fault (any more); false when the rack ended first.
func (s *Server) waitWhile(f Fault) bool {
	for {
		s.mu.Lock()
		active, lifted := s.faults[f] != nil, s.lifted
		s.mu.Unlock()
		if !active {
			return s.ctx.Err() == nil
		}
		select {
		case <-lifted:
		case <-s.ctx.Done():
			return false
		}
	}
}

// stall holds an answer back while the BMC is slow; false when ctx or the rack ended first.
func (s *Server) stall(ctx context.Context) bool {
	if !s.has(FaultSlow) {
		return true
	}
	delay := s.delayOf(FaultSlow)
	if !s.strikes(FaultSlow) {
		return true
	}
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-s.ctx.Done():
		return false
	}
}

// Faults are the most used faults as one value. The zero value is a BMC that works.
type Faults struct {
	Hang           bool // takes connections and answers nothing; drops datagrams
	RefuseLogin    bool // takes no password, and no session that it gave out before
	StuckPower     bool // accepts power commands and does nothing
	RefuseBoot     bool // refuses to change the boot override
	IgnoreBoot     bool // accepts a change of the boot override and keeps what it had
	Busy           int  // how many requests are answered with 503 (IPMI: node busy) before it works again; -1: all
	ResetConflicts int  // how many power commands are answered with 409 (IPMI: not supported in present state); -1: all
}

// SetFaults replaces all of the BMC's faults, those of SwitchOn too; the zero value heals it, and requests that hung are answered.
func (s *Server) SetFaults(f Faults) {
	s.changeFaults(func() {
		clear(s.faults)
		for fault, on := range map[Fault]bool{
			FaultHang: f.Hang, FaultWrongPassword: f.RefuseLogin, FaultStuckPower: f.StuckPower, FaultRefuseBoot: f.RefuseBoot, FaultIgnoreBoot: f.IgnoreBoot,
		} {
			if on {
				s.faults[fault] = &activeFault{}
			}
		}
		for fault, n := range map[Fault]int{FaultBusy: f.Busy, FaultPowerConflict: f.ResetConflicts} {
			if n != 0 {
				n = max(n, 0)
				s.faults[fault] = &activeFault{Strength: Strength{Count: n}, left: n}
			}
		}
	})
}
