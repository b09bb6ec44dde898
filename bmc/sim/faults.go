package sim

import "context"

// Faults are what is wrong with a BMC. The zero value is a BMC that works.
type Faults struct {
	Hang           bool // takes connections and answers nothing; drops datagrams
	RefuseLogin    bool // takes no password, and no session that it gave out before
	StuckPower     bool // accepts power commands and does nothing
	RefuseBoot     bool // refuses to change the boot override
	IgnoreBoot     bool // accepts a change of the boot override and keeps what it had
	Busy           int  // how many requests are answered with 503 (IPMI: node busy) before it works again; -1: all
	ResetConflicts int  // how many power commands are answered with 409 (IPMI: not supported in present state); -1: all
}

// SetFaults replaces the BMC's faults; the zero value heals it, and requests that hung are answered.
func (s *Server) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	close(s.lifted)
	s.lifted = make(chan struct{})
	s.users.refuse(f.RefuseLogin)
}

func (s *Server) currentFaults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// spend counts down one of the counters in Faults and tells whether the fault applies.
func (s *Server) spend(counter func(*Faults) *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := counter(&s.faults)
	if *n > 0 {
		*n--
		return true
	}
	return *n < 0
}

// waitWhileHanging returns when the BMC does not hang (any more); false when ctx or the rack ended first.
func (s *Server) waitWhileHanging(ctx context.Context) bool {
	for {
		s.mu.Lock()
		hang, lifted := s.faults.Hang, s.lifted
		s.mu.Unlock()
		if !hang {
			return true
		}
		select {
		case <-lifted:
		case <-ctx.Done():
			return false
		case <-s.ctx.Done():
			return false
		}
	}
}
