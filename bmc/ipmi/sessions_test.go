package ipmi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// descriptors counts what this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
			t.Fatalf("this system does not tell what is open, and CAGENUT_REQUIRE_PEERS asks for it: %v", err)
		}
		t.Skipf("this system does not tell what is open: %v", err)
	}
	return len(all)
}

// balanced waits until all sessions that were used are closed, and says how many there were.
func (b *standIn) balanced(t *testing.T) int {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; <-time.After(5 * time.Millisecond) {
		opened, closed := len(b.sent(types.CommandSetSessionPrivilegeLevel)), len(b.sent(types.CommandCloseSession))
		if opened == closed {
			return opened
		}
		if time.Now().After(until) {
			t.Fatalf("%d sessions opened, %d closed", opened, closed)
		}
	}
}

func TestTwentyCallersAtOnceLeaveNoSessionAndNoSocketBehind(t *testing.T) { // G65
	r := &repository{records: [][]byte{record(1, "CPU Temp", nil)}, readings: map[byte][]byte{1: {42, 0xc0, 0xc0}}}
	answers := (&eventLog{entries: [][]byte{logged(1, 0x65000000, nil)}}).answers(r.answers())
	for kind, a := range fruAnswers(fruOf(nil, nil, [][]byte{latin("Contoso")}), 255) {
		answers[kind] = a
	}
	b := (&standIn{answers: answers}).start(t)
	n, d := b.node(), ipmi.New(quick())
	pool := bmc.NewPool(map[string]bmc.Driver{node.DriverIPMI: d}, bmc.PoolOptions{})
	t.Cleanup(func() {
		if err := pool.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	before := descriptors(t)
	calls := readings(open(t, d, n), able(t, d, n))
	delete(calls, "boot") // nothing is set, which this BMC does not know how to say
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			for name, call := range calls {
				if err := pool.Do(t.Context(), n, func(bmc.Client) error { return call(t.Context()) }); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	callers.Wait()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	if sessions := b.balanced(t); sessions != 20*len(calls) {
		t.Errorf("%d sessions for %d calls", sessions, 20*len(calls))
	}
}

func TestASessionIsClosedAlthoughItsCallerLeaves(t *testing.T) {
	r := &repository{readings: map[byte][]byte{}}
	for i := range byte(3) {
		r.records = append(r.records, record(i+1, fmt.Sprint("S", i+1), nil))
		r.readings[i+1] = []byte{i, 0xc0, 0xc0}
	}
	var leave context.CancelFunc // of the caller who is there
	at := 0                      // the read of a record at which he leaves
	r.onRead = func(r *repository, _ int) types.CompletionCode {
		if r.reads == at {
			leave()
		}
		return types.CodeOK
	}
	b := (&standIn{answers: r.answers()}).start(t)
	d := ipmi.New(ipmi.Options{}) // the real ladder
	before := descriptors(t)
	for round := range 7 {
		ctx, cancel := context.WithCancel(t.Context())
		r.mu.Lock()
		leave, at, r.reads = cancel, round+1, 0
		r.mu.Unlock()
		d.Forget(t.Context(), b.node()) // how far the round before has come
		start := time.Now()
		if _, err := able(t, d, b.node()).Sensors(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("round %d: %v, want context.Canceled", round, err)
		}
		if took := time.Since(start); took > 900*time.Millisecond {
			t.Errorf("round %d: the caller had to wait for %s", round, took)
		}
	}
	if sessions := b.balanced(t); sessions != 7 {
		t.Errorf("%d sessions, want 7", sessions)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestASessionIsClosedAlthoughThePrivilegeIsRefused(t *testing.T) {
	b := (&standIn{answers: map[types.Command]answer{types.CommandSetSessionPrivilegeLevel: refuse(types.CodeSetSessionPrivilegeLevelExceedsLimit)}}).start(t)
	if _, err := open(t, ipmi.New(quick()), b.node()).Power(t.Context()); !errors.Is(err, node.ErrCredentials) {
		t.Errorf("%v, want node.ErrCredentials", err)
	}
	if sessions := b.balanced(t); sessions != 1 {
		t.Errorf("%d sessions, want 1", sessions)
	}
}
