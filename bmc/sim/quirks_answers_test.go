package sim_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
)

// raw is an answer whose body is not decoded; the error is that of the connection or of the body.
func raw(t *testing.T, s *sim.Server, path string, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(s.User, string(s.Password))
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := web.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

func login(t *testing.T, s *sim.Server) (token string, status int) {
	t.Helper()
	res, _ := send(t, s, http.MethodPost, sessionsAt, credentials(s, string(s.Password)), anonymous)
	return res.Header.Get("X-Auth-Token"), res.StatusCode
}

const bootPXE = `{"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`

// ask runs a request in the background until the BMC has heard it; the error that comes is that of the connection.
func ask(ctx context.Context, t *testing.T, s *sim.Server) <-chan error {
	t.Helper()
	before, done := len(s.Requests()), make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address+"/redfish/v1/", nil)
		if err == nil {
			var res *http.Response
			if res, err = web.Do(req); err == nil {
				err = res.Body.Close()
			}
		}
		done <- err
	}()
	wait(t, s, "it has heard", func(s *sim.Server) bool { return len(s.Requests()) > before })
	return done
}

var answerQuirks = []quirk{
	{fault: sim.FaultSlow, strength: sim.Strength{Delay: 50 * time.Millisecond}, check: func(t *testing.T, s *sim.Server) {
		begin := time.Now()
		if shown(t, s, system); time.Since(begin) < 50*time.Millisecond {
			t.Errorf("it answered after %s", time.Since(begin))
		}
	}},
	{fault: sim.FaultHang, check: func(t *testing.T, s *sim.Server) { // G36
		ctx, cancel := context.WithCancel(t.Context())
		done := ask(ctx, t, s)
		select {
		case err := <-done:
			t.Errorf("it answered: %v", err)
		default:
		}
		if r := s.Requests(); r[len(r)-1].Status != -1 {
			t.Errorf("the log says it answered %d", r[len(r)-1].Status)
		}
		cancel()
		<-done
	}},
	{fault: sim.FaultRefuse, check: func(t *testing.T, s *sim.Server) { // G36
		if _, _, err := raw(t, s, system); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%v", err)
		}
	}},
	{fault: sim.FaultBusy, strength: sim.Strength{Count: 2}, check: func(t *testing.T, s *sim.Server) {
		get := func() int { return status(t, s, http.MethodGet, system, "") }
		expect(t, "twice", []int{get(), get(), get()}, []int{503, 503, 200})
	}},
	{fault: sim.FaultWrongPassword, check: func(t *testing.T, s *sim.Server) { // G37
		_, session := login(t, s)
		expect(t, "Basic and session", []int{status(t, s, http.MethodGet, system, ""), session}, []int{401, 401})
	}},
	{fault: sim.FaultDrop, strength: sim.Strength{Count: 1}, check: func(t *testing.T, s *sim.Server) {
		if _, _, err := raw(t, s, system); err == nil {
			t.Error("it answered")
		}
		shown(t, s, system)
	}},
	{fault: sim.FaultDropBody, strength: sim.Strength{Count: 1}, check: func(t *testing.T, s *sim.Server) {
		if _, body, err := raw(t, s, system); err == nil || body == "" {
			t.Errorf("%d bytes and then %v", len(body), err)
		}
		shown(t, s, system)
	}},
	{fault: sim.FaultNoKeepAlive, rows: []int{41}, check: func(t *testing.T, s *sim.Server) {
		keeping := &http.Transport{}
		defer keeping.CloseIdleConnections()
		var errs [2]error
		for i := range errs {
			// A POST, which the transport does not repeat by itself.
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Address+reset, io.NopCloser(strings.NewReader("{}")))
			if err != nil {
				t.Fatal(err)
			}
			res, err := keeping.RoundTrip(req)
			if errs[i] = err; err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}
		if errs[0] != nil || errs[1] == nil {
			t.Errorf("first %v, second %v", errs[0], errs[1])
		}
	}},
	{fault: sim.FaultNoParallel, rows: []int{42}, check: func(t *testing.T, s *sim.Server) { // G65
		switchOn(t, s, sim.FaultHang, sim.Strength{Count: 1})
		ctx, cancel := context.WithCancel(t.Context())
		done := ask(ctx, t, s)
		second := status(t, s, http.MethodGet, system, "")
		cancel()
		<-done
		wait(t, s, "the first has ended", func(s *sim.Server) bool { return status(t, s, http.MethodGet, system, "") == 200 })
		expect(t, "beside another", []int{second}, []int{500})
	}},
	{fault: sim.FaultNoSessions, check: func(t *testing.T, s *sim.Server) {
		_, session := login(t, s)
		root := shown(t, s, "/redfish/v1/")
		if session != 404 || root["SessionService"] != nil || at(root, "Links", "Sessions") != nil {
			t.Errorf("login %d, root %v", session, root)
		}
		shown(t, s, system)
	}},
	{fault: sim.FaultNoBasic, check: func(t *testing.T, s *sim.Server) {
		token, _ := login(t, s)
		res, _ := send(t, s, http.MethodGet, system, "", withToken(token))
		expect(t, "Basic and session", []int{status(t, s, http.MethodGet, system, ""), res.StatusCode}, []int{401, 200})
	}},
	{fault: sim.FaultSessionLimit, strength: sim.Strength{Count: 1}, rows: []int{38}, check: func(t *testing.T, s *sim.Server) {
		_, first := login(t, s)
		_, second := login(t, s)
		expect(t, "logins", []int{first, second}, []int{503, 201})
	}},
	{fault: sim.FaultSessionExpiry, strength: sim.Strength{Delay: time.Nanosecond}, rows: []int{40}, check: func(t *testing.T, s *sim.Server) {
		token, _ := login(t, s)
		res, _ := send(t, s, http.MethodGet, system, "", withToken(token))
		if c := s.Sessions(); res.StatusCode != 401 || c.Open != 0 || c.Leaked != 1 {
			t.Errorf("%s, %+v", res.Status, c)
		}
	}},
	{fault: sim.FaultHTML, check: func(t *testing.T, s *sim.Server) {
		res, body, err := raw(t, s, system)
		if err != nil || res.StatusCode != 200 || !strings.HasPrefix(body, "<!DOCTYPE") {
			t.Errorf("%v %q", err, body)
		}
	}},
	{fault: sim.FaultTruncated, check: func(t *testing.T, s *sim.Server) {
		res, body, err := raw(t, s, system)
		if err != nil || res.StatusCode != 200 || body == "" || json.Valid([]byte(body)) {
			t.Errorf("%v %q", err, body)
		}
	}},
	{fault: sim.FaultTwoDocuments, rows: []int{43}, check: func(t *testing.T, s *sim.Server) {
		_, body, err := raw(t, s, system+"/Processors?$expand=.")
		if err != nil || json.Valid([]byte(body)) || strings.Count(body, "\n{") != 1 {
			t.Errorf("%v %q", err, body)
		}
		shown(t, s, system+"/Processors")
	}},
	{fault: sim.FaultExpandNulls, rows: []int{55}, check: func(t *testing.T, s *sim.Server) {
		expanded, plain := shown(t, s, system+"/Processors?$expand=."), shown(t, s, system+"/Processors/1")
		if at(expanded, "Members", 0, "Model") != nil || at(expanded, "Members", 0, "Id") == nil || plain["Model"] == nil {
			t.Errorf("%v, %v", expanded, plain)
		}
	}},
	{fault: sim.FaultETagRequired, rows: []int{18}, check: func(t *testing.T, s *sim.Server) {
		tag, _ := shown(t, s, system)["@odata.etag"].(string)
		expect(t, "without, any, right", []int{
			status(t, s, http.MethodPatch, system, bootPXE), status(t, s, http.MethodPatch, system, bootPXE, "If-Match", "*"),
			status(t, s, http.MethodPatch, system, bootPXE, "If-Match", tag),
		}, []int{428, 412, 204})
	}},
	{fault: sim.FaultETagStale, strength: sim.Strength{Count: 1}, rows: []int{21}, check: func(t *testing.T, s *sim.Server) {
		tag, _ := shown(t, s, system)["@odata.etag"].(string)
		patch := func() int { return status(t, s, http.MethodPatch, system, bootPXE, "If-Match", tag) }
		expect(t, "now and then", []int{patch(), patch()}, []int{412, 204})
	}},
	{fault: sim.FaultETagSuffix, rows: []int{20}, check: func(t *testing.T, s *sim.Server) {
		zipped, _, _ := raw(t, s, system, "Accept-Encoding", "gzip")
		plain, _, _ := raw(t, s, system, "Accept-Encoding", "identity")
		with, without := zipped.Header.Get("ETag"), plain.Header.Get("ETag")
		if !strings.HasSuffix(with, `-gzip"`) || strings.Contains(without, "gzip") {
			t.Fatalf("%s, %s", with, without)
		}
		expect(t, "with the suffix and without", []int{
			status(t, s, http.MethodPatch, system, bootPXE, "If-Match", with), status(t, s, http.MethodPatch, system, bootPXE, "If-Match", without),
		}, []int{412, 204})
	}},
	{fault: sim.FaultETagWeak, check: func(t *testing.T, s *sim.Server) {
		res, _ := call(t, s, http.MethodGet, system, "")
		weak := res.Header.Get("ETag")
		expect(t, "weak and strong", []int{
			status(t, s, http.MethodPatch, system, bootPXE, "If-Match", weak), status(t, s, http.MethodPatch, system, bootPXE, "If-Match", strings.TrimPrefix(weak, "W/")),
		}, []int{412, 204})
	}},
	{fault: sim.FaultETagOnAction, rows: []int{19}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "an action", []int{
			status(t, s, http.MethodPost, reset, `{"ResetType":"On"}`, "If-Match", "*"), status(t, s, http.MethodPost, reset, `{"ResetType":"On"}`),
		}, []int{412, 204})
	}},
	{fault: sim.FaultNoIdentity, rows: []int{22}, check: func(t *testing.T, s *sim.Server) {
		const registries = "/redfish/v1/Registries"
		expect(t, "registries, the rest", []int{
			status(t, s, http.MethodGet, registries, "", "Accept-Encoding", "identity"), status(t, s, http.MethodGet, registries, ""), status(t, s, http.MethodGet, system, "", "Accept-Encoding", "identity"),
		}, []int{406, 200, 200})
	}},
	{fault: sim.FaultWrongTypes, check: func(t *testing.T, s *sim.Server) {
		memory, isText := at(shown(t, s, system), "MemorySummary", "TotalSystemMemoryGiB").(string)
		number, alsoText := at(shown(t, s, "/redfish/v1/Chassis/1/Thermal"), "Temperatures", 0, "SensorNumber").(string)
		if !isText || !alsoText {
			t.Errorf("%q, %q", memory, number)
		}
	}},
	{fault: sim.FaultTextNumbers, rows: []int{50}, check: func(t *testing.T, s *sim.Server) {
		fan := at(shown(t, s, "/redfish/v1/Chassis/1/Thermal"), "Fans", 0)
		if memory, isText := at(shown(t, s, system), "MemorySummary", "TotalSystemMemoryGiB").(string); !isText || at(fan, "Reading") != "N/A" {
			t.Errorf("memory %q, the fan of a server that is off %v", memory, fan)
		}
	}},
	{fault: sim.FaultMissingLinks, rows: []int{54}, check: func(t *testing.T, s *sim.Server) {
		root, sys := shown(t, s, "/redfish/v1/"), shown(t, s, system)
		if root["Managers"] != nil || at(sys, "Links", "ManagedBy") != nil || sys["LogServices"] != nil {
			t.Errorf("%v, %v", root, sys)
		}
		expect(t, "managers", []int{status(t, s, http.MethodGet, "/redfish/v1/Managers", "")}, []int{404})
	}},
	{fault: sim.FaultMissingMembers, check: func(t *testing.T, s *sim.Server) {
		list := shown(t, s, system+"/Memory")["Members"].([]any)
		last, first := at(list, len(list)-1, "@odata.id").(string), at(list, 0, "@odata.id").(string)
		expect(t, "the first and the last", []int{status(t, s, http.MethodGet, first, ""), status(t, s, http.MethodGet, last, "")}, []int{200, 404})
	}},
	{fault: sim.FaultNoVendor, rows: []int{53}, check: func(t *testing.T, s *sim.Server) {
		if root := shown(t, s, "/redfish/v1/"); root["Vendor"] != nil || root["Product"] != nil || shown(t, s, system)["Manufacturer"] == nil {
			t.Errorf("%v", root)
		}
	}},
	{fault: sim.FaultClockUnset, check: func(t *testing.T, s *sim.Server) {
		if created := at(shown(t, s, "/redfish/v1/Managers/1/LogServices/Log/Entries"), "Members", 0, "Created").(string); !strings.HasPrefix(created, "1970-") {
			t.Error(created)
		}
	}},
}

func TestSessionsOfADeadClientStayAndCountAsLeaked(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	login(t, s) // and nobody ever logs out
	if c := s.Sessions(); c != (sim.SessionCounts{Open: 1, Opened: 1}) {
		t.Errorf("while it lives: %+v", c)
	}
	switchOn(t, s, sim.FaultSessionExpiry, sim.Strength{Delay: time.Nanosecond}) // half an hour later
	if c := s.Sessions(); c != (sim.SessionCounts{Opened: 1, Leaked: 1}) {
		t.Errorf("when it has ended by itself: %+v", c)
	}
}
