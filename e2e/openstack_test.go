package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// openstack is Debian's client, pointed at an appliance. It runs the client's main in one process that is kept.
type openstack struct {
	t        *testing.T
	in       io.Writer
	out      *bufio.Reader
	log      *process.Output
	settings environment
}

// environment is what the client is told by environment variables.
type environment map[string]string

// openstackFor starts the client for an appliance where nobody signs in.
func openstackFor(t *testing.T, a *appliance) *openstack {
	t.Helper()
	path := python(t, "openstackclient.shell", "ironicclient.osc.plugin")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // it ends by itself, in Cleanup, when the test's context is over
	cmd := exec.CommandContext(ctx, path, "testdata/kept_openstack.py")
	o := &openstack{t: t, log: &process.Output{}, settings: environment{"OS_AUTH_TYPE": "none", "OS_ENDPOINT": a.base}}
	cmd.Env, cmd.Stderr = process.Environment(t), o.log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer cancel()
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the openstack client: %v\n%s", err, o.log)
		}
	})
	o.in, o.out = in, bufio.NewReader(out)
	return o
}

// with is the same client with further settings.
func (o *openstack) with(settings environment) *openstack {
	other := *o
	other.settings = maps.Clone(o.settings)
	maps.Copy(other.settings, settings)
	return &other
}

// answer is what a command printed, and its exit code.
type answer struct {
	Out, Errors string
	Code        int
}

// words are those that a person sees, wherever the lines break.
func (a answer) words() string { return strings.Join(strings.Fields(a.Out+" "+a.Errors), " ") }

// run runs one command, however it ends.
func (o *openstack) run(args ...string) answer {
	o.t.Helper()
	o.begin(args...)
	return o.end()
}

// begin starts a command, which goes on while the test does something else.
func (o *openstack) begin(args ...string) {
	o.t.Helper()
	line, err := json.Marshal(map[string]any{"arguments": args, "settings": o.settings})
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.in.Write(append(line, '\n')); err != nil {
		o.t.Fatalf("%v\n%s", err, o.log)
	}
}

// end waits until the command that was begun has ended.
func (o *openstack) end() (a answer) {
	o.t.Helper()
	got, err := o.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(got, &a)
	}
	if err != nil {
		o.t.Fatalf("the openstack client: %v: %s\n%s", err, got, o.log)
	}
	if strings.Contains(a.Errors, "Traceback") {
		o.t.Errorf("the openstack client shows a person a traceback: %s", a.Errors)
	}
	return a
}

// baremetal runs one command below `openstack baremetal` that has to end well.
func (o *openstack) baremetal(args ...string) string {
	o.t.Helper()
	a := o.run(append([]string{"baremetal"}, args...)...)
	if a.Code != 0 {
		o.t.Fatalf("openstack baremetal %s: %s", strings.Join(args, " "), a.words())
	}
	return a.Out
}

// refused runs one command below `openstack baremetal` that has to end badly, and gives what a person is told.
func (o *openstack) refused(args ...string) string {
	o.t.Helper()
	a := o.run(append([]string{"baremetal"}, args...)...)
	if a.Code == 0 {
		o.t.Errorf("openstack baremetal %s ended well: %s", strings.Join(args, " "), a.words())
	}
	return a.words()
}

type record = map[string]any

// list runs a command that prints a table.
func (o *openstack) list(args ...string) (rows []record) {
	o.t.Helper()
	return decoded[[]record](o, args)
}

// show runs a command that prints one thing.
func (o *openstack) show(args ...string) record {
	o.t.Helper()
	return decoded[record](o, args)
}

func decoded[T any](o *openstack, args []string) (v T) {
	o.t.Helper()
	out := o.baremetal(append(args, "-f", "json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		o.t.Fatalf("openstack baremetal %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return v
}

// column is one column of a table.
func column(rows []record, name string) (values []any) {
	for _, r := range rows {
		values = append(values, r[name])
	}
	return values
}

func TestTheOpenstackClientAbortsAnInspectionThatWouldWaitForEver(t *testing.T) {
	t.Parallel()
	python(t, "openstackclient.shell", "ironicclient.osc.plugin")
	a, silent := demo(t)
	o := openstackFor(t, a)

	t.Log("what there is, said by the program that people type")
	if out, err := exec.Command(peer(t, "openstack"), "--os-auth-type", "none", "--os-endpoint", a.base, "baremetal", "node", "list", "-f", "value", "-c", "Name").CombinedOutput(); err != nil || !slices.Contains(strings.Fields(string(out)), silent) {
		t.Errorf("openstack baremetal node list: %v: %s", err, out)
	}
	if drivers := column(o.list("driver", "list"), "Supported driver(s)"); !slices.Contains(drivers, any("redfish")) || !slices.Contains(drivers, any("ipmi")) || !slices.Contains(drivers, any("fake-hardware")) {
		t.Errorf("the drivers are %v", drivers)
	}
	nodes := o.list("node", "list")
	if len(nodes) != 3 || !slices.Contains(column(nodes, "Name"), any(silent)) {
		t.Errorf("the nodes are %v", nodes)
	}
	for _, state := range column(nodes, "Provisioning State") {
		if state != "manageable" {
			t.Errorf("a node of the demo is %v", state)
		}
	}
	if extra, _ := o.show("node", "show", silent)["extra"].(record); extra["rack"] == nil {
		t.Errorf("the node does not say where it is: %v", extra)
	}

	t.Log("an inspection that would wait for ever")
	o.baremetal("node", "inspect", silent)
	a.waitFor(silent, "inspect wait")
	if state := o.show("node", "show", silent)["provision_state"]; state != "inspect wait" {
		t.Errorf("the client shows %v", state)
	}

	t.Log("a version that knows no abort of inspect wait")
	old := o.run("--os-baremetal-api-version", "1.40", "baremetal", "node", "abort", silent)
	if old.Code == 0 || !strings.HasPrefix(old.words(), "Requested API version 1.40 is not supported by the server, client, or the requested operation") {
		t.Errorf("abort at 1.40 ended with %d: %q", old.Code, old.words())
	}
	if n := a.node(silent); n.ProvisionState != "inspect wait" {
		t.Fatalf("refused, but the node is %s", n.ProvisionState)
	}

	t.Log("the abort, which is true at once")
	o.baremetal("node", "abort", silent)
	if n := a.node(silent); n.ProvisionState != "inspect failed" || !strings.HasPrefix(n.LastError, "Inspection was aborted by request.") {
		t.Errorf("aborted, the node is %+v", n)
	}
	history := column(o.list("node", "history", "list", silent), "Description of the event")
	if !slices.Contains(history, any("Inspection was aborted by request.")) {
		t.Errorf("the history is %q", history)
	}
	if words := o.refused("node", "abort", silent); !strings.Contains(words, "HTTP 400") {
		t.Errorf("a second abort: %q", words)
	}
	until(t, "the server off after the clean-up", func() bool {
		n := a.node(silent)
		return n.PowerState == "power off" && n.TargetPower == ""
	})

	t.Log("back to work: managed, and switched on and off")
	o.baremetal("node", "manage", silent, "--wait")
	for _, power := range []string{"on", "off"} {
		o.baremetal("node", "power", power, silent)
		until(t, "power "+power, func() bool { return a.node(silent).PowerState == "power "+power })
	}
}
