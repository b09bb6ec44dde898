package ironic_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/ironic"
)

// rack is a conductor and a store in memory. What a test does not need is not implemented and would panic.
type rack struct {
	ironic.Conductor
	ironic.Store
	nodes    []node.Node
	ports    []node.Port
	boots    []node.Boot
	able     abilities
	verbs    []conductor.ProvisionRequest
	idents   []string
	reports  []conductor.ReportRequest
	verbFail error
	rules    ruleShelf

	lookups    []conductor.LookupRequest
	heartbeats []conductor.HeartbeatRequest
	token      node.Secret // that a lookup discloses
	refusal    error       // of whatever a ramdisk asks
}

func (r *rack) Node(_ context.Context, ident string) (node.Node, error) {
	for _, n := range r.nodes {
		if n.UUID == ident || (n.Name != "" && n.Name == ident) {
			return n, nil
		}
	}
	return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
}

func (r *rack) Nodes(_ context.Context, f node.Filter) ([]node.Node, error) {
	out := []node.Node{}
	past := f.Marker == ""
	for _, n := range r.nodes {
		if past && len(out) < f.Limit && (f.ProvisionStates == nil || f.ProvisionStates[0] == n.ProvisionState) {
			out = append(out, n)
		}
		past = past || n.UUID == f.Marker
	}
	return out, nil
}

func (r *rack) CreateNode(_ context.Context, _ node.Actor, n node.Node) (node.Node, error) {
	d, err := node.DriverNamed(n.Driver)
	if err != nil {
		return n, err
	}
	if err := d.FillInterfaces(&n.Interfaces); err != nil {
		return n, err
	}
	r.nodes = append(r.nodes, n)
	return n, nil
}

func (r *rack) PatchNode(ctx context.Context, _ node.Actor, ident string, _ int, change func(node.Node) (node.Node, error)) (node.Node, error) {
	n, err := r.Node(ctx, ident)
	if err != nil {
		return n, err
	}
	if n, err = change(n); err != nil {
		return n, err
	}
	for i := range r.nodes {
		if r.nodes[i].UUID == n.UUID {
			r.nodes[i] = n
		}
	}
	return n, nil
}

func (r *rack) SetProvisionState(_ context.Context, _ node.Actor, ident string, req conductor.ProvisionRequest) error {
	r.verbs, r.idents = append(r.verbs, req), append(r.idents, ident)
	return r.verbFail
}

func (r *rack) Report(_ context.Context, _ node.Actor, req conductor.ReportRequest) (node.Node, error) {
	r.reports = append(r.reports, req)
	if req.Token == "" {
		return node.Node{}, node.ErrNotReported
	}
	return r.nodes[0], nil
}

func (r *rack) SetBootDevice(_ context.Context, _ node.Actor, _ string, b node.Boot) error {
	r.boots = append(r.boots, b)
	return nil
}

func (r *rack) ShardCounts(context.Context) (map[string]int, error) {
	return map[string]int{"s2": 1, "s1": 2, "": 4}, nil
}

func (r *rack) Port(_ context.Context, uuid string) (node.Port, error) {
	for _, p := range r.ports {
		if p.UUID == uuid {
			return p, nil
		}
	}
	return node.Port{}, &node.NotFound{What: "Port", Ident: uuid}
}

func (r *rack) Ports(_ context.Context, f node.PortFilter) ([]node.Port, error) {
	out := []node.Port{}
	for _, p := range r.ports {
		if f.NodeUUID == "" || f.NodeUUID == p.NodeUUID {
			out = append(out, p)
		}
	}
	return out, nil
}

func (r *rack) CreatePort(ctx context.Context, _ node.Actor, p node.Port) (node.Port, error) {
	if _, err := r.Node(ctx, p.NodeUUID); err != nil {
		return p, err
	}
	for _, other := range r.ports {
		if other.Address == p.Address {
			return p, &node.Exists{Text: "A port with MAC address " + p.Address + " already exists."}
		}
	}
	r.ports = append(r.ports, p)
	return p, nil
}

func (r *rack) PatchPort(ctx context.Context, _ node.Actor, uuid string, change func(node.Port) (node.Port, error)) (node.Port, error) {
	p, err := r.Port(ctx, uuid)
	if err != nil {
		return p, err
	}
	return change(p)
}

// serve serves the API over a real socket and gives its address.
func serve(t *testing.T, r *rack) string {
	t.Helper()
	app := web.NewApp(web.AppOptions{Errors: []web.ErrorShape{ironic.ErrorShape()}})
	ironic.Register(app, ironic.Options{Conductor: r, Store: r, Host: "rack1"})
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

// fault is the text of an error of either family.
func (a answer) fault(t *testing.T) string {
	t.Helper()
	s, ok := a.body["error_message"].(string)
	if !ok {
		t.Fatalf("no error_message that is a string in %s", a.text)
	}
	var inner struct {
		Fault       *string `json:"faultstring"`
		Description string
	}
	if err := json.Unmarshal([]byte(s), &inner); err != nil {
		t.Fatal(err)
	}
	if inner.Fault != nil {
		return *inner.Fault
	}
	return inner.Description
}

func call(t *testing.T, method, url, version, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		req.Header.Set("X-OpenStack-Ironic-API-Version", version)
	}
	return send(t, req)
}

func send(t *testing.T, req *http.Request) answer {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(b)}
	if len(b) > 0 && b[0] != '[' { // of lists that stand alone, the text is looked at
		if err := json.Unmarshal(b, &a.body); err != nil {
			t.Fatalf("%s %s: %v in %s", req.Method, req.URL, err, b)
		}
	}
	return a
}
