package sim_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// serveImage lets the appliance serve an image with a boot configuration somewhere in it.
func serveImage(a *appliance, before int, config string) {
	a.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/boot/node.iso" {
			return false
		}
		_, _ = w.Write(bytes.Repeat([]byte{0}, before)) // the server may be switched off meanwhile
		_, _ = w.Write([]byte(config))
		_, _ = w.Write(bytes.Repeat([]byte{0xff}, 100<<10))
		return true
	}
}

func bootCD(t *testing.T, s *sim.Server, address string) {
	t.Helper()
	expect(t, "insert, override, on", []int{
		insertInto(t, s, cdSlot, `{"Image":"`+address+`"}`), patchBoot(t, s, target, "Cd", enabled, "Once"), resetStatus(t, s, "On"),
	}, []int{204, 204, 204})
}

func TestServerBootsFromAnInsertedCDAndReportsWhereItsImageSays(t *testing.T) {
	const tokens = " ipa-inspection-callback-url=BASE/v1/continue_inspection?attempt=t0k3n ipa-debug=1"
	for name, c := range map[string]struct {
		before  int
		config  string
		reports int
	}{
		"a boot configuration near the beginning":  {2048, "menuentry x {\n\tlinux /vmlinuz nofb" + tokens + "   \n}\n", 1},
		"one that lies across two pieces":          {79<<10 + 500, "linux /vmlinuz nofb" + tokens + "\n", 1},
		"one far behind":                           {5 << 20, "linux /vmlinuz" + tokens + "\x00", 1},
		"an image that knows nothing of reporting": {2048, "linux /vmlinuz nofb\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAppliance(t)
			serveImage(a, c.before, strings.ReplaceAll(c.config, "BASE", a.URL))
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			bootCD(t, s, a.URL+"/boot/node.iso")
			waitPhase(t, s, sim.PhaseDone)
			want := []string{"GET /boot/node.iso"}
			if c.reports > 0 {
				want = append(want, "POST /v1/continue_inspection?attempt=t0k3n")
			}
			if got := a.requests(); !slices.Equal(got, want) {
				t.Errorf("it asked for %v, want %v", got, want)
			}
			if s.Boot() != (node.Boot{}) || s.Media()["1"] == "" {
				t.Errorf("the override is %+v, media %v", s.Boot(), s.Media())
			}
		})
	}
}

func TestAnImageIsFetchedInPieces(t *testing.T) {
	for name, c := range map[string]struct{ size, pieces int }{"of two pieces and a bit": {1<<20 + 99, 3}, "of one": {4000, 1}, "of exactly two": {1 << 20, 2}} {
		t.Run(name, func(t *testing.T) {
			a := newAppliance(t)
			config := []byte("linux /vmlinuz ipa-inspection-callback-url=" + a.URL + "/v1/continue_inspection?attempt=t0k3n \n")
			content := append(make([]byte, c.size-len(config)), config...)
			a.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/boot/node.iso" {
					return false
				}
				http.ServeContent(w, r, "node.iso", time.Time{}, bytes.NewReader(content))
				return true
			}
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			bootCD(t, s, a.URL+"/boot/node.iso")
			waitPhase(t, s, sim.PhaseDone)
			want := append(slices.Repeat([]string{"GET /boot/node.iso"}, c.pieces), "POST /v1/continue_inspection?attempt=t0k3n")
			if got := a.requests(); !slices.Equal(got, want) {
				t.Errorf("it asked for %v, want %v", got, want)
			}
		})
	}
}

func TestServerWithoutABootableCDBootsFromItsDisk(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *sim.Server, *appliance){
		"an empty drive": func(*testing.T, *sim.Server, *appliance) {},
		"an image that is not there": func(t *testing.T, s *sim.Server, a *appliance) {
			insertInto(t, s, cdSlot, `{"Image":"`+a.URL+`/nothing"}`)
		},
		"an image in the USB drive": func(t *testing.T, s *sim.Server, a *appliance) {
			insertInto(t, s, managerSlots+"/2", `{"Image":"`+a.URL+`/boot/node.iso"}`)
		},
		"an ejected image": func(t *testing.T, s *sim.Server, a *appliance) {
			insertInto(t, s, cdSlot, `{"Image":"`+a.URL+`/boot/node.iso"}`)
			eject(t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAppliance(t)
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			prepare(t, s, a)
			patchBoot(t, s, target, "Cd", enabled, "Once")
			resetTo(t, s, "On", 204)
			waitPhase(t, s, sim.PhaseDisk)
		})
	}
}

func TestImageIsFetchedWithTheCredentialsThatCameWithIt(t *testing.T) {
	a := newAppliance(t)
	asked := make(chan string, 1)
	a.before = func(_ http.ResponseWriter, r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		asked <- user + ":" + password
		return false
	}
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	insertInto(t, s, cdSlot, `{"Image":"`+a.URL+`/boot/node.iso","UserName":"u","Password":"p"}`)
	patchBoot(t, s, target, "Cd", enabled, "Once")
	resetTo(t, s, "On", 204)
	if got := <-asked; got != "u:p" {
		t.Error(got)
	}
	waitPhase(t, s, sim.PhaseDone)
	for _, r := range s.Requests() {
		if strings.Contains(r.String(), `"p"`) {
			t.Errorf("the log holds a password: %s", r)
		}
	}
}

func TestMediaAreInsertedWithCare(t *testing.T) { // G35
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	expect(t, "no address, a file, another parameter, twice, eject, eject again", []int{
		insertInto(t, s, cdSlot, `{}`), insertInto(t, s, cdSlot, `{"Image":"file:///etc/passwd"}`), insertInto(t, s, cdSlot, "{"+image+`,"Speed":1}`),
		insertInto(t, s, cdSlot, "{"+image+"}"), insertInto(t, s, cdSlot, other), eject(t, s), eject(t, s),
	}, []int{400, 400, 400, 204, 409, 204, 204})
	if log := s.Requests(); !strings.Contains(log[3].String(), "InsertMedia http://127.0.0.1:1/tools.iso") {
		t.Errorf("%s", log[3])
	}
}
