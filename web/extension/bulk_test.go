package extension_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/extension"
)

// runs are the runs of a hall.
type runs struct {
	all     []node.BulkRun
	results map[string][]node.BulkResult
	asked   []conductor.BulkRequest
	by      node.Actor
	refuse  error
}

func (h *hall) StartBulk(_ context.Context, actor node.Actor, req conductor.BulkRequest) (node.BulkRun, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs.asked, h.runs.by = append(h.runs.asked, req), actor
	if h.runs.refuse != nil {
		return node.BulkRun{}, h.runs.refuse
	}
	run := node.BulkRun{ID: req.ID, Action: req.Action, Actor: actor, Reason: req.Reason, KeepPowerOn: req.KeepPowerOn, RetryOf: req.RetryOf, StartedAt: noon, Counts: node.BulkCounts{Pending: 2}}
	if run.ID == "" {
		run.ID = node.NewUUID()
	}
	h.runs.all = append(h.runs.all, run)
	return run, nil
}

func (h *hall) BulkRuns(context.Context) ([]node.BulkRun, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs.all, nil
}

func (h *hall) BulkRun(_ context.Context, id string) (node.BulkRun, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.runs.all {
		if r.ID == id {
			return r, nil
		}
	}
	return node.BulkRun{}, &node.NotFound{What: "Run", Ident: id}
}

func (h *hall) BulkResults(_ context.Context, id string, f node.BulkResultFilter) ([]node.BulkResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []node.BulkResult
	for _, r := range h.runs.results[id] {
		if r.Position > f.After && (f.State == "" || r.State == f.State) && len(out) < f.Limit {
			out = append(out, r)
		}
	}
	return out, nil
}

type bulkShown struct {
	Run     extension.BulkRun      `json:"run"`
	Results []extension.BulkResult `json:"results"`
	Next    string                 `json:"next"`
}

func TestABulkRunIsAcceptedWithAnAddressWhereItIsFollowed(t *testing.T) {
	h := newHall()
	base := serve(t, h, 0)
	id := node.NewUUID()
	body := fmt.Sprintf(`{"id":%q,"action":"abort","nodes":["a","b"],"reason":" wrong cable ","keep_power_on":true}`, id)
	var got extension.BulkRun
	resp := respond(t, base+"/bulk", body)
	if status := call(t, "POST", base+"/bulk", body, &got); status != http.StatusAccepted || resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%d, %d", status, resp.StatusCode)
	}
	if want := base + "/bulk/" + id; resp.Header.Get("Location") != want {
		t.Errorf("Location %q, want %q", resp.Header.Get("Location"), want)
	}
	if got.ID != id || got.Action != node.BulkAbort || *got.Reason != "wrong cable" || !got.KeepPowerOn || got.Pending != 2 || got.Total != 2 || got.EndedAt != nil || got.Started.Actor.User != "jon" {
		t.Errorf("%+v", got)
	}
	req := h.runs.asked[0]
	if fmt.Sprint(req.Choice.Idents) != "[a b]" || req.Reason != "wrong cable" || !req.KeepPowerOn || h.runs.by.Source != node.SourceAPI {
		t.Errorf("%+v by %+v", req, h.runs.by)
	}
}

func respond(t *testing.T, url, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

func TestABulkRunChoosesByNodesRackOrFilter(t *testing.T) {
	h := newHall()
	base := serve(t, h, 0)
	for body, check := range map[string]func(node.BulkChoice) bool{
		`{"action":"power off","rack":"R07"}`:                           func(c node.BulkChoice) bool { return c.Filter.Rack == "R07" && c.Filter.IncludeChildren },
		`{"action":"inspect","filter":{"provision_state":"available"}}`: func(c node.BulkChoice) bool { return c.Filter.ProvisionStates[0] == node.Available },
		`{"action":"maintenance on","nodes":["x"],"reason":null}`:       func(c node.BulkChoice) bool { return c.Filter == nil && c.Idents[0] == "x" },
	} {
		if status := call(t, "POST", base+"/bulk", body, new(any)); status != http.StatusAccepted || !check(h.runs.asked[len(h.runs.asked)-1].Choice) {
			t.Errorf("%s: %d, %+v", body, status, h.runs.asked)
		}
	}
}

func TestABulkRunThatIsNotUnderstoodDoesNothing(t *testing.T) {
	h := newHall()
	base := serve(t, h, 0)
	for _, body := range []string{
		``, `[]`, `{}`, `null`, `{"action":"abort"}`, `{"nodes":["a"]}`, `{"action":"explode","nodes":["a"]}`, `{"action":"abort","nodes":[]}`, `{"action":"abort","nodes":["a"],"rack":"R07"}`,
		`{"action":"abort","filter":{}}`, `{"action":"abort","filter":{"color":"red"}}`, `{"action":"abort","nodes":["a"],"bogus":1}`, `{"action":"abort","nodes":["a"],"id":"x"}`,
		`{"action":"abort","nodes":["a"],"keep_power_on":"yes"}`, `{"action":"abort","nodes":["a"],"keep_power_on":null}`, `{"action":null,"nodes":["a"]}`, `{"action":"abort","nodes":["a"],"reason":"` + strings.Repeat("x", 501) + `"}`,
	} {
		if status := call(t, "POST", base+"/bulk", body, new(any)); status != http.StatusBadRequest {
			t.Errorf("%s: %d", body, status)
		}
	}
	if len(h.runs.asked) != 0 {
		t.Errorf("asked for %+v", h.runs.asked)
	}
}

// G56
func TestViewersMayFollowRunsAndStartNone(t *testing.T) {
	h := newHall()
	h.runs.all = []node.BulkRun{{ID: node.NewUUID(), Action: node.BulkInspect}}
	base := serve(t, h, 0)
	for _, path := range []string{"/bulk", "/bulk/" + h.runs.all[0].ID + "/retry"} {
		if status := call(t, "POST", base+path, `{"action":"abort","nodes":["a"]}`, new(any), "X-Test-Role", "viewer"); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status := call(t, "GET", base+"/bulk/"+h.runs.all[0].ID, "", new(any), "X-Test-Role", "viewer"); status != http.StatusOK || len(h.runs.asked) != 0 {
		t.Errorf("%d, %+v", status, h.runs.asked)
	}
}

// G53: each node has a result of its own, with the status that it would have had alone.
func TestTheResultsOfARunAreToldNodeByNodeAndPageByPage(t *testing.T) {
	h := newHall()
	id := node.NewUUID()
	h.runs.all = []node.BulkRun{{ID: id, Action: node.BulkAbort, StartedAt: noon, EndedAt: noon, Counts: node.BulkCounts{Done: 1, Refused: 2, Pending: 1}}}
	h.runs.results = map[string][]node.BulkResult{id: {
		{Position: 1, Node: node.NewUUID(), Name: "a", Attempt: node.NewUUID(), State: node.BulkDone, At: noon},
		{Position: 2, Node: node.NewUUID(), Name: "b", State: node.BulkRefused, Refusal: node.RefusedLocked, Why: "held", At: noon},
		{Position: 3, Name: "nobody", State: node.BulkRefused, Refusal: node.RefusedMissing, Why: "none", At: noon},
		{Position: 4, Node: node.NewUUID(), Name: "d", State: node.BulkPending},
	}}
	base := serve(t, h, 0)
	var first, second, refused bulkShown
	if status := call(t, "GET", base+"/bulk/"+id+"?limit=2", "", &first); status != http.StatusOK || len(first.Results) != 2 || first.Next == "" {
		t.Fatalf("%d, %+v", status, first)
	}
	if status := call(t, "GET", first.Next, "", &second); status != http.StatusOK || len(second.Results) != 2 || second.Next != "" {
		t.Fatalf("%d, %+v", status, second)
	}
	want := []int{202, 409, 404, 0}
	for i, r := range append(first.Results, second.Results...) {
		status := 0
		if r.Status != nil {
			status = *r.Status
		}
		if status != want[i] || r.Position != i+1 || (r.Refusal != nil) != (r.State == node.BulkRefused) {
			t.Errorf("%+v has the status %d, want %d", r, status, want[i])
		}
	}
	if second.Results[0].Node != nil {
		t.Errorf("an unknown node has a UUID: %+v", second.Results[0])
	}
	if status := call(t, "GET", base+"/bulk/"+id+"?state=refused&limit=1", "", &refused); status != http.StatusOK || len(refused.Results) != 1 || !strings.Contains(refused.Next, "state=refused") {
		t.Errorf("%d, %+v", status, refused)
	}
	for path, want := range map[string]int{
		"/bulk/" + id + "?state=odd": 400, "/bulk/" + id + "?marker=x": 400, "/bulk/" + id + "?limit=0": 400, "/bulk/" + id + "?bogus=1": 400,
		"/bulk/" + node.NewUUID(): 404, "/bulk/x": 404, "/bulk?x=1": 400, "/bulk": 200,
	} {
		if status := call(t, "GET", base+path, "", new(any)); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

func TestRefusedNodesAreTriedAgainByTheirRun(t *testing.T) {
	h := newHall()
	base := serve(t, h, 0)
	id := node.NewUUID()
	var got extension.BulkRun
	if status := call(t, "POST", base+"/bulk/"+id+"/retry", "", &got); status != http.StatusAccepted || *got.RetryOf != id || got.ID == id {
		t.Errorf("%d, %+v", status, got)
	}
	for _, c := range []struct {
		refuse error
		want   int
	}{{&node.Conflict{Text: "The run goes on."}, 409}, {&node.NotFound{What: "Run", Ident: id}, 404}} {
		h.runs.refuse = c.refuse
		if status := call(t, "POST", base+"/bulk/"+id+"/retry", "", new(any)); status != c.want {
			t.Errorf("%v: %d", c.refuse, status)
		}
	}
	if status := call(t, "POST", base+"/bulk/x/retry", "", new(any)); status != http.StatusNotFound {
		t.Errorf("no run at all: %d", status)
	}
}

func TestARefusalHasTheStatusThatTheNodeAloneWouldHaveHad(t *testing.T) {
	seen := map[node.Refusal]bool{}
	for _, err := range []error{
		&node.NotFound{What: "Node"}, &node.InvalidTransition{}, &node.Stale{}, &node.Locked{}, &node.Conflict{}, &node.Exists{}, &node.Invalid{}, &node.Unsupported{}, &node.Forbidden{},
		&node.Unreachable{Err: errors.New("500")}, &node.Unreachable{Err: errors.New("late"), Timeout: true}, fmt.Errorf("x: %w", node.ErrCredentials), node.ErrLost, context.DeadlineExceeded,
		errors.New("disk full"),
	} {
		kind, text := node.RefusalOf(err)
		seen[kind] = true
		want, said := web.Status(err)
		if kind == node.RefusedInternal {
			said = ""
		} else if errors.Is(err, context.DeadlineExceeded) {
			said = text
		}
		if got := extension.RefusalStatus(kind); got != want || text != said {
			t.Errorf("%v: %d %q, want %d %q", err, got, text, want, said)
		}
	}
	for _, kind := range node.Refusals() {
		if !seen[kind] || extension.RefusalStatus(kind) == 0 {
			t.Errorf("%s is not tried or has no status", kind)
		}
	}
}
