package sim_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestHangingBMCAnswersWhenItIsHealed(t *testing.T) { // G36
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	s.SetFaults(sim.Faults{Hang: true})
	type answer struct{ status int }
	answered := make(chan answer, 1)
	go func() {
		req, err := http.NewRequest(http.MethodGet, s.Address+"/redfish/v1/", nil)
		if err == nil {
			if res, err := web.Do(req); err == nil {
				_ = res.Body.Close()
				answered <- answer{res.StatusCode}
				return
			}
		}
		answered <- answer{}
	}()
	wait(t, s, "asked", func(s *sim.Server) bool { return len(s.Requests()) == 1 })
	select {
	case a := <-answered:
		t.Fatalf("it answered %d while it hangs", a.status)
	default:
	}
	s.SetFaults(sim.Faults{})
	if a := <-answered; a.status != http.StatusOK {
		t.Errorf("after healing: %d", a.status)
	}
}

func TestCloseEndsRequestsThatHang(t *testing.T) {
	r := startRack(t, sim.Options{Servers: 1})
	s := r.Servers()[0]
	s.SetFaults(sim.Faults{Hang: true})
	lost := make(chan error, 1)
	go func() {
		res, err := web.Get(s.Address + "/redfish/v1/")
		if err == nil {
			_ = res.Body.Close()
		}
		lost <- err
	}()
	wait(t, s, "asked", func(s *sim.Server) bool { return len(s.Requests()) == 1 })
	closeRack(t, r)
	if err := <-lost; err == nil {
		t.Error("the request was answered")
	}
}

func TestRedfishFaults(t *testing.T) {
	const pxe = `{"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`
	get := func(t *testing.T, s *sim.Server) int {
		t.Helper()
		res, _ := call(t, s, http.MethodGet, system, "")
		return res.StatusCode
	}
	for _, c := range []struct {
		name   string
		faults sim.Faults
		check  func(*testing.T, *sim.Server)
	}{
		{"a busy BMC answers 503 as often as it is told to", sim.Faults{Busy: 2}, func(t *testing.T, s *sim.Server) {
			if got := [3]int{get(t, s), get(t, s), get(t, s)}; got != [3]int{503, 503, 200} {
				t.Errorf("%v", got)
			}
		}},
		{"refused credentials", sim.Faults{RefuseLogin: true}, func(t *testing.T, s *sim.Server) { // G37
			if got := get(t, s); got != 401 {
				t.Errorf("%d", got)
			}
		}},
		{"stuck power is accepted and does nothing", sim.Faults{StuckPower: true}, func(t *testing.T, s *sim.Server) { // G54
			resetTo(t, s, "On", http.StatusNoContent)
			if s.Power() != node.PowerOff {
				t.Errorf("%s", s.Power())
			}
			s.SetPower(node.PowerOn) // a hand at the button is not the BMC
			if s.Power() != node.PowerOn {
				t.Errorf("by hand: %s", s.Power())
			}
		}},
		{"power commands conflict as often as they are told to", sim.Faults{ResetConflicts: 1}, func(t *testing.T, s *sim.Server) { // G34
			resetTo(t, s, "On", http.StatusConflict)
			resetTo(t, s, "On", http.StatusNoContent)
		}},
		{"a refused boot override", sim.Faults{RefuseBoot: true}, func(t *testing.T, s *sim.Server) { // G41
			if res, _ := call(t, s, http.MethodPatch, system, pxe); res.StatusCode != 400 || s.Boot() != (node.Boot{}) {
				t.Errorf("%s, %+v", res.Status, s.Boot())
			}
		}},
		{"an override that is accepted and forgotten", sim.Faults{IgnoreBoot: true}, func(t *testing.T, s *sim.Server) {
			if res, _ := call(t, s, http.MethodPatch, system, pxe); res.StatusCode != 204 || s.Boot() != (node.Boot{}) {
				t.Errorf("%s, %+v", res.Status, s.Boot())
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			s.SetFaults(c.faults)
			c.check(t, s)
			s.SetFaults(sim.Faults{})
			if got := get(t, s); got != 200 {
				t.Errorf("after healing: %d", got)
			}
		})
	}
}

func TestFaultOfOneBMCIsNobodyElses(t *testing.T) { // G36
	servers := startRack(t, sim.Options{Servers: 2}).Servers()
	servers[0].SetFaults(sim.Faults{Hang: true})
	if res, _ := call(t, servers[1], http.MethodGet, system, ""); res.StatusCode != http.StatusOK {
		t.Errorf("the neighbour: %s", res.Status)
	}
}

func TestRequestListTellsWhatWasAskedAndNoSecret(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	begin := time.Now()
	send(t, s, http.MethodPost, sessionsAt, credentials(s, string(s.Password)), anonymous)
	netbootOnce(t, s)
	want := []string{
		"POST " + sessionsAt,
		"PATCH " + system + ` {"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}`,
		"POST " + reset + " On",
	}
	got := s.Requests()
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i, r := range got {
		if r.String() != want[i] || r.At.Before(begin) || strings.Contains(r.String(), string(s.Password)) {
			t.Errorf("%s at %s, want %s", r, r.At, want[i])
		}
	}
	s.ForgetRequests()
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("after forgetting: %v", got)
	}
}

func TestWaitSaysWhatTheServerDoesWhenTimeIsUp(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Wait(ctx, func(s *sim.Server) bool { return s.Power() == node.PowerOn })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), s.Name) || !strings.Contains(err.Error(), "power off") {
		t.Errorf("%v", err)
	}
}

func TestRackIsGoneAfterClose(t *testing.T) {
	r := startRack(t, sim.Options{Servers: 3, IPMI: 1, FirstAddress: "127.77.8.1"})
	closeRack(t, r)
	closeRack(t, r) // harmless
	for _, s := range r.Servers() {
		if s.Driver != node.DriverRedfish {
			continue
		}
		if res, err := web.Get(s.Address + "/redfish/v1/"); err == nil {
			_ = res.Body.Close()
			t.Errorf("%s still answers", s.Name)
		}
	}
}
