package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mediumDoc is what the simulator tells of what may be left at a server.
type mediumDoc struct {
	Power string            `json:"power"`
	Media map[string]string `json:"media"`
	Boot  struct {
		Device string `json:"device"`
	} `json:"boot"`
}

type cleanUpDoc struct {
	CleanUp struct {
		State string `json:"state"`
	} `json:"clean_up"`
}

// G10, G35: a power cut at any moment of an inspection by virtual media leaves neither a medium nor an override nor a running
// server, once the appliance is back.
func TestAfterAKillNothingIsLeftInAServersVirtualDrive(t *testing.T) {
	for name, c := range map[string]struct {
		fault, strength string
		until           func(*testing.T, *simulator, *appliance) // when the power is cut
	}{
		"while the BMC fetches the image": {"media-task", `{"delay":"6s","count":1}`, func(t *testing.T, s *simulator, _ *appliance) {
			until(t, "the image is asked for", func() bool { return strings.Contains(s.requests("r1-u01"), "InsertMedia") })
		}},
		"just when it was asked to power on": {"slow-off", `{"delay":"1s"}`, func(t *testing.T, s *simulator, _ *appliance) {
			until(t, "power on is asked for", func() bool { return strings.Contains(s.requests("r1-u01"), `"detail":"On"`) })
		}},
		"while the ramdisk is waited for": {"slow-off", `{"delay":"1s"}`, func(_ *testing.T, _ *simulator, a *appliance) {
			a.waitFor("r1-u01", "inspect wait")
			a.verb("r1-u01", "abort")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := withBootFiles(t)
			image := "linux /vmlinuz cagenut-parameters=" + strings.Repeat("_", 493) + "\n"
			if err := os.WriteFile(filepath.Join(dir, "boot", "ipa.iso"), []byte(image), 0o600); err != nil {
				t.Fatal(err)
			}
			s := simulate(t, "--servers", "1", "--redfish", "--power-delay", "700ms", "--listen", "127.77.62.1")
			a := serveOn(t, dir)
			var server serverDoc
			s.call("GET", "/servers/r1-u01", "", &server)
			must[any](a, "POST", "/v1/nodes", map[string]any{
				"name": "r1-u01", "driver": "redfish", "driver_info": server.DriverInfo, "boot_interface": "redfish-virtual-media",
			})
			a.verb("r1-u01", "manage")
			a.waitFor("r1-u01", "manageable")
			s.call("PUT", "/servers/r1-u01/faults/"+c.fault, c.strength, nil)
			a.verb("r1-u01", "inspect")
			c.until(t, s, a)
			a.kill()

			a = serveOn(t, dir)
			a.waitFor("r1-u01", "inspect failed")
			var left mediumDoc
			until(t, "r1-u01 is off and cleaned up", func() bool {
				left = mediumDoc{}
				s.call("GET", "/servers/r1-u01", "", &left)
				attempts := must[struct{ Attempts []cleanUpDoc }](a, "GET", "/cagenut/v1/nodes/r1-u01/attempts", nil).Attempts
				return left.Power == "power off" && len(attempts) == 1 && attempts[0].CleanUp.State == "done"
			})
			if len(left.Media) != 0 || left.Boot.Device != "" {
				t.Errorf("left: %+v", left)
			}
			log := s.requests("r1-u01")
			if in, out := strings.LastIndex(log, "InsertMedia"), strings.LastIndex(log, "EjectMedia"); in < 0 || out < in {
				t.Errorf("the BMC was not told to eject:\n%s", log)
			}
			if off, out := strings.LastIndex(log, "ForceOff"), strings.LastIndex(log, "EjectMedia"); strings.Contains(log, `"detail":"On"`) && out < off {
				t.Errorf("G35: ejected before power off:\n%s", log)
			}
		})
	}
}

// requests is the log of a BMC as the control API tells it.
func (s *simulator) requests(name string) string {
	s.t.Helper()
	var log json.RawMessage
	s.call("GET", "/servers/"+name+"/requests", "", &log)
	return string(log)
}
