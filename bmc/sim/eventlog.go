package sim

import (
	"sync"
	"time"

	"cagenut/node"
)

// event is one entry of the BMC's event log, with what IPMI needs to show it.
type event struct {
	id       uint16
	at       time.Time
	severity node.Health
	message  string
	sensor   string
	kind     uint8 // IPMI's sensor type
	offset   uint8 // IPMI's event, of the sensor-specific ones
}

// Things that are worth an entry.
var (
	eventCleared  = event{severity: node.HealthOK, message: "The log was cleared.", sensor: "SEL", kind: 0x10, offset: 2}
	eventOn       = event{severity: node.HealthOK, message: "The server was switched on.", sensor: "Power", kind: 0x22, offset: 0}
	eventOff      = event{severity: node.HealthOK, message: "The server was switched off.", sensor: "Power", kind: 0x22, offset: 5}
	eventNMI      = event{severity: node.HealthWarning, message: "A diagnostic interrupt was sent.", sensor: "NMI", kind: 0x13, offset: 0}
	eventPSUFails = event{severity: node.HealthCritical, message: "Power supply 2 has failed.", sensor: "PSU2 Status", kind: 0x08, offset: 1}
)

// mostEvents bounds the log; the oldest goes.
const mostEvents = 512

// eventLog is a BMC's memory of what happened.
type eventLog struct {
	mu          sync.Mutex
	list        []event
	last        uint16
	added       time.Time
	erased      time.Time
	reservation uint16
}

func (l *eventLog) add(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	if l.last == 0 || l.last == 0xffff { // both mean something else in IPMI
		l.last = 1
	}
	e.id, e.at = l.last, time.Now()
	l.added = e.at
	if len(l.list) >= mostEvents {
		l.list = append([]event(nil), l.list[1:]...)
	}
	l.list = append(l.list, e)
}

// entries are oldest first.
func (l *eventLog) entries() []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]event(nil), l.list...)
}

// times are when the log was last added to and cleared.
func (l *eventLog) times() (added, erased time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.added, l.erased
}

// clear leaves the one entry that says so.
func (l *eventLog) clear() {
	l.mu.Lock()
	l.list, l.erased = nil, time.Now()
	l.mu.Unlock()
	l.add(eventCleared)
}

// reserve cancels earlier reservations.
func (l *eventLog) reserve() uint16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reservation++
	if l.reservation == 0 {
		l.reservation = 1
	}
	return l.reservation
}

func (l *eventLog) reserved(id uint16) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return id != 0 && id == l.reservation
}

// stamp is the time of an entry as the BMC's clock has it.
func (s *Server) stamp(e event) time.Time {
	if s.has(FaultClockUnset) {
		return time.Unix(int64(e.id), 0).UTC()
	}
	return e.at.UTC()
}
