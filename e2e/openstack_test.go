package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// openstack is Debian's client, pointed at an appliance.
type openstack struct {
	t    *testing.T
	path string
	env  []string
}

func openstackFor(t *testing.T, a *appliance, path string) *openstack {
	return &openstack{t: t, path: path, env: bare(t, "OS_AUTH_TYPE=none", "OS_ENDPOINT="+a.base)}
}

// try runs one command and gives what it printed, and whether it ended well.
func (o *openstack) try(args ...string) (out, errs string, ok bool) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = o.env, &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		o.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), err == nil
}

// baremetal runs one command below `openstack baremetal` that has to end well.
func (o *openstack) baremetal(args ...string) string {
	o.t.Helper()
	out, errs, ok := o.try(append([]string{"baremetal"}, args...)...)
	if !ok {
		o.t.Fatalf("openstack baremetal %s: %s%s", strings.Join(args, " "), out, errs)
	}
	return out
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

func TestTheLifeOfANodeWithTheOpenstackClient(t *testing.T) {
	path := peer(t, "openstack")
	a, silent := demo(t)
	o := openstackFor(t, a, path)

	t.Log("what there is")
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
	out, errs, ok := o.try("--os-baremetal-api-version", "1.40", "baremetal", "node", "abort", silent)
	if words := strings.Join(strings.Fields(out+errs), " "); ok || !strings.HasPrefix(words, "Requested API version 1.40 is not supported by the server, client, or the requested operation") {
		t.Errorf("abort at 1.40: ended well: %t, said %q", ok, words)
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
	if _, errs, ok := o.try("baremetal", "node", "abort", silent); ok || !strings.Contains(errs, "HTTP 400") {
		t.Errorf("a second abort: ended well: %t, said %q", ok, errs)
	}
	until(t, "the server off after the clean-up", func() bool {
		n := a.node(silent)
		return n.PowerState == "power off" && n.TargetPower == ""
	})

	t.Log("back to work: managed, switched on and off, maintained")
	o.baremetal("node", "manage", silent)
	a.waitFor(silent, "manageable")
	for _, power := range []string{"on", "off"} {
		o.baremetal("node", "power", power, silent)
		until(t, "power "+power, func() bool { return a.node(silent).PowerState == "power "+power })
	}
	o.baremetal("node", "maintenance", "set", silent, "--reason", "wrong cable")
	if n := o.show("node", "show", silent); n["maintenance"] != true || n["maintenance_reason"] != "wrong cable" {
		t.Errorf("in maintenance the client shows %v, %v", n["maintenance"], n["maintenance_reason"])
	}
	o.baremetal("node", "maintenance", "unset", silent)
	if a.node(silent).Maintenance {
		t.Error("maintenance was unset, and still is")
	}
}

func TestANodeComesAndGoesWithTheOpenstackClient(t *testing.T) {
	path := peer(t, "openstack")
	a := serveOn(t, withBootFiles(t))
	o := openstackFor(t, a, path)

	made := o.show("node", "create", "--driver", "fake-hardware", "--name", "spare", "--extra", "rack=R7")
	uuid, _ := made["uuid"].(string)
	if uuid == "" || made["provision_state"] != "enroll" || made["name"] != "spare" {
		t.Fatalf("the new node is %v", made)
	}
	port := o.show("port", "create", "52:54:00:AA:BB:CC", "--node", uuid)
	if port["address"] != "52:54:00:aa:bb:cc" || port["node_uuid"] != uuid {
		t.Errorf("the new port is %v", port)
	}
	if ports := o.list("port", "list", "--node", "spare"); len(ports) != 1 || ports[0]["Address"] != "52:54:00:aa:bb:cc" {
		t.Errorf("its ports are %v", ports)
	}
	if _, errs, ok := o.try("baremetal", "node", "create", "--driver", "fake-hardware", "--name", "spare"); ok || !strings.Contains(errs, "HTTP 409") {
		t.Errorf("a second node of the name: ended well: %t, said %q", ok, errs)
	}
	o.baremetal("node", "manage", "spare")
	a.waitFor("spare", "manageable")
	o.baremetal("node", "delete", "spare")
	if status, answer := a.ask("GET", "/v1/nodes/"+uuid, nil); status != 404 {
		t.Errorf("the deleted node is still answered: %d %s", status, answer)
	}
	if ports := o.list("port", "list"); len(ports) != 0 {
		t.Errorf("its ports are left: %v", ports)
	}
}
