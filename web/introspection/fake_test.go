package introspection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	service "cagenut/inspect/introspection"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/introspection"
)

const (
	one     = "6a6d0a7e-0000-4a51-9a3c-000000000001"
	two     = "6a6d0a7e-0000-4a51-9a3c-000000000002"
	nowhere = "6a6d0a7e-0000-4a51-9a3c-000000000099"
)

var began = time.Date(2026, 11, 30, 2, 5, 27, 500, time.UTC)

// rack is a store and a conductor in memory: verbs move the latest run of a node at once.
type rack struct {
	mu       sync.Mutex
	nodes    []node.Node
	attempts []node.Attempt
	plugins  string
	actors   []node.Actor
	bodies   []int
	broken   error
	rules    []node.InspectionRule
	applied  []string
}

func newRack() *rack {
	r := &rack{plugins: `{"macs":["02:00:5e:00:00:01"]}`}
	for i, id := range []string{one, two} {
		r.nodes = append(r.nodes, node.Node{UUID: id, Name: fmt.Sprint("n", i+1), Interfaces: node.Interfaces{Inspect: "agent"}})
		r.begin(i, node.RunWaiting)
	}
	return r
}

func (r *rack) begin(i int, state node.RunState) {
	number := int64(len(r.attempts) + 1)
	id := fmt.Sprintf("aaaaaaaa-0000-4a51-9a3c-%012d", number)
	r.attempts = append(r.attempts, node.Attempt{ID: id, NodeUUID: r.nodes[i].UUID, Number: number, Interface: "agent", State: state, StartedAt: began, Token: node.Secret("token-" + fmt.Sprint(number))})
	r.nodes[i].AttemptID = id
}

func (r *rack) end(i int, state node.RunState, text string) {
	for j := range r.attempts {
		if r.attempts[j].ID == r.nodes[i].AttemptID {
			r.attempts[j].State, r.attempts[j].EndedAt, r.attempts[j].Error = state, began.Add(time.Minute), text
		}
	}
}

func (r *rack) index(ident string) int {
	return slices.IndexFunc(r.nodes, func(n node.Node) bool { return n.UUID == ident || n.Name == ident })
}

func (r *rack) Node(_ context.Context, ident string) (node.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return node.Node{}, r.broken
	}
	if i := r.index(ident); i >= 0 {
		return r.nodes[i], nil
	}
	return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
}

func (r *rack) find(is func(node.Attempt) bool) (node.Attempt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.attempts, is); i >= 0 {
		return r.attempts[i], nil
	}
	return node.Attempt{}, &node.NotFound{What: "Attempt"}
}

func (r *rack) Attempt(_ context.Context, id string) (node.Attempt, error) {
	return r.find(func(a node.Attempt) bool { return a.ID == id })
}

func (r *rack) AttemptByToken(_ context.Context, token node.Secret) (node.Attempt, error) {
	return r.find(func(a node.Attempt) bool { return a.Token == token })
}

func (r *rack) Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error) {
	before := int64(1 << 30)
	if f.Marker != "" {
		a, err := r.Attempt(ctx, f.Marker)
		if err != nil {
			return nil, err
		}
		before = a.Number
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []node.Attempt{}
	for _, a := range slices.Backward(r.attempts) {
		latest := r.nodes[r.index(a.NodeUUID)].AttemptID == a.ID
		if latest && a.Number < before && len(out) < f.Limit && (f.States == nil || slices.Contains(f.States, a.State)) {
			out = append(out, a)
		}
	}
	return out, nil
}

func (r *rack) Inventory(_ context.Context, nodeUUID string) (node.Inventory, error) {
	if nodeUUID != one {
		return node.Inventory{}, &node.NotFound{What: "Inventory"}
	}
	return node.Inventory{Inventory: []byte(`{"hostname":"ramdisk","cpu":{"count":8}}`), PluginData: []byte(r.plugins)}, nil
}

func (r *rack) Inspect(_ context.Context, actor node.Actor, ident string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors = append(r.actors, actor)
	r.begin(r.index(ident), node.RunStarting)
	return nil
}

func (r *rack) Abort(_ context.Context, actor node.Actor, ident, attempt string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors = append(r.actors, actor)
	i := r.index(ident)
	if r.nodes[i].AttemptID != attempt {
		return &node.Stale{Node: ident, Seen: attempt}
	}
	r.end(i, node.RunError, "Canceled by operator")
	return nil
}

func (r *rack) Report(_ context.Context, actor node.Actor, body []byte, token node.Secret) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors, r.bodies = append(r.actors, actor), append(r.bodies, len(body))
	for _, a := range r.attempts {
		if a.Token == token && a.State == node.RunWaiting {
			return a.NodeUUID, nil
		}
	}
	return "", node.ErrNotReported
}

func (r *rack) LastReport(_ context.Context, nodeUUID string) (node.Report, error) {
	if nodeUUID != one {
		return node.Report{}, &node.NotFound{What: "Report"}
	}
	return node.Report{Body: []byte(`{"inventory":{"hostname":"ramdisk"},"spelt":1.50}`)}, nil
}

func (r *rack) Reapply(_ context.Context, actor node.Actor, ident string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors, r.applied = append(r.actors, actor), append(r.applied, ident+" "+string(data))
	return nil
}

func (r *rack) rule(uuid string) int {
	return slices.IndexFunc(r.rules, func(rule node.InspectionRule) bool { return rule.UUID == uuid })
}

func (r *rack) InspectionRule(_ context.Context, uuid string) (node.InspectionRule, error) {
	if i := r.rule(uuid); i >= 0 {
		return r.rules[i], nil
	}
	return node.InspectionRule{}, &node.NotFound{What: "Rule", Ident: uuid}
}

func (r *rack) InspectionRules(context.Context, node.RuleFilter) ([]node.InspectionRule, error) {
	return r.rules, nil
}

func (r *rack) CreateInspectionRule(_ context.Context, actor node.Actor, rule node.InspectionRule) (node.InspectionRule, error) {
	if rule.UUID == "" {
		rule.UUID = node.NewUUID()
	}
	if r.rule(rule.UUID) >= 0 {
		return rule, &node.Exists{Text: "A rule with UUID " + rule.UUID + " already exists."}
	}
	rule.CreatedAt = began.Add(time.Duration(len(r.rules)) * time.Second)
	r.actors, r.rules = append(r.actors, actor), append(r.rules, rule)
	return rule, rule.Validate()
}

func (r *rack) DeleteInspectionRule(_ context.Context, _ node.Actor, uuid string) error {
	i := r.rule(uuid)
	if i < 0 {
		return &node.NotFound{What: "Rule", Ident: uuid}
	}
	r.rules = slices.Delete(r.rules, i, i+1)
	return nil
}

func (r *rack) DeleteInspectionRules(context.Context, node.Actor) error {
	r.rules = nil
	return nil
}

// serve serves the API over a real socket and gives its address.
func serve(t *testing.T, r *rack, guard fiber.Handler) string {
	t.Helper()
	app := web.NewApp(web.AppOptions{ReportDoors: introspection.LargeBodies(), Errors: []web.ErrorShape{introspection.ErrorShape()}})
	introspection.Register(app, introspection.Options{
		Service: service.New(service.Needs{Nodes: r, Runs: r, Verbs: r, Reports: r, Rules: r, Stored: r}), Guard: guard,
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// message is the text of an error.
func (a answer) message() string {
	inner, _ := a.body["error"].(map[string]any)
	s, _ := inner["message"].(string)
	return s
}

func call(t *testing.T, method, url, version, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		req.Header.Set("X-OpenStack-Ironic-Inspector-API-Version", version)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(b)}
	if len(b) > 0 {
		if err := json.Unmarshal(b, &a.body); err != nil {
			t.Fatalf("%s %s: no JSON object: %s", method, url, b)
		}
	}
	if resp.Header.Get("X-OpenStack-Ironic-Inspector-API-Minimum-Version") != "1.0" || resp.Header.Get("X-OpenStack-Ironic-Inspector-API-Maximum-Version") != "1.18" {
		t.Errorf("%s %s %d: the versions are not in the headers", method, url, resp.StatusCode)
	}
	return a
}
