package redfish_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/node"
)

// The cases of BMCs that the handbook of known bugs numbers, each as a whole.

// moody is a BMC of one system that answers a power command or a boot override in some way, for the first times or for ever.
func moody(t *testing.T, answer func(http.ResponseWriter), times int, obeys bool) (*peer, bmc.Abilities) {
	t.Helper()
	show := func(power, enabled string) string {
		return `{"@odata.id":"/redfish/v1/Systems/1","PowerState":"` + power + `","Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"` + enabled + `"},` +
			fmt.Sprintf(resettable, "", `"On","ForceOff","GracefulShutdown","ForceRestart"`) + `}`
	}
	p := newPeer("", "", "")
	p.docs["/Systems/1"] = show("Off", "Once")
	p.act = func(w http.ResponseWriter, r *http.Request, body map[string]any) {
		refused := times != 0
		times--
		if !refused || obeys {
			power := map[string]string{"On": "On", "ForceOff": "Off", "GracefulShutdown": "Off"}
			if kind, ok := body["ResetType"].(string); ok {
				p.docs["/Systems/1"] = show(power[kind], "Once")
			} else {
				p.docs["/Systems/1"] = show("Off", "Disabled")
			}
		}
		if refused {
			answer(w)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	return p, p.client(t, patient())
}

// identified is a refusal as the standard shapes it, with the id of a message.
func identified(id string) string {
	return `{"error":{"@Message.ExtendedInfo":[{"MessageId":"` + id + `","Message":"No, says the BMC."}]}}`
}

const (
	forEver  = -1
	busyMost = 6 // how often a busy BMC is asked, unless options say otherwise
)

func TestARefusedPowerCommandIsJudgedByWhatTheServerIs(t *testing.T) { // G34
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter)
		times  int
		obeys  bool // although it refuses
		sent   int
		good   bool
	}{
		{"400, but the goal is reached", say(400, identified("Base.1.0.ActionNotSupported")), forEver, true, 1, true},
		{"409, but the goal is reached", say(409, identified("Base.1.0.ResourceInUse")), forEver, true, 1, true},
		{"500, but the goal is reached", say(500, ""), forEver, true, 1, true},
		{"503, but the goal is reached", say(503, ""), forEver, true, 1, true},
		{"409 three times, then 204", say(409, identified("iDRAC.2.9.SYS999")), 3, false, 4, true},
		{"503 twice, then 204", say(503, identified("IDRAC.2.8.SYS518")), 2, false, 3, true},
		{"400 because of the state, three times", say(400, identified("iLO.2.14.InvalidOperationForSystemState")), 3, false, 4, true},
		{"409 for ever", say(409, identified("x")), forEver, false, busyMost, false},
		{"400 for ever", say(400, identified("x")), forEver, false, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, client := moody(t, c.answer, c.times, c.obeys)
			err := client.(bmc.Client).SetPower(t.Context(), node.ActionOn)
			if (err == nil) != c.good || len(p.writes()) != c.sent {
				t.Errorf("%v, sent %q", err, p.writes())
			}
			if err != nil && !strings.Contains(err.Error(), "No, says the BMC.") {
				t.Errorf("%v: want the BMC's own words", err)
			}
		})
	}
}

func TestABootChangeThatIsRefusedDuringPOSTIsRepeatedForABoundedTime(t *testing.T) { // G64, quirks 6 and 36
	for name, answer := range map[string]func(http.ResponseWriter){
		"503":                               say(503, ""),
		"409":                               say(409, identified("x")),
		"400, as HPE's do during POST":      say(400, identified("iLO.2.14.UnableToModifyDuringSystemPOST")),
		"400, because of the state":         say(400, identified("iLO.2.14.InvalidOperationForSystemState")),
		"400, not ready, as Dell's say it":  say(400, identified("IDRAC.2.8.SYS518")),
		"500, temporarily, in the standard": say(500, identified("Base.1.8.ServiceTemporarilyUnavailable")),
	} {
		t.Run(name, func(t *testing.T) {
			p, client := moody(t, answer, 3, false)
			if err := client.(bmc.Client).SetBoot(t.Context(), node.Boot{}); err != nil || len(p.writes()) != 4 {
				t.Errorf("refused three times: %v, sent %q", err, p.writes())
			}
			p, client = moody(t, answer, forEver, false)
			err := client.(bmc.Client).SetBoot(t.Context(), node.Boot{})
			var u *node.Unreachable
			if !errors.As(err, &u) || u.Trouble != node.TroubleBusy || !u.Answered || len(p.writes()) > 3*busyMost {
				t.Errorf("refused for ever: %v after %d tries", err, len(p.writes()))
			}
		})
	}
}

// hall is a BMC with many systems, of which every other is on, and a login that it counts.
type hall struct {
	systems int
	mu      sync.Mutex
	logins  int
	logouts int
	open    map[net.Conn]bool
	most    int // connections at the same time
}

func (h *hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	path := strings.TrimPrefix(strings.TrimRight(r.URL.Path, "/"), "/redfish/v1")
	var i int
	switch _, err := fmt.Sscanf(path, "/Systems/%d", &i); {
	case path == "":
		_, _ = w.Write([]byte(`{"Systems":{"@odata.id":"/redfish/v1/Systems"},"Links":{"Sessions":{"@odata.id":"/redfish/v1/Sessions"}}}`))
	case r.Method == http.MethodPost:
		h.logins++
		w.Header().Set("X-Auth-Token", "t")
		w.Header().Set("Location", "/redfish/v1/Sessions/1")
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		h.logouts++
		w.WriteHeader(http.StatusNoContent)
	case r.Header.Get("X-Auth-Token") != "t":
		w.WriteHeader(http.StatusUnauthorized)
	case err != nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"PowerState": []string{"Off", "On"}[i%2]})
	}
}

func (h *hall) watch(c net.Conn, s http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s == http.StateClosed {
		delete(h.open, c)
		return
	}
	h.open[c] = true
	h.most = max(h.most, len(h.open))
}

func TestManyCallersOfOneBMCShareASessionAndMixNothingUp(t *testing.T) { // G65
	h := &hall{systems: 20, open: map[net.Conn]bool{}}
	server := httptest.NewUnstartedServer(h)
	server.Config.ConnState = h.watch
	server.Start()
	defer server.Close()
	d := newDriver(t, patient())
	nodeAt := func(i int) node.Node {
		return node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{
			"redfish_address": server.URL, "redfish_username": "admin", "redfish_password": "right", "redfish_system_id": fmt.Sprintf("/redfish/v1/Systems/%d", i),
		}}
	}
	var wg sync.WaitGroup
	for i := range h.systems {
		wg.Go(func() {
			want := []node.PowerState{node.PowerOff, node.PowerOn}[i%2]
			for range 100 {
				if got, err := open(t, d, nodeAt(i)).Power(t.Context()); err != nil || got != want {
					t.Errorf("system %d: %q, %v; want %q", i, got, err, want)
				}
				// Whoever goes away takes nobody else's answer with them.
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := open(t, d, nodeAt(i)).Power(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("system %d, cancelled: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	h.mu.Lock()
	if h.logins != 1 || h.most > 3 { // two, and one that is being closed
		t.Errorf("%d logins, %d connections at once", h.logins, h.most)
	}
	h.mu.Unlock()
	if err := d.Close(t.Context()); err != nil || h.logouts != 1 {
		t.Errorf("%v, %d logouts", err, h.logouts)
	}
	deadline := time.Now().Add(10 * time.Second)
	for left := 1; left > 0; {
		h.mu.Lock()
		left = len(h.open)
		h.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are still open", left)
		}
	}
}

func TestAnAddressInAnySpellingLeadsToTheBMC(t *testing.T) { // G66
	p := newPeer(`"PowerState":"On"`, "", "")
	plain, secure := httptest.NewServer(p), httptest.NewTLSServer(p)
	defer plain.Close()
	defer secure.Close()
	one, other := strings.TrimPrefix(plain.URL, "http://"), strings.TrimPrefix(secure.URL, "https://")
	_, port, err := net.SplitHostPort(other)
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, patient())
	queues := map[string]bool{}
	for _, spelling := range []string{
		plain.URL, plain.URL + "/", plain.URL + "/redfish/v1", plain.URL + "/redfish/v1/", "HTTP://" + one, " " + plain.URL + "\n", plain.URL + "/Redfish/V1/",
		other, secure.URL, secure.URL + "/", secure.URL + "/redfish/v1/", "HTTPS://" + other + "/redfish", "[::ffff:127.0.0.1]:" + port, "https://[::FFFF:127.0.0.1]:" + port + "/",
	} {
		n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": spelling, "redfish_verify_ca": false}}
		power, err := open(t, d, n).Power(t.Context())
		a, addrErr := d.Address(n)
		if err != nil || power != node.PowerOn || addrErr != nil {
			t.Errorf("%q: %q, %v, %v", spelling, power, err, addrErr)
		}
		queues[a.Queue] = true
	}
	if len(queues) != 2 { // http and https
		t.Errorf("the spellings are taken for %d BMCs: %v", len(queues), queues)
	}
}
