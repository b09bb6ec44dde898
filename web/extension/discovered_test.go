package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/extension"
)

// waitingRoom is an extension.Discovery in memory, which does what it is told and remembers it.
type waitingRoom struct {
	machines []node.Discovered
	filters  []node.DiscoveredFilter
	told     []string
	accepted []conductor.AcceptRequest
	refuse   error
}

func (w *waitingRoom) DiscoveredMachines(_ context.Context, f node.DiscoveredFilter) ([]node.Discovered, error) {
	w.filters = append(w.filters, f)
	all := w.machines
	if i := slices.IndexFunc(all, func(d node.Discovered) bool { return d.UUID == f.Marker }); i >= 0 {
		all = all[i+1:]
	}
	return all[:min(len(all), f.Limit)], nil
}

func (w *waitingRoom) DiscoveredMachine(_ context.Context, uuid string) (node.Discovered, error) {
	for _, d := range w.machines {
		if d.UUID == uuid {
			return d, nil
		}
	}
	return node.Discovered{}, &node.NotFound{What: "Discovered machine", Ident: uuid}
}

func (w *waitingRoom) DiscoveredReport(context.Context, string) (node.DiscoveredReport, error) {
	return node.DiscoveredReport{Report: []byte("{\"inventory\":{\"hostname\":\"<b>\xff\",\"big\":18446744073709551615}}")}, nil
}

func (w *waitingRoom) NodesBehind(_ context.Context, addresses []string) ([]node.Node, error) {
	if !slices.Equal(addresses, []string{"192.0.2.10"}) {
		return nil, nil
	}
	return []node.Node{{UUID: "twin", Name: "r07-u01"}}, nil
}

func (w *waitingRoom) tell(ctx context.Context, actor node.Actor, what, uuid string) error {
	if w.refuse != nil {
		return w.refuse
	}
	_, err := w.DiscoveredMachine(ctx, uuid)
	if err == nil {
		w.told = append(w.told, what+" by "+actor.User)
	}
	return err
}

func (w *waitingRoom) AcceptMachine(ctx context.Context, actor node.Actor, uuid string, req conductor.AcceptRequest) (node.Node, error) {
	w.accepted = append(w.accepted, req)
	err := w.tell(ctx, actor, "accept", uuid)
	return node.Node{UUID: uuid, Name: req.Name, Driver: node.DriverRedfish, ProvisionState: node.Enroll, AttemptID: "attempt-1"}, err
}

func (w *waitingRoom) DecideOnMachine(ctx context.Context, actor node.Actor, uuid string, state node.DiscoveredState) error {
	return w.tell(ctx, actor, string(state), uuid)
}

func (w *waitingRoom) ForgetMachine(ctx context.Context, actor node.Actor, uuid string) error {
	return w.tell(ctx, actor, "forget", uuid)
}

// serveRoom serves the extension with a waiting room.
func serveRoom(t *testing.T, w *waitingRoom) string {
	t.Helper()
	app := web.NewApp(web.AppOptions{})
	app.Use(func(c *fiber.Ctx) error {
		web.SetUser(c, "jon", web.RoleOperator)
		return c.Next()
	})
	h := newHall()
	extension.Register(app, extension.Options{Conductor: h, Store: h, Discovery: w, MaxMinor: 96})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(ln) }()
	t.Cleanup(func() {
		if err := errors.Join(app.ShutdownWithTimeout(5*time.Second), <-served); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + ln.Addr().String() + "/cagenut/v1/discovered"
}

func room(n int) *waitingRoom {
	w := &waitingRoom{}
	for range n {
		w.machines = append(w.machines, node.Discovered{
			UUID: node.NewUUID(), State: node.DiscoveredNew, FirstAt: noon, LastAt: noon.Add(time.Minute), ReportAt: noon.Add(time.Minute + time.Microsecond), Times: 2, Address: "192.0.2.7",
			Machine: node.Machine{Product: "EdgeBox 100", Serial: "EB-1", CPUs: 4, NICs: []node.MachineNIC{{Name: "eno1", MAC: "02:00:5e:00:00:01"}, {Name: "ib0"}}, MACs: []string{"02:00:5e:00:00:01"}, BMCAddresses: []string{"192.0.2.10"}},
		})
	}
	return w
}

func TestDiscoveredMachinesAreListedInPages(t *testing.T) {
	w := room(5)
	base := serveRoom(t, w)
	var seen []string
	for next := base + "?limit=2&state=all"; next != ""; {
		var page struct {
			Discovered []struct{ UUID string }
			Next       string
		}
		if status := call(t, "GET", next, "", &page); status != 200 {
			t.Fatalf("got %d", status)
		}
		for _, d := range page.Discovered {
			seen = append(seen, d.UUID)
		}
		next = page.Next
	}
	var want []string
	for _, d := range w.machines {
		want = append(want, d.UUID)
	}
	if !slices.Equal(seen, want) {
		t.Errorf("pages: %v", seen)
	}
	for query, states := range map[string][]node.DiscoveredState{"": {node.DiscoveredNew}, "?state=blocked": {node.DiscoveredBlocked}, "?state=all": nil} {
		w.filters = nil
		if call(t, "GET", base+query, "", &struct{}{}); !slices.Equal(w.filters[0].States, states) {
			t.Errorf("%q asks for %v", query, w.filters[0].States)
		}
	}
	for query, text := range map[string]string{"?state=odd": "state must be new, ignored, blocked or all.", "?limit=0": "limit must be a number from 1 on.", "?x=1": "Unexpected arguments: x"} {
		var f failure
		if status := call(t, "GET", base+query, "", &f); status != 400 || f.Error.Message != text {
			t.Errorf("%q: %d %q", query, status, f.Error.Message)
		}
	}
}

func TestADiscoveredMachineIsShownWithItsInventoryAndWhoElseHasItsBMC(t *testing.T) {
	w := room(1)
	var got struct {
		Serial, Manufacturer *string
		Last                 string `json:"last"`
		ReportAt             string `json:"report_at"`
		Times                int
		Interfaces           []struct{ Name, MAC *string }
		BMCOf                []struct{ UUID, Name string } `json:"bmc_of"`
		Suggested            struct {
			Driver string
			Info   map[string]any `json:"driver_info"`
		}
		Inventory map[string]json.RawMessage
	}
	base := serveRoom(t, w)
	if status := call(t, "GET", base+"/"+w.machines[0].UUID, "", &got); status != 200 {
		t.Fatalf("got %d", status)
	}
	if *got.Serial != "EB-1" || got.Manufacturer != nil || got.Last != "2026-11-30T14:03:11.000Z" || got.ReportAt != "2026-11-30T14:03:11.000001Z" || got.Times != 2 || got.Interfaces[1].MAC != nil {
		t.Errorf("%+v", got)
	}
	if len(got.BMCOf) != 1 || got.BMCOf[0].Name != "r07-u01" || got.Suggested.Driver != "redfish" || got.Suggested.Info["redfish_address"] != "https://192.0.2.10" {
		t.Errorf("nodes %+v, suggested %+v", got.BMCOf, got.Suggested)
	}
	if string(got.Inventory["big"]) != "18446744073709551615" || !json.Valid(got.Inventory["hostname"]) {
		t.Errorf("inventory %s", got.Inventory)
	}
	var f failure
	for _, id := range []string{node.NewUUID(), "nonsense", "a%2Fb"} {
		if status := call(t, "GET", base+"/"+id, "", &f); status != 404 {
			t.Errorf("%s: %d", id, status)
		}
	}
}

func TestWhatIsDecidedAboutAMachineReachesTheConductor(t *testing.T) {
	w := room(1)
	base := serveRoom(t, w) + "/" + w.machines[0].UUID
	for _, path := range []string{"/ignore", "/block", "/restore", ""} {
		method := "POST"
		if path == "" {
			method = "DELETE"
		}
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 204 {
			t.Errorf("%s %s: %d", method, path, resp.StatusCode)
		}
	}
	if want := []string{"ignored by jon", "blocked by jon", "new by jon", "forget by jon"}; !slices.Equal(w.told, want) {
		t.Errorf("told: %q", w.told)
	}
}

func TestAcceptSaysWhatBecameOfTheMachine(t *testing.T) {
	w := room(1)
	uuid := w.machines[0].UUID
	base := serveRoom(t, w) + "/" + uuid + "/accept"
	var got struct {
		UUID, Name, Driver, Attempt string
		State                       string `json:"provision_state"`
	}
	body := `{"name":"r07-u21","driver":"redfish","driver_info":{"redfish_username":"rack","port":8443},"report_at":"2026-11-30T14:03:11.000001Z"}`
	if status := call(t, "POST", base, body, &got); status != 201 || got.UUID != uuid || got.Name != "r07-u21" || got.State != "enroll" || got.Attempt != "attempt-1" {
		t.Errorf("%d %+v", status, got)
	}
	want := conductor.AcceptRequest{Name: "r07-u21", Driver: "redfish", DriverInfo: map[string]any{"redfish_username": "rack", "port": json.Number("8443")}, ReportAt: w.machines[0].ReportAt}
	if d := cmp.Diff(want, w.accepted[0]); d != "" {
		t.Error(d)
	}
	if status := call(t, "POST", base, "", &got); status != 201 || !cmp.Equal(w.accepted[1], conductor.AcceptRequest{}) {
		t.Errorf("with nothing said: %d %+v", status, w.accepted[1])
	}
	var f failure
	for body, text := range map[string]string{
		`{"name":5}`: "Expected string for name: 5", `{"driver_info":[]}`: "Schema error for driver_info: the value is not of type 'object'", `{"x":1}`: "Unexpected arguments: x",
		`{"report_at":"yesterday"}`: "report_at must be", `[]`: "The body is not a JSON object.",
	} {
		if status := call(t, "POST", base, body, &f); status != 400 || !strings.HasPrefix(f.Error.Message, text) {
			t.Errorf("%s: %d %q", body, status, f.Error.Message)
		}
	}
	w.refuse = &node.Conflict{Text: "The machine was not accepted: no"}
	if status := call(t, "POST", base, "{}", &f); status != 409 || f.Error.Message != "The machine was not accepted: no" {
		t.Errorf("refused: %d %q", status, f.Error.Message)
	}
}
