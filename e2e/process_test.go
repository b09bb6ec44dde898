package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// patience is how long anything may take that is not measured: the machine may be busy with other tests.
const patience = 60 * time.Second

// until asks again and again whether something has become true.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(25 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// appliance is a running cagenut.
type appliance struct {
	t         *testing.T
	cmd       *exec.Cmd
	out, errs process.Output
	ended     chan struct{}
	base      string // "http://127.0.0.1:…"
	password  string // of admin, for ask; "" where nobody signs in
}

// start runs the binary until the test ends, and waits until it says where its dashboard is.
func start(t *testing.T, args ...string) *appliance {
	t.Helper()
	a := &appliance{t: t, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	a.cmd.Env, a.cmd.Stdout, a.cmd.Stderr = process.Environment(t), &a.out, &a.errs
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = a.cmd.Wait() // how it ended is read from ProcessState
		close(a.ended)
	}()
	t.Cleanup(a.stop)
	until(t, "the address of the dashboard", func() bool {
		select {
		case <-a.ended:
			t.Fatalf("it ended: %s\n%s%s", a.cmd.ProcessState, &a.out, &a.errs)
		default:
		}
		url, ok := a.out.Line("Dashboard: ")
		a.base = strings.TrimSuffix(url, "/ui")
		return ok
	})
	return a
}

// stop ends the process as Ctrl-C does, and holds it to an orderly end.
func (a *appliance) stop() {
	select {
	case <-a.ended:
	default:
		_ = a.cmd.Process.Signal(os.Interrupt)
		select {
		case <-a.ended:
		case <-time.After(patience):
			_ = a.cmd.Process.Signal(syscall.SIGQUIT)
			<-a.ended
			a.t.Errorf("it did not end when interrupted:\n%s", &a.errs)
		}
		if code := a.cmd.ProcessState.ExitCode(); code != 0 {
			a.t.Errorf("interrupted, it ended with %s", a.cmd.ProcessState)
		}
	}
	if strings.Contains(a.errs.String(), "DATA RACE") || a.t.Failed() {
		a.t.Errorf("standard error of %s:\n%s", strings.Join(a.cmd.Args[1:], " "), &a.errs)
	}
}

// kill ends the process as a power cut does.
func (a *appliance) kill() {
	a.t.Helper()
	if err := a.cmd.Process.Kill(); err != nil {
		a.t.Fatal(err)
	}
	<-a.ended
}

// demo starts a small simulated rack and answers with the name of its wrongly cabled server.
func demo(t *testing.T) (*appliance, string) {
	t.Helper()
	a := start(t, "demo", "--servers", "3", "--silent", "1", "--ipmi", "1", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0")
	var silent string
	until(t, "the name of the wrongly cabled server", func() (ok bool) {
		silent, ok = a.out.Line("Wrongly cabled: ")
		return ok
	})
	return a, silent
}

// client has a deadline, so that no test hangs.
var client = &http.Client{Timeout: patience}

// ask makes one request of the API at its newest version.
func (a *appliance) ask(method, path string, body any) (int, []byte) {
	a.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			a.t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, in)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	req.Header.Set("Content-Type", "application/json")
	if a.password != "" {
		req.SetBasicAuth("admin", a.password)
	}
	resp, err := client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// must is ask with an answer of success, read into T.
func must[T any](a *appliance, method, path string, body any) (v T) {
	a.t.Helper()
	status, answer := a.ask(method, path, body)
	if status >= 300 {
		a.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if len(answer) == 0 {
		return v
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		a.t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
	return v
}

// nodeDoc is what the tests read of a node.
type nodeDoc struct {
	UUID           string         `json:"uuid"`
	Name           string         `json:"name"`
	ProvisionState string         `json:"provision_state"`
	PowerState     string         `json:"power_state"`
	TargetPower    string         `json:"target_power_state"`
	LastError      string         `json:"last_error"`
	Maintenance    bool           `json:"maintenance"`
	DriverInfo     map[string]any `json:"driver_info"`
	Extra          map[string]any `json:"extra"`
}

func (a *appliance) node(ident string) nodeDoc {
	a.t.Helper()
	return must[nodeDoc](a, "GET", "/v1/nodes/"+ident, nil)
}

func (a *appliance) verb(ident, target string) {
	a.t.Helper()
	must[any](a, "PUT", "/v1/nodes/"+ident+"/states/provision", map[string]string{"target": target})
}

func (a *appliance) waitFor(ident, state string) nodeDoc {
	a.t.Helper()
	var n nodeDoc
	until(a.t, ident+" in "+state, func() bool {
		n = a.node(ident)
		return n.ProvisionState == state
	})
	return n
}

// waiting brings a node into inspect wait.
func (a *appliance) waiting(ident string) nodeDoc {
	a.t.Helper()
	a.verb(ident, "inspect")
	return a.waitFor(ident, "inspect wait")
}

// attemptDoc is what the tests read of an attempt.
type attemptDoc struct {
	ID         string   `json:"id"`
	Outcome    *string  `json:"outcome"`
	Reason     *string  `json:"reason"`
	Error      *string  `json:"error"`
	Divergence *string  `json:"divergence"`
	Notes      []string `json:"notes"`
}

func (a *appliance) attempts(ident string) []attemptDoc {
	a.t.Helper()
	return must[struct{ Attempts []attemptDoc }](a, "GET", "/cagenut/v1/nodes/"+ident+"/attempts", nil).Attempts
}

// events are the texts of a node's history, oldest first.
func (a *appliance) events(ident string) (texts []string) {
	a.t.Helper()
	type entry struct {
		Event string `json:"event"`
	}
	for _, e := range must[struct{ History []entry }](a, "GET", "/v1/nodes/"+ident+"/history?detail=true", nil).History {
		texts = append(texts, e.Event)
	}
	return texts
}
