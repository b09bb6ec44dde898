package sim_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestServerThatBootsOverTheNetworkReportsItself(t *testing.T) {
	a := newAppliance(t)
	s := startRack(t, sim.Options{Servers: 1, BootURL: a.URL}).Servers()[0]
	if s.Power() != node.PowerOff || s.Phase() != sim.PhaseOff {
		t.Fatalf("a new server is %s, %s", s.Power(), s.Phase())
	}
	netbootOnce(t, s)
	waitPhase(t, s, sim.PhaseDone)

	want := []string{
		"GET /boot.ipxe?mac=" + strings.ReplaceAll(s.BootMAC, ":", "%3A"),
		"GET /boot/kernel", "GET /boot/initrd", "POST /v1/continue_inspection?attempt=t0k3n",
	}
	if got := a.requests(); !slices.Equal(got, want) {
		t.Errorf("the server asked for\n%v, want\n%v", got, want)
	}
	r := a.received()[0]
	if string(r.body) != string(s.Report()) {
		t.Error("the report is not the server's own")
	}
	if r.header.Get("Content-Type") != "application/json" || r.header.Get("Accept") != "application/json" {
		t.Errorf("headers of the report: %v", r.header)
	}
	for name := range r.header {
		if strings.Contains(name, "Version") || name == "Authorization" {
			t.Errorf("the agent sends no %s", name)
		}
	}
}

func TestOverrideForOneBootIsUsedUpByIt(t *testing.T) {
	for _, c := range []struct {
		enabled string
		then    sim.Phase
		boot    node.Boot
	}{
		{"Once", sim.PhaseDisk, node.Boot{}},
		{"Continuous", sim.PhaseDone, node.Boot{Device: node.BootPXE, Persistent: true}},
	} {
		t.Run(c.enabled, func(t *testing.T) {
			a := newAppliance(t)
			s := startRack(t, sim.Options{Servers: 1, BootURL: a.URL}).Servers()[0]
			setBoot(t, s, c.enabled)
			resetTo(t, s, "On", http.StatusNoContent)
			waitPhase(t, s, sim.PhaseDone)
			if s.Boot() != c.boot {
				t.Errorf("after the boot the override is %+v, want %+v", s.Boot(), c.boot)
			}
			resetTo(t, s, "ForceOff", http.StatusNoContent)
			waitPhase(t, s, sim.PhaseOff)
			resetTo(t, s, "On", http.StatusNoContent)
			waitPhase(t, s, c.then)
		})
	}
}

func TestServerThatDoesNotBootOverTheNetworkAsksForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		silent   int
		override bool
		phase    sim.Phase
	}{
		"no override: from its disk":                          {0, false, sim.PhaseDisk},
		"cabled wrongly: it waits for DHCP and hears nothing": {1, true, sim.PhaseNetboot},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAppliance(t)
			r := startRack(t, sim.Options{Servers: 1, Silent: c.silent, BootURL: a.URL})
			s := r.Servers()[0]
			if s.Silent != (c.silent == 1) {
				t.Fatalf("silent: %t", s.Silent)
			}
			if c.override {
				setBoot(t, s, "Once")
			}
			resetTo(t, s, "On", http.StatusNoContent)
			waitPhase(t, s, c.phase)
			closeRack(t, r) // waits for whatever it may have started
			if got := a.requests(); len(got) != 0 {
				t.Errorf("it asked for %v", got)
			}
		})
	}
}

func TestScriptDecidesWhatIsBooted(t *testing.T) {
	const callback = " ipa-inspection-callback-url=BASE/report\n"
	for name, c := range map[string]struct {
		script string
		phase  sim.Phase
		asked  []string // after the script
	}{
		"exit: from the disk":                {"#!ipxe\nexit\n", sim.PhaseDisk, nil},
		"not a script: from the disk":        {"<html>", sim.PhaseDisk, nil},
		"an empty script: from the disk":     {"#!ipxe\n", sim.PhaseDisk, nil},
		"a missing kernel: from the disk":    {"#!ipxe\nkernel /nothing" + callback + "boot\n", sim.PhaseDisk, []string{"GET /nothing"}},
		"no callback: nothing is reported":   {"#!ipxe\nkernel /boot/k quiet\nboot\n", sim.PhaseDone, []string{"GET /boot/k"}},
		"comments, options and failure arms": {"#!ipxe\n# a comment\n\nkernel --name k /boot/k" + callback + "initrd --name i /boot/i || shell\nboot\n", sim.PhaseDone, []string{"GET /boot/k", "GET /boot/i", "POST /report"}},
		"variables":                          {"#!ipxe\nset base BASE/boot\nkernel ${base}/${mac:hexhyp}" + callback + "boot\n", sim.PhaseDone, []string{"GET /boot/02-00-5e-00-00-00", "POST /report"}},
		"the last of two callbacks counts":   {"#!ipxe\nkernel /boot/k ipa-inspection-callback-url=BASE/first" + callback + "boot\n", sim.PhaseDone, []string{"GET /boot/k", "POST /report"}},
		"chains that lead in a circle":       {"#!ipxe\nchain /boot.ipxe\n", sim.PhaseDisk, []string{"GET /boot.ipxe", "GET /boot.ipxe", "GET /boot.ipxe"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAppliance(t)
			a.script = c.script
			s := startRack(t, sim.Options{Servers: 1, BootURL: a.URL + "/"}).Servers()[0]
			netbootOnce(t, s)
			waitPhase(t, s, c.phase)
			if got := a.requests(); !slices.Equal(got[1:], c.asked) {
				t.Errorf("after the script it asked for %v, want %v", got[1:], c.asked)
			}
		})
	}
}

func TestReportIsRepeatedAsTheAgentDoes(t *testing.T) { // G50
	for name, c := range map[string]struct {
		answers []int
		posts   int
	}{
		"accepted: once":                    {[]int{202}, 1},
		"refused: once":                     {[]int{404}, 1},
		"busy and broken, then accepted":    {[]int{409, 503, 500, 202}, 4},
		"always busy: five times in all":    {[]int{409}, 5},
		"always broken: five times in all":  {[]int{500}, 5},
		"busy, then refused: no more tries": {[]int{409, 400}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAppliance(t)
			a.answers = c.answers
			s := startRack(t, sim.Options{Servers: 1, BootURL: a.URL}).Servers()[0]
			netbootOnce(t, s)
			waitPhase(t, s, sim.PhaseDone)
			if got := len(a.received()); got != c.posts {
				t.Errorf("%d posts, want %d", got, c.posts)
			}
		})
	}
}

func TestReportAndBootFilesSurviveLostConnections(t *testing.T) {
	a := newAppliance(t)
	lost := map[string]bool{}
	a.before = func(w http.ResponseWriter, r *http.Request) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		if lost[r.URL.Path] {
			return false
		}
		lost[r.URL.Path] = true
		panic(http.ErrAbortHandler) // the connection closes without an answer
	}
	s := startRack(t, sim.Options{Servers: 1, BootURL: a.URL}).Servers()[0]
	netbootOnce(t, s)
	waitPhase(t, s, sim.PhaseDone)
	if got := len(a.requests()); got != 8 || len(a.received()) != 1 {
		t.Errorf("%d requests and %d reports, want 8 and 1", got, len(a.received()))
	}
}

func TestPowerOffStopsTheBootInTheMiddleOfAFile(t *testing.T) { // G04
	a := newAppliance(t)
	fetching, given := make(chan struct{}), make(chan struct{})
	a.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/boot/initrd" {
			return false
		}
		close(fetching)
		<-r.Context().Done() // the server hangs up
		close(given)
		return true
	}
	r := startRack(t, sim.Options{Servers: 1, BootURL: a.URL})
	s := r.Servers()[0]
	netbootOnce(t, s)
	<-fetching
	resetTo(t, s, "ForceOff", http.StatusNoContent)
	<-given
	waitPhase(t, s, sim.PhaseOff)
	closeRack(t, r)
	if got := a.received(); len(got) != 0 {
		t.Errorf("%d reports of a server that was switched off", len(got))
	}
}

func TestPowerOffStopsTheRamdiskBeforeItReports(t *testing.T) { // G01
	a := newAppliance(t)
	r := startRack(t, sim.Options{Servers: 1, BootURL: a.URL})
	s := r.Servers()[0]
	s.HoldReport()
	netbootOnce(t, s)
	waitPhase(t, s, sim.PhaseRamdisk)
	resetTo(t, s, "ForceOff", http.StatusNoContent)
	s.ReleaseReport()
	closeRack(t, r)
	if got := a.received(); len(got) != 0 {
		t.Errorf("%d reports of a server that was switched off", len(got))
	}
}

func TestHeldReportComesWhenItIsReleased(t *testing.T) {
	a := newAppliance(t)
	r := startRack(t, sim.Options{Servers: 2, BootURL: a.URL})
	r.HoldReports()
	for _, s := range r.Servers() {
		netbootOnce(t, s)
		waitPhase(t, s, sim.PhaseRamdisk)
	}
	if got := a.received(); len(got) != 0 {
		t.Fatalf("%d reports although they are held", len(got))
	}
	r.ReleaseReports()
	for _, s := range r.Servers() {
		waitPhase(t, s, sim.PhaseDone)
	}
	if got := a.received(); len(got) != 2 {
		t.Errorf("%d reports, want 2", len(got))
	}
}

func TestRestartOfTheRamdiskReportsAgain(t *testing.T) { // G19
	a := newAppliance(t)
	s := startRack(t, sim.Options{Servers: 1, BootURL: a.URL}).Servers()[0]
	s.HoldReport()
	netbootOnce(t, s)
	waitPhase(t, s, sim.PhaseRamdisk)
	setBoot(t, s, "Once")
	resetTo(t, s, "ForceRestart", http.StatusNoContent)
	s.ReleaseReport()
	waitPhase(t, s, sim.PhaseDone)
	boots := 0
	for _, line := range a.requests() {
		if strings.HasPrefix(line, "GET /boot.ipxe") {
			boots++
		}
	}
	if boots != 2 || len(a.received()) != 1 {
		t.Errorf("%d boots and %d reports, want 2 and 1: the first ramdisk died held", boots, len(a.received()))
	}
}

func TestBootAddressMayBeKnownLater(t *testing.T) {
	a := newAppliance(t)
	r := startRack(t, sim.Options{Servers: 1})
	s := r.Servers()[0]
	netbootOnce(t, s)
	waitPhase(t, s, sim.PhaseDisk) // nobody answered DHCP
	r.SetBootURL(a.URL)
	setBoot(t, s, "Once")
	resetTo(t, s, "PowerCycle", http.StatusNoContent)
	waitPhase(t, s, sim.PhaseDone)
}

func TestLateReportCanBeSentByASwitchedOffServer(t *testing.T) { // G01
	a := newAppliance(t)
	a.answers = []int{http.StatusNotFound}
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	status, err := s.SendReport(context.Background(), nil, a.URL+"/v1/continue_inspection")
	if err != nil || status != http.StatusNotFound || len(a.received()) != 1 {
		t.Errorf("status %d, %v, %d reports", status, err, len(a.received()))
	}
}
