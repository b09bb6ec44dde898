package ipmi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// same compares sensors with what their pointers point to.
func same(t *testing.T, got, want []node.Sensor) {
	t.Helper()
	spell := func(s node.Sensor) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = spell(got[i])
		}
		if i < len(want) {
			w = spell(want[i])
		}
		if g != w {
			t.Errorf("sensor %d is\n%s, want\n%s", i, g, w)
		}
	}
}

func ptr(v float64) *float64 { return &v }

func TestReadingsAreConvertedAsTheirRecordsSay(t *testing.T) {
	scaled := func(format, linear, m, b, exponents byte) func([]byte) {
		return func(r []byte) { r[20], r[23], r[24], r[26], r[29] = format<<6, linear, m, b, exponents }
	}
	for name, c := range map[string]struct {
		change func([]byte)
		raw    byte
		want   *float64
	}{
		"as it is":                             {nil, 42, ptr(42)},
		"two's complement":                     {scaled(2, 0, 1, 0, 0), 0xf6, ptr(-10)},
		"one's complement":                     {scaled(1, 0, 1, 0, 0), 0xf5, ptr(-10)},
		"times 100":                            {scaled(0, 0, 100, 0, 0), 45, ptr(4500)},
		"tenths":                               {scaled(0, 0, 1, 0, 0xf0), 121, ptr(12.1)},
		"an offset with an exponent":           {scaled(0, 0, 1, 5, 0x01), 10, ptr(60)},
		"a negative M of ten bits":             {func(r []byte) { r[24], r[25] = 0xff, 0xc0 }, 7, ptr(-7)},
		"a negative B of ten bits":             {func(r []byte) { r[26], r[27] = 0xfe, 0xc0 }, 7, ptr(5)},
		"ln":                                   {scaled(0, 0x01, 1, 0, 0), 1, ptr(0)},
		"log10":                                {scaled(0, 0x02, 1, 0, 0), 100, ptr(2)},
		"log2":                                 {scaled(0, 0x03, 1, 0, 0), 8, ptr(3)},
		"e to the power":                       {scaled(0, 0x04, 1, 0, 0), 0, ptr(1)},
		"10 to a power that is not whole":      {scaled(0, 0x05, 5, 0, 0xf0), 1, ptr(3.162278)},
		"2 to the power":                       {scaled(0, 0x06, 1, 0, 0), 5, ptr(32)},
		"1/x":                                  {scaled(0, 0x07, 1, 0, 0), 4, ptr(0.25)},
		"1/x of 0 is no number":                {scaled(0, 0x07, 1, 0, 0), 0, nil},
		"square":                               {scaled(0, 0x08, 1, 0, 0), 3, ptr(9)},
		"cube":                                 {scaled(0, 0x09, 1, 0, 0), 3, ptr(27)},
		"square root":                          {scaled(0, 0x0a, 1, 0, 0), 16, ptr(4)},
		"cube root":                            {scaled(0, 0x0b, 1, 0, 0), 27, ptr(3)},
		"not linear, with factors":             {scaled(0, 0x70, 1, 0, 0), 9, ptr(90)},
		"not linear, and the BMC does not say": {scaled(0, 0x70, 1, 0, 0), 8, nil},
		"not a number":                         {scaled(3, 0, 1, 0, 0), 8, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := &repository{
				records: [][]byte{record(1, "S", c.change)}, readings: map[byte][]byte{1: {c.raw, 0xc0, 0xc0}},
				factors: map[[2]byte][]byte{{1, 9}: {10, 10, 0, 0, 0, 0, 0}},
			}
			b := (&standIn{answers: r.answers()}).start(t)
			got, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, []node.Sensor{{Name: "S", Kind: node.SensorTemperature, Unit: "Cel", Reading: c.want, Health: node.HealthOK}})
		})
	}
}

func TestSensorsOfAllKindsAreShown(t *testing.T) {
	typed := func(kind, base, flags byte) func([]byte) {
		return func(r []byte) { r[12], r[21], r[20], r[11] = kind, base, flags, 0 }
	}
	r := &repository{
		records: [][]byte{
			record(1, "CPU Temp", nil),
			record(2, "PSU power", typed(0x03, 6, 0)),
			record(3, "PSU current", typed(0x03, 5, 0)),
			record(4, "Fan duty", typed(0x04, 0, 1)),
			record(5, "Air flow", typed(0x0b, 17, 0)),
			record(6, "Fixed", func(r []byte) { r[11] |= 0x0c; r[36], r[37], r[38], r[41] = 99, 90, 80, 5; r[18] = 0x39 }),
			record(7, "Gone", nil),
			record(8, "Busy starting", nil),
			record(9, "Not scanned", nil),
			record(10, "Not telling", nil),
			record(11, "Elsewhere", func(r []byte) { r[5] = 0x2c }),
			record(12, "Too hot", nil),
			record(13, "Too slow", nil),
			record(14, "", nil),
			compact(20, "Chassis", types.SensorTypePhysicalSecurity, types.EventReadingTypeSensorSpecific, nil),
			compact(21, "PSU ", types.SensorTypePowerSupply, types.EventReadingTypeSensorSpecific, func(r []byte) { r[23], r[24] = 0x02, 0x01 }),
			compact(30, "Bank ", types.SensorTypeMemory, types.EventReadingTypeSensorSpecific, func(r []byte) { r[23] = 0x12 }),
			compact(40, "Redundancy", types.SensorTypePowerUnit, types.EventReadingTypeRedundancy, nil),
			compact(41, "Bay", types.SensorTypeDriveSlot, types.EventReadingTypeDevicePresent, nil),
			compact(42, "Vendor's", 0xc8, 0x71, nil),
			{0, 0, 0x51, 0x12, 0x02, 0x20, 0x00}, // a locator
			{0, 0, 0x51, 0x01, 0x02, 0x20, 0x00}, // a sensor's record cut short
		},
		readings: map[byte][]byte{
			1: {42, 0xc0, 0xc0}, 2: {120, 0xc0, 0xc0}, 3: {2, 0xc0, 0xc0}, 4: {30, 0xc0, 0xc0}, 5: {7, 0xc0, 0xc0}, 6: {85, 0xc0, 0xc8},
			8: {0, 0xe0, 0xc0}, 9: {0, 0x80, 0xc0}, 10: {}, 11: {1, 0xc0, 0xc0}, 12: {95, 0xc0, 0xd8}, 13: {3, 0xc0, 0xc1}, 14: {1, 0xc0},
			20: {0, 0xc0, 0x00, 0x80}, 21: {0, 0xc0, 0x01, 0x80}, 22: {0, 0xc0, 0x0b, 0x80}, 30: {0, 0xc0, 0x40, 0x80}, 31: {0, 0xe0, 0x41, 0x80},
			40: {0, 0xc0, 0x04, 0x80}, 41: {0, 0xc0, 0x01, 0x80}, 42: {0, 0xc0, 0x05, 0x84},
		},
		thresholds: map[byte][]byte{1: {0x1b, 10, 5, 0, 80, 90, 0}, 12: {0x20, 0, 0, 0, 0, 0, 94}, 8: {0x08, 0, 0, 0, 60, 0, 0}},
	}
	b := (&standIn{answers: r.answers()}).start(t)
	got, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	temp := func(s node.Sensor) node.Sensor { s.Kind, s.Unit = node.SensorTemperature, "Cel"; return s }
	same(t, got, []node.Sensor{
		temp(node.Sensor{Name: "CPU Temp", Reading: ptr(42), Health: node.HealthOK, LowerCritical: ptr(5), LowerWarning: ptr(10), UpperWarning: ptr(80), UpperCritical: ptr(90)}),
		{Name: "PSU power", Kind: node.SensorPower, Unit: "W", Reading: ptr(120), Health: node.HealthOK},
		{Name: "PSU current", Kind: node.SensorCurrent, Unit: "A", Reading: ptr(2), Health: node.HealthOK},
		{Name: "Fan duty", Kind: node.SensorFan, Unit: "%", Reading: ptr(30), Health: node.HealthOK},
		{Name: "Air flow", Kind: node.SensorOther, Unit: "CFM", Reading: ptr(7), Health: node.HealthOK},
		temp(node.Sensor{Name: "Fixed", Reading: ptr(85), Health: node.HealthWarning, LowerWarning: ptr(5), UpperWarning: ptr(80), UpperCritical: ptr(90)}),
		temp(node.Sensor{Name: "Busy starting", UpperWarning: ptr(60)}),
		temp(node.Sensor{Name: "Not scanned"}),
		temp(node.Sensor{Name: "Not telling"}),
		temp(node.Sensor{Name: "Elsewhere"}),
		temp(node.Sensor{Name: "Too hot", Reading: ptr(95), Health: node.HealthCritical, UpperCritical: ptr(94)}),
		temp(node.Sensor{Name: "Too slow", Reading: ptr(3), Health: node.HealthWarning}),
		temp(node.Sensor{Name: "Temperature 0x0e", Reading: ptr(1), Health: node.HealthOK}),
		{Name: "Chassis", Kind: node.SensorOther},
		{Name: "PSU 1", Kind: node.SensorOther, State: "Presence detected", Health: node.HealthOK},
		{Name: "PSU 2", Kind: node.SensorOther, State: "Presence detected, Power Supply Failure detected, Power Supply input lost (AC/DC)", Health: node.HealthCritical},
		{Name: "Bank A", Kind: node.SensorOther, State: "Presence detected", Health: node.HealthOK},
		{Name: "Bank B", Kind: node.SensorOther},
		{Name: "Redundancy", Kind: node.SensorOther, State: "Redundancy Degraded", Health: node.HealthWarning},
		{Name: "Bay", Kind: node.SensorOther, State: "Device Removed / Device Absent"}, // an empty bay is no illness
		{Name: "Vendor's", Kind: node.SensorOther, State: "state 0, state 2, state 10"},
	})
}

func TestALostReservationIsTakenAgain(t *testing.T) { // quirk 64
	for name, c := range map[string]struct {
		onRead func(r *repository, count int) types.CompletionCode
		fails  bool
	}{
		"now and then": {func(r *repository, _ int) types.CompletionCode {
			if r.reads%5 == 0 {
				r.reservation++ // another reader took it
			}
			return types.CodeOK
		}, false},
		"when the repository changes, which is then read anew": {func(r *repository, _ int) types.CompletionCode {
			if r.reads == 6 {
				r.reservation++
				r.changes++
				r.records[0] = record(1, "S1, new", nil)
			}
			return types.CodeOK
		}, false},
		"for ever": {func(r *repository, _ int) types.CompletionCode { r.reservation++; return types.CodeOK }, true},
		"by a BMC that refuses even the first read for ever": {func(*repository, int) types.CompletionCode { return types.CodeReservationCanceled }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &repository{readings: map[byte][]byte{}, onRead: c.onRead}
			for i := range byte(6) {
				r.records = append(r.records, record(i+1, fmt.Sprint("S", i+1), nil))
				r.readings[i+1] = []byte{i, 0xc0, 0xc0}
			}
			b := (&standIn{answers: r.answers()}).start(t)
			got, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context())
			r.mu.Lock()
			defer r.mu.Unlock()
			if c.fails {
				if !errors.As(err, new(*node.Unreachable)) || r.reads > 100 {
					t.Errorf("%v after %d reads, want an end", err, r.reads)
				}
				return
			}
			if err != nil || len(got) != 6 {
				t.Fatalf("%d sensors, %v", len(got), err)
			}
			if r.changes > 0 && got[0].Name != "S1, new" {
				t.Errorf("the first sensor is %q, as before the change", got[0].Name)
			}
		})
	}
}

func TestRecordsAreReadInPiecesAsLargeAsTheBMCSends(t *testing.T) { // quirk 64
	r := &repository{records: [][]byte{record(1, "A long name of 16", nil), record(2, "Second", nil)}, readings: map[byte][]byte{1: {1, 0xc0, 0xc0}, 2: {2, 0xc0, 0xc0}}}
	r.onRead = func(_ *repository, count int) types.CompletionCode {
		if count > 10 {
			return types.CodeCannotReturnRequestedDataBytes
		}
		return types.CodeOK
	}
	b := (&standIn{answers: r.answers()}).start(t)
	got, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context())
	if err != nil || len(got) != 2 || got[1].Name != "Second" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestARepositoryThatNeverEndsIsLeft(t *testing.T) {
	header := []byte{0x0a, 0x00, 0, 0, 0x51, 0x12, 0} // next is 10, whichever is asked
	answers := (&repository{records: make([][]byte, 1)}).answers()
	answers[types.CommandGetSDR] = func(q []byte) ([]byte, types.CompletionCode) {
		next := header
		if q[2] == 10 {
			next = append([]byte{0x14}, header[1:]...)
		}
		return next, types.CodeOK
	}
	b := (&standIn{answers: answers}).start(t)
	got, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context())
	if err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(b.sent(types.CommandGetSDR)); n > 3000 {
		t.Errorf("%d records were read", n)
	}
}

func TestSensorsAreReadInShortSessions(t *testing.T) { // bmc.md §4.4: sessions end before the library keeps them alive
	r := &repository{readings: map[byte][]byte{}}
	for i := range byte(10) {
		r.records = append(r.records, record(i+1, fmt.Sprint("S", i+1), nil))
		r.readings[i+1] = []byte{i, 0xc0, 0xc0}
	}
	b := (&standIn{answers: r.answers()}).start(t)
	o := quick()
	o.Session = time.Nanosecond
	got, err := able(t, ipmi.New(o), b.node()).Sensors(t.Context())
	if err != nil || len(got) != 10 || *got[9].Reading != 9 {
		t.Fatalf("%d sensors, %v", len(got), err)
	}
	if opened, closed := len(b.sent(types.CommandSetSessionPrivilegeLevel)), len(b.sent(types.CommandCloseSession)); opened < 20 || opened != closed {
		t.Errorf("%d sessions opened, %d closed; want one for each record and each reading", opened, closed)
	}
}

func TestTheRepositoryIsReadOnceAsLongAsItDoesNotChange(t *testing.T) {
	r := &repository{records: [][]byte{record(1, "Before", nil)}, readings: map[byte][]byte{1: {1, 0xc0, 0xc0}}}
	b := (&standIn{answers: r.answers()}).start(t)
	d, n := ipmi.New(quick()), b.node()
	read := func(want string) int {
		t.Helper()
		got, err := able(t, d, n).Sensors(t.Context())
		if err != nil || len(got) != 1 || got[0].Name != want {
			t.Errorf("%+v, %v; want %s", got, err, want)
		}
		return len(b.sent(types.CommandGetSDR))
	}
	first := read("Before")
	if again := read("Before"); again != first {
		t.Errorf("%d reads of records at first, %d in all after the second time", first, again)
	}
	r.mu.Lock()
	r.records[0], r.changes = record(1, "After", nil), 1
	r.mu.Unlock()
	changed := read("After")
	if changed != 2*first {
		t.Errorf("%d reads of records in all after a change, want %d", changed, 2*first)
	}
	d.Forget(t.Context(), n)
	if again := read("After"); again != changed+first {
		t.Errorf("%d reads of records in all after the BMC was forgotten, want %d", again, changed+first)
	}
}

func TestBusyBMCsAreReadOnFromWhereTheyWere(t *testing.T) {
	r := &repository{readings: map[byte][]byte{}}
	for i := range byte(10) {
		r.records = append(r.records, record(i+1, fmt.Sprint("S", i+1), nil))
		r.readings[i+1] = []byte{i, 0xc0, 0xc0}
	}
	r.onRead = func(r *repository, _ int) types.CompletionCode {
		if r.reads%13 == 0 {
			return types.CodeNodeBusy
		}
		return types.CodeOK
	}
	b := (&standIn{answers: r.answers()}).start(t)
	if got, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context()); err != nil || len(got) != 10 {
		t.Errorf("%d sensors, %v", len(got), err)
	}
}

// A request has 20 s, and a slow BMC may need more for its records: whoever asks again gets further.
func TestARepositoryThatTakesLongerThanACallIsReadOnInTheNext(t *testing.T) {
	r := &repository{readings: map[byte][]byte{}}
	for i := range byte(10) {
		r.records = append(r.records, record(i+1, fmt.Sprint("S", i+1), nil))
		r.readings[i+1] = []byte{i, 0xc0, 0xc0}
	}
	most := 12 // reads of one call
	r.onRead = func(r *repository, _ int) types.CompletionCode {
		if r.reads > most {
			return types.CodeProcessTimeout
		}
		return types.CodeOK
	}
	b := (&standIn{answers: r.answers()}).start(t)
	d, n := ipmi.New(quick()), b.node()
	for calls := 1; ; calls++ {
		got, err := able(t, d, n).Sensors(t.Context())
		if err == nil {
			if calls == 1 || len(got) != 10 || got[0].Name != "S1" || got[9].Name != "S10" {
				t.Errorf("%d sensors after %d calls: %+v", len(got), calls, got)
			}
			return
		}
		if calls == 20 {
			t.Fatalf("not in %d calls: %v", calls, err)
		}
		r.mu.Lock()
		r.reads = 0
		r.mu.Unlock()
	}
}

func TestABMCWithoutARepositoryHasNoSensors(t *testing.T) {
	b := (&standIn{answers: map[types.Command]answer{types.CommandGetSDRRepoInfo: refuse(types.CodeInvalidCommand)}}).start(t)
	if _, err := able(t, ipmi.New(quick()), b.node()).Sensors(t.Context()); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("%v, want *node.Unsupported", err)
	}
}
