package sim_test

import (
	"net/http"
	"slices"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// quirk is a fault with what it does on the wire. The numbers are those of the list of quirks in bmc.md §7.
type quirk struct {
	fault    sim.Fault
	strength sim.Strength
	rows     []int
	check    func(*testing.T, *sim.Server)
}

// notExpressed says why a quirk of bmc.md §7 is no fault.
var notExpressed = map[int]string{
	17: "the simulated firmware has no UEFI HTTP boot, so nothing could show what DHCP and TLS mode do to it",
	56: "the boot order is shown and has no effect on what the simulated server boots, so BMC and BIOS cannot disagree",
	57: "there is no event service: the appliance polls and subscribes to nothing",
	58: "as 57",
	66: "it is a defect of an old client library, not of a BMC",
	67: "there is no serial console: the appliance does not offer one",
}

// always are quirks that every simulated BMC has, without a fault, and what shows them.
var always = map[int]string{
	39: "sessions live 30 minutes without their client: TestSessionsOfADeadClientStayAndCountAsLeaked",
	51: "ports are numbered from 1 at each adapter: TestPortsOfTwoAdaptersHaveTheSameIDs",
}

func TestEveryQuirkOfTheHandbookIsAFaultOrHasAReason(t *testing.T) {
	seen := map[int]bool{}
	for _, q := range allQuirks() {
		for _, n := range q.rows {
			seen[n] = true
		}
	}
	for n := 1; n <= 68; n++ {
		reasons := 0
		for _, known := range []bool{seen[n], notExpressed[n] != "", always[n] != ""} {
			if known {
				reasons++
			}
		}
		if reasons != 1 {
			t.Errorf("quirk %d is explained %d times", n, reasons)
		}
	}
}

func TestEveryFaultHasATest(t *testing.T) {
	tested := map[string]bool{}
	for driver, list := range map[string][]quirk{node.DriverRedfish: redfishQuirks(), node.DriverIPMI: ipmiQuirks} {
		for _, q := range list {
			tested[driver+" "+string(q.fault)] = true
		}
	}
	for _, q := range tlsQuirks {
		tested[node.DriverRedfish+" "+string(q.fault)] = true
	}
	for _, f := range sim.AllFaults() {
		if f.What == "" {
			t.Errorf("%s says nothing of itself", f.Fault)
		}
		for _, driver := range f.Drivers {
			if !tested[driver+" "+string(f.Fault)] {
				t.Errorf("%s over %s has no row in a table", f.Fault, driver)
			}
		}
	}
}

func allQuirks() []quirk { return slices.Concat(redfishQuirks(), ipmiQuirks) }

func redfishQuirks() []quirk {
	return slices.Concat(answerQuirks, powerQuirks, bootQuirks, mediaQuirks, inventoryQuirks)
}

func TestRedfishQuirks(t *testing.T) {
	for _, q := range redfishQuirks() {
		t.Run(string(q.fault), func(t *testing.T) {
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			if err := s.SwitchOn(q.fault, q.strength); err != nil {
				t.Fatal(err)
			}
			q.check(t, s)
			s.Heal()
			if len(s.ActiveFaults()) != 0 {
				t.Errorf("after healing: %v", s.ActiveFaults())
			}
			if res, _ := call(t, s, http.MethodGet, system, ""); res.StatusCode != http.StatusOK {
				t.Errorf("after healing: %s", res.Status)
			}
		})
	}
}

func TestFaultsAreSwitchedWithCare(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	for name, c := range map[string]struct {
		fault    sim.Fault
		strength sim.Strength
	}{
		"one that does not exist":           {"bad-mood", sim.Strength{}},
		"one of the other protocol":         {sim.FaultSuite3Only, sim.Strength{}},
		"a negative count":                  {sim.FaultBusy, sim.Strength{Count: -1}},
		"more than all":                     {sim.FaultBusy, sim.Strength{Percent: 101}},
		"a count for a way of the BMC":      {sim.FaultNoMedia, sim.Strength{Count: 2}},
		"a percentage for a way of the BMC": {sim.FaultNoMedia, sim.Strength{Percent: 2}},
	} {
		if err := s.SwitchOn(c.fault, c.strength); err == nil || len(s.ActiveFaults()) != 0 {
			t.Errorf("%s: %v, %v", name, err, s.ActiveFaults())
		}
	}
}

func TestFaultStrikesAsOftenAsItWasTold(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1, Seed: 3}).Servers()[0]
	count := func() (busy int) {
		for range 100 {
			if res, _ := call(t, s, http.MethodGet, system, ""); res.StatusCode == http.StatusServiceUnavailable {
				busy++
			}
		}
		return busy
	}
	switchOn(t, s, sim.FaultBusy, sim.Strength{Count: 7})
	if n := count(); n != 7 {
		t.Errorf("7 times: %d", n)
	}
	switchOn(t, s, sim.FaultBusy, sim.Strength{Percent: 20})
	if n := count(); n < 5 || n > 40 {
		t.Errorf("20 percent: %d of 100", n)
	}
}

func switchOn(t *testing.T, s *sim.Server, f sim.Fault, strength sim.Strength) {
	t.Helper()
	if err := s.SwitchOn(f, strength); err != nil {
		t.Fatal(err)
	}
}

// shown is the document at a path, which must be there.
func shown(t *testing.T, s *sim.Server, path string) map[string]any {
	t.Helper()
	res, doc := call(t, s, http.MethodGet, path, "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, res.Status)
	}
	return doc
}

// at follows names into a document, and numbers into its lists; nil where there is nothing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

// status asks and gives the status alone.
func status(t *testing.T, s *sim.Server, method, path, body string, header ...string) int {
	t.Helper()
	res, _ := call(t, s, method, path, body, header...)
	return res.StatusCode
}

// expect fails the test where two lists of statuses differ.
func expect(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
