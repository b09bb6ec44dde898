package hooks_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

const mib = 1 << 20

// bigReports make reports of the greatest size: 12 MiB of logs, and 4 MiB of other things.
func bigReports() map[string]func() []byte {
	interfaces := make([]string, 64)
	for i := range interfaces {
		interfaces[i] = fmt.Sprintf(`{"name":"eno%d","mac_address":"02:00:5e:70:00:%02x","ipv4_address":"192.0.2.%d","lldp":%s}`, i, i, i+1, leaf1)
	}
	disks := make([]string, 256)
	for i := range disks {
		disks[i] = fmt.Sprintf(`{"name":"/dev/sd%d","size":960197124096,"serial":"S%d"}`, i, i)
	}
	fill := func(one string, size int) string {
		return strings.TrimSuffix(strings.Repeat(one+",", size/(len(one)+1)), ",")
	}
	with := func(rest string) func() []byte {
		return func() []byte {
			return []byte(report(`"logs":"`+strings.Repeat("QUJD", 3*mib)+`",`+rest, strings.Join(interfaces, ","), `"disks":[`+strings.Join(disks, ",")+`]`))
		}
	}
	const rest = 4*mib - 100<<10
	return map[string]func() []byte{
		"one long text":       with(`"x":"` + strings.Repeat("y", rest) + `"`),
		"a million values":    with(`"x":[` + fill(`[]`, rest) + `]`),
		"extra hardware":      with(`"data":[` + fill(`["network","eth0","tx-checksum-ipv4","off [fixed]"]`, rest) + `]`),
		"extra keys":          with(`"data":[` + strings.Join(extraKeys(rest), ",") + `]`),
		"PCI devices":         with(`"pci_devices":[` + fill(`{"vendor_id":"10de","product_id":"1eb8","class":"030200","bus":"0000:3b:00.0"}`, rest) + `]`),
		"LLDP of interfaces":  with(`"lldp_raw":{` + strings.TrimSuffix(strings.Repeat(`"eno1":[`+fill(`[127,"0080c2030065037261"]`, rest/64-10)+`],`, 64), ",") + `}`),
		"members, many-named": with(`"x":{` + fill(`"k":0`, rest) + `}`),
	}
}

// extraKeys are values of extra hardware, no two alike.
func extraKeys(size int) []string {
	var all []string
	for i := 0; size > 0; i++ {
		one := fmt.Sprintf(`["g%d","i%d","k%d",%d]`, i%7, i, i, i)
		all, size = append(all, one), size-len(one)-1
	}
	return all
}

// workOn does to a report what a posted one goes through, read twice, by all hooks.
func workOn(tb testing.TB, body []byte) {
	tb.Helper()
	list, _ := everyHookWithSettings(tb)
	keys, err := inventory.Parse(body)
	if err != nil || len(keys.Logs) != 12*mib || len(keys.MACs()) != 64 {
		tb.Fatalf("%d bytes of logs, %v", len(keys.Logs), err)
	}
	r, err := inventory.Parse(body)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := hooks.Run(list, hooks.Input{Node: node.Node{UUID: uuid}, Report: r})
	if err != nil || len(f.NewPorts) == 0 {
		tb.Fatalf("%d ports, %v", len(f.NewPorts), err)
	}
}

// All that is allocated from beginning to end, collected or not, is more than is ever in use at once.
func TestAReportOf16MiBCostsLessThan100MB(t *testing.T) {
	for _, name := range []string{"one long text", "extra keys"} { // the benchmark has more, none of which costs more
		t.Run(name, func(t *testing.T) {
			body := bigReports()[name]()
			if len(body) > 16*mib || len(body) < 15*mib {
				t.Fatalf("the report has %d bytes", len(body))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			workOn(t, body)
			runtime.ReadMemStats(&after)
			if cost := after.TotalAlloc - before.TotalAlloc + uint64(len(body)); cost > 100_000_000 {
				t.Errorf("%d MB, the body itself among them", cost/1_000_000)
			}
		})
	}
}

func BenchmarkAReportOf16MiB(b *testing.B) {
	for name, make := range bigReports() {
		b.Run(name, func(b *testing.B) {
			body := make()
			b.ReportAllocs()
			var most uint64
			for b.Loop() {
				b.StopTimer()
				peak := watchHeap()
				b.StartTimer()
				workOn(b, body)
				most = max(most, peak())
			}
			b.ReportMetric(float64(most+uint64(len(body)))/1e6, "peak-heap-MB") // the body too
		})
	}
}

// watchHeap looks at the heap every millisecond; what it returns ends that, and tells by how much the heap was at most
// above what it was.
func watchHeap() func() uint64 {
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

// heap is how much of the heap objects take, dead ones that are not swept yet among them.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
