package ipmi_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// TestAnswersOfAnyBytesEndInAResultOrAnError lets a BMC answer each command with bytes that mean nothing, or with the right ones
// cut short or changed. Nothing may panic, hang or go on for ever.
func TestAnswersOfAnyBytesEndInAResultOrAnError(t *testing.T) {
	r := &repository{
		records:    [][]byte{record(1, "CPU Temp", nil), compact(2, "PSU ", types.SensorTypePowerSupply, types.EventReadingTypeSensorSpecific, func(r []byte) { r[23] = 3 })},
		readings:   map[byte][]byte{1: {42, 0xc0, 0xc0}, 2: {0, 0xc0, 1, 0x80}},
		thresholds: map[byte][]byte{1: {0x3f, 1, 2, 3, 4, 5, 6}},
	}
	honest := (&eventLog{entries: [][]byte{logged(1, 1, nil), logged(2, 0x65000000, nil)}}).answers(r.answers())
	for kind, a := range fruAnswers(fruOf([][]byte{latin("P")}, [][]byte{latin("B")}, [][]byte{latin("C"), latin("S")}), 255) {
		honest[kind] = a
	}
	honest[types.CommandGetChassisStatus] = say(1, 0, 0x40)
	honest[types.CommandGetDeviceID] = say(0x20, 0x81, 0x03, 0x45, 0x02, 0xbf, 0xa2, 0x02, 0x00, 0x00, 0x01, 1, 2, 3, 4)
	honest[types.CommandGetSystemGUID] = say(make([]byte, 16)...)
	honest[types.CommandGetDeviceGUID] = say(make([]byte, 16)...)
	honest[types.CommandGetSELTime] = say(1, 2, 3, 0x65)
	honest[types.CommandGetSystemInfoParam] = say(0x11, 0, 0, 30, 'a', 'b', 'c', 'd')
	honest[types.CommandGetSystemBootOptions] = say(1, 5, 0xe0, 4, 0, 0, 0)
	honest[types.CommandGetSensorReadingFactors] = say(1, 2, 3, 4, 5, 6, 7)

	random := &dice{random: rand.New(rand.NewPCG(3, 4))}
	lying := map[types.Command]answer{}
	for kind, a := range honest {
		lying[kind] = func(q []byte) ([]byte, types.CompletionCode) {
			response, code := a(q)
			return random.spoil(response), code
		}
	}
	b := (&standIn{answers: lying}).start(t)
	d := ipmi.New(ipmi.Options{
		Ladder: []ipmi.Rung{{Timeout: 2 * time.Second}}, Operation: 10 * time.Second, Walk: 10 * time.Second, BusyPause: time.Millisecond, Poll: time.Millisecond,
	})
	n := b.node()
	worked, failed := 0, 0
	for range 60 {
		for name, call := range readings(open(t, d, n), able(t, d, n)) {
			start := time.Now()
			if err := call(t.Context()); err == nil {
				worked++
			} else {
				failed++
			}
			if took := time.Since(start); took > 9*time.Second {
				t.Fatalf("%s took %s", name, took)
			}
		}
		d.Forget(t.Context(), n)
	}
	if worked == 0 || failed == 0 {
		t.Errorf("%d calls worked and %d failed: the bytes are not as bad as they should be", worked, failed)
	}
}

// dice decide what becomes of an answer.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
}

// spoil leaves half of the answers, and cuts, changes or replaces the rest.
func (d *dice) spoil(response []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	response = slices.Clone(response)
	switch d.random.IntN(8) {
	case 0:
		return response[:d.random.IntN(len(response)+1)]
	case 1:
		response = make([]byte, d.random.IntN(40))
		for i := range response {
			response[i] = byte(d.random.Uint32())
		}
	case 2, 3:
		if len(response) > 0 {
			response[d.random.IntN(len(response))] = byte(d.random.Uint32())
		}
	}
	return response
}

// readings are all calls that change nothing, and clearing the log.
func readings(c bmc.Client, a bmc.Abilities) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"power":     func(ctx context.Context) error { _, err := c.Power(ctx); return err },
		"boot":      func(ctx context.Context) error { _, err := c.Boot(ctx); return err },
		"indicator": func(ctx context.Context) error { _, err := a.Indicator(ctx); return err },
		"sensors":   func(ctx context.Context) error { _, err := a.Sensors(ctx); return err },
		"health":    func(ctx context.Context) error { _, err := a.Health(ctx); return err },
		"events":    func(ctx context.Context) error { _, err := a.Events(ctx, 0); return err },
		"newest":    func(ctx context.Context) error { _, err := a.Events(ctx, 1); return err },
		"clear":     a.ClearLog,
		"identity":  func(ctx context.Context) error { _, err := a.Identity(ctx); return err },
		"hardware":  func(ctx context.Context) error { _, err := a.Hardware(ctx); return err },
		"firmware":  func(ctx context.Context) error { _, err := a.Firmware(ctx); return err },
	}
}

func TestABootDeviceRefusedDuringPOSTIsSetAfterIt(t *testing.T) { // G64
	refusals := 3
	b := (&standIn{answers: map[types.Command]answer{types.CommandSetSystemBootOptions: func(q []byte) ([]byte, types.CompletionCode) {
		if q[0]&0x7f == 5 && refusals > 0 {
			refusals--
			return nil, types.CodeNotSupported
		}
		return nil, types.CodeOK
	}}}).start(t)
	if err := open(t, ipmi.New(quick()), b.node()).SetBoot(t.Context(), node.Boot{Device: node.BootPXE}); err != nil {
		t.Error(err)
	}
}
