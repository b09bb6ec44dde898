package ipmi_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// eventLog is a BMC's event log.
type eventLog struct {
	mu      sync.Mutex
	entries [][]byte // 16 bytes each, oldest first
	grows   int      // by how many entries during the first read
	// of erasing
	reservation  uint16
	noReserve    bool
	lose         int // reservations that are lost
	pending      int // polls until it is done
	begun, polls int
}

// logged is an event of temperature sensor 1 going over its upper critical threshold at a time.
func logged(id uint16, at uint32, change func(e []byte)) []byte {
	e := []byte{0, 0, 0x02, 0, 0, 0, 0, 0x20, 0, 0x04, 0x01, 0x01, 0x01, 0x59, 96, 95}
	binary.LittleEndian.PutUint16(e, id)
	binary.LittleEndian.PutUint32(e[3:], at)
	if change != nil {
		change(e)
	}
	return e
}

// answers are those of a BMC with this log, and with what it has otherwise.
func (l *eventLog) answers(others map[types.Command]answer) map[types.Command]answer {
	all := map[types.Command]answer{
		types.CommandGetSDRRepoInfo: refuse(types.CodeInvalidCommand),
		types.CommandGetSELInfo: func([]byte) ([]byte, types.CompletionCode) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return slices.Concat([]byte{0x51}, binary.LittleEndian.AppendUint16(nil, uint16(len(l.entries))), make([]byte, 11)), types.CodeOK
		},
		types.CommandGetSELEntry: l.get,
		types.CommandReserveSEL: func([]byte) ([]byte, types.CompletionCode) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.noReserve {
				return nil, types.CodeInvalidCommand
			}
			l.reservation++
			return binary.LittleEndian.AppendUint16(nil, l.reservation), types.CodeOK
		},
		types.CommandClearSEL: l.clear,
	}
	for kind, a := range others {
		all[kind] = a
	}
	return all
}

func (l *eventLog) get(q []byte) ([]byte, types.CompletionCode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; l.grows > 0; l.grows-- {
		l.entries = append(l.entries, logged(uint16(len(l.entries)+1), 0x65000000, nil))
	}
	id := binary.LittleEndian.Uint16(q[2:])
	at := slices.IndexFunc(l.entries, func(e []byte) bool { return binary.LittleEndian.Uint16(e) == id })
	switch {
	case id == 0:
		at = 0
	case id == 0xffff:
		at = len(l.entries) - 1
	}
	if at < 0 || at >= len(l.entries) {
		return nil, types.CodeRequestedDataNotPresent
	}
	next := uint16(0xffff)
	if at+1 < len(l.entries) {
		next = binary.LittleEndian.Uint16(l.entries[at+1])
	}
	return slices.Concat(binary.LittleEndian.AppendUint16(nil, next), l.entries[at]), types.CodeOK
}

func (l *eventLog) clear(q []byte) ([]byte, types.CompletionCode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lose > 0 {
		l.lose--
		l.reservation++
	}
	switch {
	case !l.noReserve && binary.LittleEndian.Uint16(q) != l.reservation:
		return nil, types.CodeReservationCanceled
	case string(q[2:5]) != "CLR":
		return nil, types.CodeRequestDataFieldInvalid
	case q[5] == 0xaa:
		l.begun++
		l.entries = nil
	default:
		l.polls++
	}
	if l.polls < l.pending {
		return []byte{0}, types.CodeOK
	}
	return []byte{1}, types.CodeOK
}

func ids(from []node.LogEntry) []string {
	var all []string
	for _, e := range from {
		all = append(all, e.ID)
	}
	return all
}

func TestTheNewestEventsComeFirst(t *testing.T) {
	numbered := func(numbers ...int) (all [][]byte) {
		for _, n := range numbers {
			all = append(all, logged(uint16(n), 0x65000000, nil))
		}
		return all
	}
	var many []int
	for n := range 1000 {
		many = append(many, n+1)
	}
	for name, c := range map[string]struct {
		log   *eventLog
		limit int
		want  []string
		reads int // at most
	}{
		"all":                                     {&eventLog{entries: numbered(1, 2, 3)}, 0, []string{"3", "2", "1"}, 3},
		"the newest of a long log, without it":    {&eventLog{entries: numbered(many...)}, 3, []string{"1000", "999", "998"}, 3},
		"more than there are":                     {&eventLog{entries: numbered(1, 2, 3)}, 10, []string{"3", "2", "1"}, 3},
		"none":                                    {&eventLog{}, 5, nil, 0},
		"numbers with small gaps":                 {&eventLog{entries: numbered(1, 2, 5, 9)}, 3, []string{"9", "5", "2"}, 9},
		"numbers with a large gap":                {&eventLog{entries: numbered(1, 2, 500, 501)}, 3, []string{"501", "500", "2"}, 20},
		"numbers that wrapped":                    {&eventLog{entries: numbered(65530, 65533, 2, 3)}, 3, []string{"3", "2", "65533"}, 10},
		"numbers in no order":                     {&eventLog{entries: numbered(30, 10, 20, 11)}, 3, []string{"11", "20", "10"}, 10},
		"a log that grows while it is read":       {&eventLog{entries: numbered(1, 2), grows: 1}, 0, []string{"3", "2", "1"}, 3},
		"a log that grows, limited":               {&eventLog{entries: numbered(1, 2), grows: 2}, 2, []string{"4", "3"}, 4},
		"a log that grows faster than it is read": {&eventLog{entries: numbered(1), grows: 1000}, 1, []string{"101"}, 102},
	} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{answers: c.log.answers(nil)}).start(t)
			got, err := able(t, ipmi.New(quick()), b.node()).Events(t.Context(), c.limit)
			if err != nil || !slices.Equal(ids(got), c.want) {
				t.Errorf("%v, %v; want %v", ids(got), err, c.want)
			}
			if n := len(b.sent(types.CommandGetSELEntry)); n > c.reads {
				t.Errorf("%d entries were read, want at most %d", n, c.reads)
			}
		})
	}
}

func TestEventsAreDescribed(t *testing.T) {
	then := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	now := uint32(then.Unix())
	const hot, bare = "Upper Critical - going high: reading 96 °C, threshold 95 °C", "Upper Critical - going high"
	r := &repository{records: [][]byte{
		record(1, "CPU Temp", nil), compact(8, "PSU 1", types.SensorTypePowerSupply, types.EventReadingTypeSensorSpecific, nil),
	}}
	numberless := func(e []byte) { e[13] = 0x09 }
	details := func(kind, number, reading, d1, d2, d3 byte) func([]byte) {
		return func(e []byte) { copy(e[10:], []byte{kind, number, reading, d1, d2, d3}) }
	}
	ofType := func(kind byte, at int, data ...byte) func([]byte) {
		return func(e []byte) {
			e[2] = kind
			copy(e[at:], data)
		}
	}
	for name, c := range map[string]struct {
		at       uint32
		change   func(e []byte)
		want     time.Time
		severity node.Health
		sensor   string
		message  string
	}{
		"a threshold, with its numbers": {now, nil, then, node.HealthCritical, "CPU Temp", hot},
		"a threshold without numbers":   {now, details(1, 1, 1, 0x07, 0xff, 0xff), then, node.HealthWarning, "CPU Temp", "Upper Non-critical - going high"},
		"what is over":                  {now, func(e []byte) { e[12] |= 0x80 }, then, node.HealthOK, "CPU Temp", hot + " (no longer)"},
		"a state":                       {now, details(8, 8, 0x6f, 0x01, 0xff, 0xff), then, node.HealthCritical, "PSU 1", "Power Supply Failure detected"},
		"what only its maker explains": {now, details(0x0c, 9, 0x6f, 0xa0, 1, 2), then, node.HealthWarning, "Memory 0x09",
			"Correctable ECC / other correctable memory error [01 02]"},
		"an event that nobody knows":   {now, details(0xc8, 9, 0x71, 0x03, 0xff, 0xff), then, "", "unknown 0x09", "unknown event 3"},
		"a clock that was not set":     {42, nil, time.Time{}, node.HealthCritical, "CPU Temp", hot},
		"a clock from before 1980":     {0x12000000, numberless, time.Time{}, node.HealthCritical, "CPU Temp", bare},
		"no time":                      {0xffffffff, numberless, time.Time{}, node.HealthCritical, "CPU Temp", bare},
		"a maker's record with a time": {now, ofType(0xc1, 7, 0xa2, 2, 0, 1, 2, 3, 4, 5, 6), then, "", "", "OEM record c1 of manufacturer 674: 010203040506"},
		"a maker's record without one": {now, ofType(0xf0, 3, []byte("fan 3 failed!")...), time.Time{}, "", "", "OEM record f0: 66616e2033206661696c656421"},
		"a type that does not exist":   {now, ofType(0x03, 3), then, "", "", "record of unknown type 03: 20000401010159605f"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &eventLog{entries: [][]byte{logged(7, c.at, c.change)}}
			b := (&standIn{answers: l.answers(r.answers())}).start(t)
			got, err := able(t, ipmi.New(quick()), b.node()).Events(t.Context(), 0)
			want := node.LogEntry{ID: "7", At: c.want, Severity: c.severity, Sensor: c.sensor, Message: c.message}
			if err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestALogThatIsBeingErasedIsReadAfterwards(t *testing.T) {
	l := &eventLog{entries: [][]byte{logged(1, 0x65000000, nil)}}
	answers := l.answers(nil)
	erasing := 3
	answers[types.CommandGetSELEntry] = func(q []byte) ([]byte, types.CompletionCode) {
		if erasing--; erasing >= 0 {
			return nil, types.CodeSELEraseInProgress
		}
		return l.get(q)
	}
	b := (&standIn{answers: answers}).start(t)
	if got, err := able(t, ipmi.New(quick()), b.node()).Events(t.Context(), 0); err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestALogIsReadInShortSessionsToo(t *testing.T) {
	l := &eventLog{}
	for n := range uint16(5) {
		l.entries = append(l.entries, logged(n+1, 0x65000000, nil))
	}
	b := (&standIn{answers: l.answers(nil)}).start(t)
	o := quick()
	o.Session = time.Nanosecond
	got, err := able(t, ipmi.New(o), b.node()).Events(t.Context(), 4)
	if err != nil || !slices.Equal(ids(got), []string{"5", "4", "3", "2"}) {
		t.Errorf("%v, %v", ids(got), err)
	}
	if n := len(b.sent(types.CommandCloseSession)); n < 4 {
		t.Errorf("%d sessions, want one for each entry", n)
	}
}

func TestClearingTheLogWaitsUntilItIsEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		log   *eventLog
		polls int
	}{
		"at once":                            {&eventLog{}, 0},
		"after a while":                      {&eventLog{pending: 3}, 3},
		"although the reservation was lost":  {&eventLog{lose: 2}, 0},
		"although it was lost while erasing": {&eventLog{pending: 1}, 1},
		"by a BMC that has no reservations":  {&eventLog{noReserve: true, pending: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.log.entries = [][]byte{logged(1, 0, nil)}
			answers := c.log.answers(nil)
			if name == "although it was lost while erasing" {
				answers[types.CommandClearSEL] = func(q []byte) ([]byte, types.CompletionCode) {
					a, code := c.log.clear(q)
					c.log.mu.Lock()
					defer c.log.mu.Unlock()
					if c.log.polls == 0 {
						c.log.reservation++
					}
					return a, code
				}
			}
			b := (&standIn{answers: answers}).start(t)
			if err := able(t, ipmi.New(quick()), b.node()).ClearLog(t.Context()); err != nil {
				t.Error(err)
			}
			c.log.mu.Lock()
			defer c.log.mu.Unlock()
			if c.log.begun != 1 || c.log.polls != c.polls || len(c.log.entries) != 0 {
				t.Errorf("erased %d times, asked %d times whether it is done, want once and %d", c.log.begun, c.log.polls, c.polls)
			}
		})
	}
	t.Run("as far as a BMC tells that cannot say how far it is", func(t *testing.T) {
		l := &eventLog{pending: 1}
		answers := l.answers(nil)
		answers[types.CommandClearSEL] = func(q []byte) ([]byte, types.CompletionCode) {
			if q[5] != 0xaa {
				return nil, types.CodeRequestDataFieldInvalid
			}
			return l.clear(q)
		}
		b := (&standIn{answers: answers}).start(t)
		if err := able(t, ipmi.New(quick()), b.node()).ClearLog(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("not for ever", func(t *testing.T) {
		l := &eventLog{lose: 1 << 20}
		b := (&standIn{answers: l.answers(nil)}).start(t)
		if err := able(t, ipmi.New(quick()), b.node()).ClearLog(t.Context()); !errors.As(err, new(*node.Unreachable)) {
			t.Errorf("%v", err)
		}
		if n := len(b.sent(types.CommandReserveSEL)); n > 50 {
			t.Errorf("%d reservations", n)
		}
	})
	t.Run("not by a BMC without a log", func(t *testing.T) {
		b := (&standIn{answers: map[types.Command]answer{types.CommandReserveSEL: refuse(types.CodeInvalidCommand), types.CommandClearSEL: refuse(types.CodeInvalidCommand)}}).start(t)
		if err := able(t, ipmi.New(quick()), b.node()).ClearLog(t.Context()); !errors.As(err, new(*node.Unsupported)) {
			t.Errorf("%v, want *node.Unsupported", err)
		}
	})
}

func TestEventsOfALogWhoseEntriesAreCutShortAreNotInvented(t *testing.T) {
	answers := (&eventLog{entries: [][]byte{logged(1, 0, nil)}}).answers(nil)
	answers[types.CommandGetSELEntry] = say(0xff, 0xff, 1, 0, 2)
	b := (&standIn{answers: answers}).start(t)
	got, err := able(t, ipmi.New(quick()), b.node()).Events(t.Context(), 0)
	if !errors.As(err, new(*node.Unreachable)) || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
