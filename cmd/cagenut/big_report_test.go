package main

import (
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

// bigReport is one of nearly 16 MiB, 12 MiB of which are logs.
func bigReport() []byte {
	const mib = 1 << 20
	return []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"02:00:5e:00:00:71"}]},"x":"` + strings.Repeat("y", 4*mib-4096) + `","logs":"` + strings.Repeat("QUJD", 3*mib) + `"}`)
}

// A report of 16 MiB costs less than 100 MB from the socket to the end of the inspection, with all that is kept of it.
func TestABigReportThroughTheWholeAppliance(t *testing.T) {
	a := serveForTest(t, true)
	n, at := a.nodeIn(node.InspectWait, "agent")
	body := bigReport()
	// What earlier tests left alive would let dead objects of this one lie about for longer than in an appliance alone.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	peak := watchHeap()
	status, _, answer := a.send("POST", "/v1/continue_inspection?attempt="+url.QueryEscape(string(at.Token)), "", body)
	if status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
	a.untilState(n.UUID, node.Manageable)
	cost := float64(peak()) / 1e6
	t.Logf("%.0f MB beside the %d bytes that the test sent", cost, len(body))
	if cost > 100 {
		t.Errorf("%.0f MB", cost)
	}
}

// watchHeap looks at the heap every millisecond; what it returns ends that, and tells by how many bytes the heap was at
// most above what it was. Dead objects that are not swept yet count.
func watchHeap() func() uint64 {
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	began := heap()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		highest := began
		for {
			highest = max(highest, heap())
			select {
			case <-stop:
				most <- highest - began
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); return <-most }
}
