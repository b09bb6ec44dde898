package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// syncInterval is how often the appliance asks the foreign inspector in these tests.
const syncInterval = time.Second

// delegation is the appliance with a foreign inspector service, which has the appliance as its Ironic, and a rack of
// simulated servers.
type delegation struct {
	*appliance
	service *program
	front   *front
	control string // of the simulator
	names   []string
}

// program is a program of somebody else that runs until the test ends.
type program struct {
	cmd   *exec.Cmd
	out   process.Output
	ended chan struct{}
	base  string
}

// delegate starts all three; with direct, nothing stands between the appliance and the service. service starts that at an address,
// with the appliance as its Ironic.
func delegate(t *testing.T, servers int, direct bool, service func(t *testing.T, listen, ironic string) *program) *delegation {
	t.Helper()
	listen, serviceListen := freeAddress(t), freeAddress(t)
	d := &delegation{front: newFront(t, "http://"+serviceListen)}
	d.startRack(t, servers, "http://"+listen)
	at := d.front.base
	if direct {
		at = "http://" + serviceListen
	}
	d.appliance = start(t, "serve", "--data-dir", withBootFiles(t), "--listen", listen, "--auth", "none", "--ramdisk-url", "http://"+listen,
		"--inspector-url", at, "--inspector-sync-interval", syncInterval.String())
	d.service = service(t, serviceListen, d.base)
	d.enrol()
	return d
}

// debians runs Debian's ironic-inspector in a folder of its own: no sign-in, SQLite, no PXE filter.
func debians(t *testing.T, listen, ironic string) *program {
	t.Helper()
	path, migrate := peer(t, "ironic-inspector"), peer(t, "ironic-inspector-dbsync")
	dir := t.TempDir()
	host, port, _ := strings.Cut(listen, ":")
	config := filepath.Join(dir, "inspector.conf")
	text := fmt.Sprintf(`[DEFAULT]
listen_address = %s
listen_port = %s
auth_strategy = noauth
transport_url = fake://
use_stderr = true
state_path = %[3]s
rootwrap_config = %[3]s/none
clean_up_period = 2
[database]
connection = sqlite:///%[3]s/inspector.sqlite
[coordination]
backend_url = file://%[3]s/coordination
[ironic]
auth_type = none
endpoint_override = %[4]s
max_retries = 3
[pxe_filter]
driver = noop
[processing]
store_data = database
add_ports = all
`, host, port, dir, ironic)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := process.Environment(t)
	sync := exec.CommandContext(t.Context(), migrate, "--config-file", config, "upgrade")
	sync.Env = env
	if out, err := sync.CombinedOutput(); err != nil {
		t.Fatalf("make the inspector's database: %v\n%s", err, out)
	}
	p := run(t, path, "--config-file", config)
	p.answersAt(t, listen)
	return p
}

// answersAt waits until an inspector answers.
func (p *program) answersAt(t *testing.T, listen string) {
	t.Helper()
	p.base = "http://" + listen
	until(t, "the inspector answers", func() bool {
		select {
		case <-p.ended:
			t.Fatalf("the inspector ended: %s\n%s", p.cmd.ProcessState, &p.out)
		default:
		}
		resp, err := client.Get(p.base + "/v1")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// run starts a program and ends it, with whatever it has started, when the test ends.
func run(t *testing.T, path string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = process.Environment(t), &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // it is killed
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if strings.Contains(p.out.String(), "DATA RACE") || t.Failed() {
			t.Errorf("%s said:\n%s", filepath.Base(path), &p.out)
		}
	})
	return p
}

// kill ends the program and whatever it has started.
func (p *program) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// hang stops the service as a debugger does: connections are taken and nothing is answered. It returns what ends that.
func (p *program) hang(t *testing.T) (resume func()) {
	t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGCONT) }
}

// startRack starts simulated servers that boot from an appliance and wait before they report.
func (d *delegation) startRack(t *testing.T, servers int, boot string) {
	t.Helper()
	control := freeAddress(t)
	sim := run(t, binary, "sim", "--servers", strconv.Itoa(servers), "--control", control, "--boot-url", boot, "--hold-reports")
	until(t, "the address of the simulator", func() bool {
		_, ok := sim.out.Line("Control: ")
		return ok
	})
	d.control = "http://" + control
}

// enrol makes nodes of the servers, with their ports, and the foreign inspector theirs.
func (d *delegation) enrol() {
	d.t.Helper()
	for _, s := range getJSON[[]simulated](d.t, d.control+"/servers") {
		n := must[nodeDoc](d.appliance, "POST", "/v1/nodes", map[string]any{
			"name": s.Name, "driver": s.Driver, "driver_info": s.DriverInfo, "inspect_interface": "inspector",
		})
		must[any](d.appliance, "POST", "/v1/ports", map[string]any{"node_uuid": n.UUID, "address": s.MAC})
		d.verb(s.Name, "manage")
		d.names = append(d.names, s.Name)
	}
	for _, name := range d.names {
		d.waitFor(name, "manageable")
	}
}

// simulated is what the tests read of a simulated server.
type simulated struct {
	Name       string         `json:"name"`
	Driver     string         `json:"driver"`
	DriverInfo map[string]any `json:"driver_info"`
	MAC        string         `json:"mac"`
	Power      string         `json:"power"`
	State      string         `json:"state"`
}

func (d *delegation) server(name string) simulated {
	d.t.Helper()
	return getJSON[simulated](d.t, d.control+"/servers/"+name)
}

// report lets the ramdisk of a server, once it runs, report.
func (d *delegation) report(name string) {
	d.t.Helper()
	until(d.t, "the ramdisk of "+name+" runs", func() bool { return d.server(name).State == "ramdisk" })
	status, body := send(d.t, "DELETE", d.control+"/servers/"+name+"/hold", nil)
	if status >= 300 {
		d.t.Fatalf("let %s report: %d %s", name, status, body)
	}
}

// introspection is a run as the foreign service tells it.
type introspection struct {
	State    string  `json:"state"`
	Finished bool    `json:"finished"`
	Error    *string `json:"error"`
}

func (d *delegation) run(uuid string) introspection {
	d.t.Helper()
	return getJSON[introspection](d.t, d.service.base+"/v1/introspection/"+uuid)
}

// attempt is the newest attempt of a node.
func (d *delegation) attempt(ident string) attemptDoc {
	d.t.Helper()
	all := d.attempts(ident)
	if len(all) == 0 {
		d.t.Fatalf("%s has no attempt", ident)
	}
	return all[0]
}

// send makes one request of any service.
func send(t *testing.T, method, address string, body any) (int, []byte) {
	t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, in)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func getJSON[T any](t *testing.T, address string) (v T) {
	t.Helper()
	status, body := send(t, "GET", address, nil)
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", address, status, body)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("GET %s: %v: %s", address, err, body)
	}
	return v
}

// front stands between the appliance and the service: it passes everything on, and can take the service's place.
type front struct {
	base  string
	place atomic.Pointer[place] // nil passes everything on
}

func newFront(t *testing.T, service string) *front {
	t.Helper()
	to, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.ErrorLog = log.New(io.Discard, "", 0)
	f := &front{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := f.place.Load(); p != nil && strings.HasSuffix(r.URL.Path, p.end) {
			w.WriteHeader(p.status)
			_, _ = io.WriteString(w, p.body)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.base = server.URL
	return f
}

// answerAt lets the front answer, for the service, what comes for a path with this end; until the returned function is
// called.
func (f *front) answerAt(end string, status int, body string) (restore func()) {
	f.place.Store(&place{end, status, body})
	return func() { f.place.Store(nil) }
}

type place struct {
	end    string
	status int
	body   string
}
