package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
	"cagenut/web/boot"
)

// bootsISO lets a node's server boot from its virtual drive.
func (a *testAppliance) bootsISO(s *sim.Server, driverInfo ...map[string]any) {
	a.t.Helper()
	patch := []map[string]any{{"op": "replace", "path": "/boot_interface", "value": "redfish-virtual-media"}}
	for _, info := range driverInfo {
		for key, v := range info {
			patch = append(patch, map[string]any{"op": "add", "path": "/driver_info/" + key, "value": v})
		}
	}
	if status, _, body := a.send("PATCH", "/v1/nodes/"+s.Name, "latest", patch); status != http.StatusOK {
		a.t.Fatalf("set the boot interface: %d %s", status, body)
	}
}

// toldTo is what the BMC was told to do to the server, in short.
func toldTo(s *sim.Server) (all []string) {
	for _, r := range s.Requests() {
		switch path := r.Path[strings.LastIndex(r.Path, "/")+1:]; {
		case r.Method == http.MethodGet:
		case path == "ComputerSystem.Reset":
			all = append(all, r.Detail)
		case path == "VirtualMedia.InsertMedia":
			all = append(all, "insert")
		case path == "VirtualMedia.EjectMedia":
			all = append(all, "eject")
		case r.Method == http.MethodPatch && strings.Contains(r.Detail, `"Cd"`):
			all = append(all, "boot from CD")
		case r.Method == http.MethodPatch && strings.Contains(r.Detail, "Disabled"):
			all = append(all, "no override")
		}
	}
	return all
}

// inserted is the address that the BMC was given last.
func inserted(s *sim.Server) (address string) {
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.Path, "InsertMedia") {
			address = r.Detail
		}
	}
	return address
}

// cleanedUp waits for the end of the clean-up, and looks at what it left.
func (a *testAppliance) cleanedUp(s *sim.Server) node.Attempt {
	a.t.Helper()
	n, err := a.store.Node(a.t.Context(), s.Name)
	if err != nil {
		a.t.Fatal(err)
	}
	var at node.Attempt
	for deadline := time.Now().Add(time.Minute); ; {
		if at, err = a.store.Attempt(a.t.Context(), n.AttemptID); err != nil {
			a.t.Fatal(err)
		}
		if at.CleanUp == node.CleanUpDone {
			break
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("clean-up is %q at %q: %s", at.CleanUp, at.CleanUpStep, at.CleanUpError)
		}
		time.Sleep(20 * time.Millisecond) // the end of a clean-up is no event
	}
	if s.Power() != node.PowerOff || s.Boot() != (node.Boot{}) {
		a.t.Errorf("clean-up left the server %s with %+v", s.Power(), s.Boot())
	}
	if n, err = a.store.Node(a.t.Context(), s.Name); err != nil || n.DriverInternalInfo[node.BootMediumKey] != nil {
		a.t.Errorf("clean-up left a record of a medium: %v", err)
	}
	return at
}

func headOf(t *testing.T, address string) int {
	t.Helper()
	res, err := http.Head(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestAServerBootsAnISOFromItsVirtualDriveAndReports(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1})[0]
	a.bootsISO(s)
	s.HoldReport()
	s.ForgetRequests()
	a.provision(s.Name, "inspect")
	n := a.untilState(s.Name, node.InspectWait)
	if internal := a.get("/v1/nodes/" + s.Name)["driver_internal_info"].(map[string]any); internal[node.BootMediumKey] != node.Mask {
		t.Errorf("the record is not masked: %v", internal)
	}
	address := inserted(s)
	at, err := a.store.Attempt(t.Context(), n.AttemptID)
	if err != nil || len(at.Notes) != 0 || strings.Contains(address, string(at.Token)) {
		t.Errorf("notes %v, %v, address %s", at.Notes, err, address)
	}
	if status, _, body := a.send("GET", "/v1/nodes/"+s.Name+"/vmedia", "latest", nil); status != 200 || !strings.Contains(string(body), "/******/ipa.iso") || strings.Contains(string(body), at.MediumKey("ipa.iso")) {
		t.Errorf("the API shows of the medium: %d %s", status, body)
	}
	if status := headOf(t, address); status != http.StatusOK {
		t.Errorf("while it runs: %d", status)
	}
	s.ReleaseReport()
	a.untilState(s.Name, node.Manageable)
	if at = a.cleanedUp(s); at.Outcome != node.Succeeded || at.Proof != node.Proven {
		t.Errorf("%s, %s: %s", at.Outcome, at.Proof, at.Error)
	}
	checkInventory(t, a.base, n.UUID, s)
	if want := []string{"insert", "boot from CD", "On", "ForceOff", "eject"}; !slices.Equal(toldTo(s), want) {
		t.Errorf("the BMC was told %v, want %v", toldTo(s), want)
	}
	if status := headOf(t, address); status != http.StatusNotFound || len(s.Media()) != 0 {
		t.Errorf("after the end: %d, media %v", status, s.Media())
	}
}

// G04, G35: off first, then what the start has put in, and nothing else.
func TestAnAbortTakesTheMediumOutOnceTheServerIsOff(t *testing.T) {
	t.Parallel()
	const theirs = "http://127.0.0.1:1/rescue.iso"
	for name, somebody := range map[string]bool{"": false, ", but for what somebody has put in": true} {
		t.Run("ours"+name, func(t *testing.T) {
			a := serveForTest(t, true)
			s := a.rack(sim.Options{Servers: 1, PowerDelay: 200 * time.Millisecond})[0]
			a.bootsISO(s)
			s.HoldReport()
			a.provision(s.Name, "inspect")
			a.untilState(s.Name, node.InspectWait)
			if somebody {
				if status, _, body := a.send("POST", "/v1/nodes/"+s.Name+"/vmedia", "latest", map[string]string{"device_type": "cdrom", "image_url": theirs}); status != http.StatusNoContent {
					t.Fatalf("%d %s", status, body)
				}
			}
			s.ForgetRequests()
			a.provision(s.Name, "abort")
			if at := a.cleanedUp(s); at.Outcome != node.Aborted {
				t.Errorf("%+v", at)
			}
			want, left := []string{"ForceOff", "eject"}, map[string]string{}
			if somebody {
				want, left["1"] = want[:1], theirs
			}
			if !slices.Equal(toldTo(s), want) || s.Media()["1"] != left["1"] {
				t.Errorf("the BMC was told %v, want %v; in are %v", toldTo(s), want, s.Media())
			}
		})
	}
}

// G41: a start that fails says why within seconds, and leaves nothing in or on.
func TestAStartFromAnISOThatFailsLeavesNothing(t *testing.T) {
	for fault, c := range map[sim.Fault]struct {
		want  string
		delay time.Duration
	}{
		sim.FaultMediaRefused:   {"insert the ISO: ", 0},
		sim.FaultMediaBusy:      {"503", 0},
		sim.FaultMediaTaskFails: {"insert the ISO: ", 3 * time.Second},
		sim.FaultNoMedia:        {"does not support", 0},
		sim.FaultLicence:        {"licence", 0},
		sim.FaultRefuseBoot:     {"The boot override cannot be changed", 0},
		sim.FaultIgnoreBoot:     {"not what the BMC shows", 0},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			a := serveForTest(t, true)
			s := a.rack(sim.Options{Servers: 1})[0]
			a.bootsISO(s)
			if err := s.SwitchOn(fault, sim.Strength{Delay: c.delay}); err != nil {
				t.Fatal(err)
			}
			s.ForgetRequests()
			began := time.Now()
			a.provision(s.Name, "inspect")
			n := a.untilState(s.Name, node.InspectFailed)
			if took := time.Since(began); took > 45*time.Second {
				t.Errorf("it took %s", took)
			}
			if !strings.Contains(n.LastError, "unable to start inspection: ") || !strings.Contains(n.LastError, c.want) || strings.Contains(n.LastError, "/boot/iso/"+n.AttemptID) {
				t.Errorf("last error %q, want %q and no address", n.LastError, c.want)
			}
			if slices.Contains(toldTo(s), "On") {
				t.Errorf("the server was switched on: %v", toldTo(s))
			}
			s.Heal()
			if a.cleanedUp(s); len(s.Media()) != 0 {
				t.Errorf("left in: %v", s.Media())
			}
		})
	}
}

func TestABMCMayTakeItsTimeToFetchTheImage(t *testing.T) {
	for _, fault := range []sim.Fault{sim.FaultMediaTask, sim.FaultMediaLate, sim.FaultMediaStale, sim.FaultMediaConsole, sim.FaultMediaPatch} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			a := serveForTest(t, true)
			s := a.rack(sim.Options{Servers: 1})[0]
			a.bootsISO(s)
			strength := sim.Strength{}
			if slices.Contains([]sim.Fault{sim.FaultMediaTask, sim.FaultMediaLate, sim.FaultMediaStale}, fault) {
				strength.Delay = 3 * time.Second
			}
			if err := s.SwitchOn(fault, strength); err != nil {
				t.Fatal(err)
			}
			a.provision(s.Name, "inspect")
			n := a.until(s.Name, "an end", func(n node.Node) bool {
				return n.ProvisionState == node.Manageable && n.AttemptID != "" || n.ProvisionState == node.InspectFailed
			})
			if at := a.cleanedUp(s); at.Proof != node.Proven || len(s.Media()) != 0 {
				t.Errorf("%s, %s, %q; left in: %v", at.Outcome, at.Proof, n.LastError, s.Media())
			}
		})
	}
}

// A report of a ramdisk that was booted without the attempt's token is taken by Ironic's rules; that it proves nothing is said
// when the attempt begins.
func TestAnISOWithoutOurTokenIsToldToProveNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		elsewhere bool
		note      string
	}{
		"from elsewhere":                      {true, "is not this appliance's"},
		"of the boot folder, without a place": {false, "ipa.iso has no placeholder"},
	} {
		t.Run(name, func(t *testing.T) {
			a := serveForTest(t, true)
			s := a.rack(sim.Options{Servers: 1})[0]
			image := []byte("linux /vmlinuz ipa-inspection-callback-url=" + a.base + "/v1/continue_inspection\n")
			if c.elsewhere {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					http.ServeContent(w, r, "own.iso", time.Time{}, bytes.NewReader(image))
				}))
				defer server.Close()
				a.bootsISO(s, map[string]any{"deploy_iso": server.URL + "/own.iso?sig=hidden"})
			} else {
				if err := os.WriteFile(filepath.Join(a.settings.bootDir(), boot.DefaultISO), image, 0o600); err != nil {
					t.Fatal(err)
				}
				a.bootsISO(s)
			}
			s.HoldReport()
			a.provision(s.Name, "inspect")
			n := a.untilState(s.Name, node.InspectWait)
			at, err := a.store.Attempt(t.Context(), n.AttemptID)
			if notes := strings.Join(at.Notes, " "); err != nil || !strings.Contains(notes, c.note) || !strings.Contains(notes, "not proven") || strings.Contains(notes, "hidden") {
				t.Errorf("notes %q, %v", notes, err)
			}
			s.ReleaseReport()
			a.untilState(s.Name, node.Manageable)
			if at = a.cleanedUp(s); at.Proof != node.NotProven || len(s.Media()) != 0 {
				t.Errorf("%s, %s; left in: %v", at.Outcome, at.Proof, s.Media())
			}
		})
	}
}

func TestWithoutAnISOInspectAndValidateSayWhatIsMissing(t *testing.T) {
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1})[0]
	a.bootsISO(s)
	if err := os.Remove(filepath.Join(a.settings.bootDir(), boot.DefaultISO)); err != nil {
		t.Fatal(err)
	}
	status, _, body := a.send("PUT", "/v1/nodes/"+s.Name+"/states/provision", "latest", map[string]string{"target": "inspect"})
	if status != http.StatusBadRequest || !strings.Contains(string(body), "deploy_iso") || !strings.Contains(string(body), "--iso-url") {
		t.Errorf("inspect: %d %s", status, body)
	}
	if reason := fmt.Sprint(a.get("/v1/nodes/" + s.Name + "/validate")["inspect"]); !strings.Contains(reason, "There is no ISO") {
		t.Errorf("validate: %s", reason)
	}
}

// G10: an appliance that is stopped while the BMC fetches the image takes it out again when it is back, also where it comes in
// after that.
func TestARestartWhileTheImageIsFetchedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, fault := range []sim.Fault{sim.FaultMediaTask, sim.FaultMediaLate} {
		t.Run(string(fault), func(t *testing.T) {
			dir := t.TempDir()
			keep := func(s *settings) { s.DataDir = dir }
			var s *sim.Server
			var rack *sim.Rack
			defer func() { _ = rack.Close() }()
			t.Run("before", func(t *testing.T) {
				a := serveForTest(t, true, keep)
				var err error
				rack, err = sim.Start(context.Background(), sim.Options{Servers: 1, Seed: 7, BootURL: a.base})
				if err != nil {
					t.Fatal(err)
				}
				s = rack.Servers()[0]
				if err := enrol(t.Context(), a.conductor, []*sim.Server{s}); err != nil {
					t.Fatal(err)
				}
				a.bootsISO(s)
				if err := s.SwitchOn(fault, sim.Strength{Count: 1, Delay: 6 * time.Second}); err != nil {
					t.Fatal(err)
				}
				a.provision(s.Name, "inspect")
				if err := s.Wait(t.Context(), func(s *sim.Server) bool { return inserted(s) != "" }); err != nil {
					t.Fatal(err)
				}
			})
			a := serveForTest(t, true, keep)
			if n := a.untilState(s.Name, node.InspectFailed); n.LastError == "" {
				t.Errorf("%+v", n)
			}
			a.cleanedUp(s)
			if want := []string{"insert", "eject"}; !slices.Equal(toldTo(s), want) || len(s.Media()) != 0 {
				t.Errorf("the BMC was told %v, want %v; left in: %v", toldTo(s), want, s.Media())
			}
		})
	}
}

// As in Ironic, 204 is that the BMC has accepted. What becomes of it after the few seconds that the request waits is told on
// the node.
func TestAMediumThatTakesLongIsAcceptedAndFollowed(t *testing.T) {
	const image = "http://127.0.0.1:1/tools.iso"
	for fault, failure := range map[sim.Fault]string{sim.FaultMediaTask: "", sim.FaultMediaTaskFails: "Failed to attach virtual media " + image + ": "} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			a := serveForTest(t, true)
			s := a.rack(sim.Options{Servers: 1})[0]
			if err := s.SwitchOn(fault, sim.Strength{Count: 1, Delay: 15 * time.Second}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			status, _, body := a.send("POST", "/v1/nodes/"+s.Name+"/vmedia", "latest", map[string]string{"device_type": "cdrom", "image_url": image})
			if took := time.Since(began); status != http.StatusNoContent || took > 14*time.Second {
				t.Fatalf("after %s: %d %s", took, status, body)
			}
			if failure != "" {
				n := a.until(s.Name, "the failure", func(n node.Node) bool { return n.LastError != "" })
				if !strings.HasPrefix(n.LastError, failure) || !strings.Contains(n.LastError, "cannot be read") {
					t.Errorf("last error %q", n.LastError)
				}
				return
			}
			if err := s.Wait(t.Context(), func(s *sim.Server) bool { return s.Media()["1"] == image }); err != nil {
				t.Fatal(err)
			}
			if n, err := a.store.Node(t.Context(), s.Name); err != nil || n.LastError != "" {
				t.Errorf("%q, %v", n.LastError, err)
			}
		})
	}
}
