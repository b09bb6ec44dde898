package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
	"cagenut/store"
)

// smallRoom is a store whose waiting room is small.
func smallRoom(t *testing.T, machines int, size int64) *store.Store {
	t.Helper()
	dir := t.TempDir()
	seal, err := store.OpenSeal(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "cagenut.db"), Seal: seal, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), MaxDiscovered: machines, MaxDiscoveredSize: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func numbered(i int) node.Discovery {
	return node.Discovery{
		Address: "192.0.2.7", At: begin.Add(time.Duration(i) * time.Second), Report: []byte(`{"inventory":{}}`),
		Machine: node.Machine{Serial: fmt.Sprint("S", i), MACs: []string{fmt.Sprintf("02:00:5e:00:%02x:%02x", i/256, i%256)}},
	}
}

func serials(t *testing.T, s *store.Store, f node.DiscoveredFilter) []string {
	t.Helper()
	var out []string
	for _, d := range must(s.DiscoveredMachines(t.Context(), f))(t) {
		out = append(out, d.Machine.Serial)
	}
	return out
}

func TestAFullWaitingRoomLetsTheOldestUndecidedMachinesGiveWay(t *testing.T) {
	s := smallRoom(t, 3, 1<<20)
	for i := range 3 {
		d := must(s.Discover(t.Context(), numbered(i)))(t)
		if i == 0 {
			if err := s.SetDiscoveredState(t.Context(), d.UUID, node.DiscoveredBlocked, node.Audit{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := numbered(1)
	again.At = begin.Add(time.Minute) // it is not the oldest any more
	must(s.Discover(t.Context(), again))(t)
	must(s.Discover(t.Context(), numbered(3)))(t)
	if got := serials(t, s, node.DiscoveredFilter{}); !slices.Equal(got, []string{"S3", "S1", "S0"}) {
		t.Errorf("there are %v", got)
	}
	for _, d := range must(s.DiscoveredMachines(t.Context(), node.DiscoveredFilter{}))(t) {
		if err := s.SetDiscoveredState(t.Context(), d.UUID, node.DiscoveredIgnored, node.Audit{}); err != nil {
			t.Fatal(err)
		}
	}
	var full *node.Conflict
	if _, err := s.Discover(t.Context(), numbered(4)); !errors.As(err, &full) {
		t.Errorf("with nobody who may give way: %v", err)
	}
	if counts := must(s.CountDiscovered(t.Context()))(t); !cmp.Equal(counts, map[node.DiscoveredState]int{node.DiscoveredIgnored: 3}) {
		t.Errorf("counts: %v", counts)
	}
}

// G26: what strangers send has a place of a certain size.
func TestTheWaitingRoomHasABoundInBytes(t *testing.T) {
	const size = 1 << 20
	s := smallRoom(t, 1000, size)
	for i := range 40 {
		d := numbered(i)
		random := make([]byte, 60<<10)
		_, _ = rand.Read(random)
		d.Report, d.Logs = fmt.Appendf(nil, `{"inventory":{},"x":%q}`, hex.EncodeToString(random)), random // what cannot be compressed
		must(s.Discover(t.Context(), d))(t)
		var sum int64
		for _, d := range must(s.DiscoveredMachines(t.Context(), node.DiscoveredFilter{}))(t) {
			sum += d.Size
		}
		if sum > size {
			t.Fatalf("after %d reports it holds %d bytes", i+1, sum)
		}
	}
	got := serials(t, s, node.DiscoveredFilter{})
	if len(got) < 4 || got[0] != "S39" {
		t.Errorf("there are %v", got)
	}
	large := numbered(50)
	large.Logs = bytes.Repeat([]byte("x"), size+1)
	var full *node.Conflict
	if _, err := s.Discover(t.Context(), large); !errors.As(err, &full) {
		t.Errorf("one that is larger than all: %v", err)
	}
	if still := serials(t, s, node.DiscoveredFilter{}); !slices.Equal(got, still) {
		t.Errorf("a report that has no room drove out others: %v", still)
	}
}

// Those who look are told of every machine that gives way.
func TestAMachineThatGivesWayIsTold(t *testing.T) {
	s := smallRoom(t, 2, 1<<20)
	var made []string
	for i := range 2 {
		made = append(made, must(s.Discover(t.Context(), numbered(i)))(t).UUID)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := s.Watch(ctx)
	came := must(s.Discover(t.Context(), numbered(2)))(t)
	got := []string{(<-told).NodeUUID, (<-told).NodeUUID}
	if want := []string{made[0], came.UUID}; !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v", got, want)
	}
}

// G26, G52: a room full of machines that claim one serial number and one MAC, each with as many parts as are kept, costs the
// next report little: others wait to write meanwhile.
func TestNamesakesAreNotAllCompared(t *testing.T) {
	s := smallRoom(t, 0, 0)
	namesake := func(i int, serial string) node.Discovery {
		d := numbered(i)
		d.Machine.Serial, d.Machine.BMCAddresses = serial, []string{fmt.Sprintf("192.0.%d.%d", i/256, i%256)}
		for n := range 32 {
			text := strings.Repeat(fmt.Sprint(n%10), 80)
			d.Machine.Disks = append(d.Machine.Disks, node.MachineDisk{Name: text, Model: text, Serial: text})
			d.Machine.NICs = append(d.Machine.NICs, node.MachineNIC{Name: text, MAC: text})
		}
		return d
	}
	count := 0
	report := func() {
		must(s.Discover(t.Context(), namesake(count, "one")))(t)
		count++
	}
	filledTo := func(n int) (allocations float64, took time.Duration) {
		for count < n {
			report()
		}
		began := time.Now()
		allocations = testing.AllocsPerRun(4, report) // five runs, each of another machine
		return allocations, time.Since(began) / 5
	}
	few, fewTook := filledTo(60)
	many, manyTook := filledTo(200)
	t.Logf("result: a report costs %s and %.0f allocations beside 60 namesakes, %s and %.0f beside 200", fewTook, few, manyTook, many)
	if many > 1.3*few {
		t.Errorf("%.0f allocations beside 60 namesakes, %.0f beside 200", few, many)
	}
	if found := must(s.DiscoveredMachines(t.Context(), node.DiscoveredFilter{}))(t); len(found) != count {
		t.Errorf("%d machines are %d", count, len(found))
	}
}

func TestDiscoveredMachinesArePagedTheNewestFirst(t *testing.T) {
	s := smallRoom(t, 0, 0)
	for i := range 7 {
		must(s.Discover(t.Context(), numbered(i)))(t)
	}
	var paged []string
	for marker := ""; ; {
		page := must(s.DiscoveredMachines(t.Context(), node.DiscoveredFilter{States: []node.DiscoveredState{node.DiscoveredNew}, Marker: marker, Limit: 3}))(t)
		if len(page) == 0 {
			break
		}
		for _, d := range page {
			paged = append(paged, d.Machine.Serial)
		}
		marker = page[len(page)-1].UUID
	}
	if !slices.Equal(paged, []string{"S6", "S5", "S4", "S3", "S2", "S1", "S0"}) {
		t.Errorf("pages: %v", paged)
	}
	var missing *node.NotFound
	if _, err := s.DiscoveredMachines(t.Context(), node.DiscoveredFilter{Marker: node.NewUUID()}); !errors.As(err, &missing) {
		t.Errorf("an unknown marker: %v", err)
	}
}

// G19: of reports that come at once, all are of one machine.
func TestReportsAtOnceMakeOneEntry(t *testing.T) {
	s := smallRoom(t, 0, 0)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Discover(t.Context(), numbered(1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if found := must(s.DiscoveredMachines(t.Context(), node.DiscoveredFilter{}))(t); len(found) != 1 || found[0].Times != 8 {
		t.Errorf("there are %+v", found)
	}
}

// A node that got a port with its MAC a moment ago is the machine's: it is no unknown one.
func TestAMachineWhosePortIsThereIsNotDiscovered(t *testing.T) {
	r := newRig(t)
	d := numbered(1)
	n := r.add(t, node.Enroll)
	must(r.CreatePort(t.Context(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: d.Machine.MACs[0]}, node.Audit{}))(t)
	if _, err := r.Discover(t.Context(), d); !errors.Is(err, node.ErrLost) {
		t.Errorf("got %v", err)
	}
}

// Of two who accept a machine one does, and a report in between makes both look again.
func TestAMachineIsAcceptedOnceAndAsItWasSeen(t *testing.T) {
	r := newRig(t)
	seen := must(r.Discover(t.Context(), numbered(1)))(t)
	acceptance := func() node.Acceptance {
		a := node.Attempt{ID: node.NewUUID(), NodeUUID: seen.UUID, Interface: "agent", Token: node.Secret(node.NewUUID()), State: node.RunFinished, StartedAt: begin, EndedAt: begin}
		return node.Acceptance{
			Node:   node.Node{UUID: seen.UUID, Driver: node.DriverFake, ProvisionState: node.Enroll, DriverInfo: map[string]any{"redfish_password": "not-a-real-one"}},
			Report: node.Report{AttemptID: a.ID, Body: []byte("{}"), At: seen.ReportAt}, Attempt: a,
			Inventory: node.Inventory{NodeUUID: seen.UUID, AttemptID: a.ID, Inventory: []byte(`{"system_vendor":{"serial_number":"S1"}}`), PluginData: []byte("{}"), CreatedAt: begin},
			History:   node.History{NodeUUID: seen.UUID, At: begin}, Audit: node.Audit{NodeUUID: seen.UUID, Action: "accept"},
		}
	}
	later := numbered(1)
	later.At = begin.Add(time.Hour)
	again := must(r.Discover(t.Context(), later))(t)
	if _, err := r.AcceptDiscovered(t.Context(), acceptance()); !errors.Is(err, node.ErrLost) {
		t.Errorf("with a report in between: %v", err)
	}
	if audits := must(r.Audits(t.Context(), seen.UUID))(t); len(audits) != 0 {
		t.Errorf("what was lost left %+v", audits)
	}
	seen = again
	n := must(r.AcceptDiscovered(t.Context(), acceptance()))(t)
	if n.UUID != seen.UUID || n.DriverInfo["redfish_password"] != "not-a-real-one" || n.AttemptID == "" {
		t.Errorf("the node is %+v", n)
	}
	if found := must(r.Nodes(t.Context(), node.Filter{Search: "S1"}))(t); len(found) != 1 {
		t.Errorf("by its serial number: %d", len(found))
	}
	var missing *node.NotFound
	if _, err := r.AcceptDiscovered(t.Context(), acceptance()); !errors.As(err, &missing) {
		t.Errorf("once more: %v", err)
	}
}
