package e2e_test

import (
	"net"
	"strings"
	"testing"
)

// silentBMC takes connections and never says a word.
func silentBMC(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String() // the system takes them; nobody accepts
}

// What is refused is told on standard error, in the server's own words, with the status.
func TestWhatAPersonReadsWhenTheOpenstackClientIsRefused(t *testing.T) {
	t.Parallel()
	python(t, "openstackclient.shell", "ironicclient.osc.plugin")
	a := serveOn(t, withBootFiles(t))
	o := openstackFor(t, a).with(environment{"KEPT_RETRIES": "0"})
	made := must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"})
	locked := must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "locked", "driver_info": map[string]any{
		"redfish_address": "http://" + silentBMC(t), "redfish_username": "root", "redfish_password": password,
	}})
	a.verb("locked", "manage")
	failing := must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "failing", "driver_info": map[string]any{
		"redfish_address": "http://" + freeAddress(t), "redfish_username": "root", "redfish_password": password,
	}})
	const nowhere = "11111111-1111-1111-1111-111111111111"
	const tooOld = "Requested API version 1.36 is not supported by the server, client, or the requested operation"

	for _, c := range []struct{ name, command, says string }{
		{"a node that is locked", "node power on locked", "Node " + locked.UUID + " is locked by host "},
		{"a node that is locked, with the advice", "node manage locked", "please retry after the current operation is completed. (HTTP 409)"},
		{"an unknown node", "node show nobody", "Node nobody could not be found. (HTTP 404)"},
		{"an unknown node, by its UUID", "node show " + nowhere, "Node " + nowhere + " could not be found. (HTTP 404)"},
		{"a verb for an unknown node", "node abort nobody", "Node nobody could not be found. (HTTP 404)"},
		{"the deletion of an unknown node", "node delete nobody", "Failed to delete node nobody: Node nobody could not be found. (HTTP 404)"},
		{"a verb in the wrong state", "node abort n1", `The requested action "abort" can not be performed on node "` + made.UUID + `" while it is in state "enroll". (HTTP 400)`},
		{"provide before manage", "node provide n1", `The requested action "provide" can not be performed on node "` + made.UUID + `" while it is in state "enroll". (HTTP 400)`},
		{"a name that is taken", "node create --driver fake-hardware --name n1", "A node with name n1 already exists. (HTTP 409)"},
		{"a bad name", "node create --driver fake-hardware --name bad/name", "Cannot create node with invalid name 'bad/name' (HTTP 400)"},
		{"a bad new name", "node set n1 --name bad/name", "invalid name 'bad/name' (HTTP 400)"},
		{"a bad UUID", "node create --driver fake-hardware --uuid banana", "Expected UUID for uuid: banana (HTTP 400)"},
		{"an unknown driver", "node create --driver nothing", "No valid host was found."},
		{"an interface that the driver does not have", "node set n1 --inspect-interface nothing", "(HTTP 400)"},
		{"a boot device that the driver cannot set", "node boot device set n1 disk", "Invalid boot device disk specified. (HTTP 400)"},
		{"a bad MAC", "port create banana --node " + made.UUID, "Expected valid MAC address for address: banana (HTTP 400)"},
		{"a port of an unknown node", "port create 52:54:00:00:00:01 --node " + nowhere, "Node " + nowhere + " could not be found. (HTTP 400)"},
		{"a bad trait", "node add trait n1 lower_case", "Failed to add trait lower_case: "},
		{"a trait that the node does not have", "node remove trait n1 CUSTOM_GPU", "doesn't have a trait 'CUSTOM_GPU' (HTTP 404)"},
		{"an unknown driver to show", "driver show nothing", "Could not find the following driver(s) or hardware type(s): nothing. (HTTP 404)"},
		{"an unknown conductor", "conductor show nothing", "Conductor nothing could not be found. (HTTP 404)"},
		{"a history entry that is not there", "node history get n1 " + nowhere, "could not be found. (HTTP 404)"},
		{"a BMC that is not there, waited for", "node manage failing --wait 60", "Node failing failed to reach state manageable. It's in unexpected stable state enroll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := o.with(nil)
			o.t = t
			words := o.refused(strings.Fields(c.command)...)
			if !strings.Contains(words, c.says) {
				t.Errorf("openstack baremetal %s says %q, want %q", c.command, words, c.says)
			}
			if strings.Contains(words, password) || strings.Contains(words, "error_message") || strings.Contains(words, "faultstring") {
				t.Errorf("openstack baremetal %s shows a person %q", c.command, words)
			}
		})
	}
	if n := a.node(failing.Name); !strings.Contains(n.LastError, "connection refused") {
		t.Errorf("why the BMC that is not there was not managed: %q", n.LastError)
	}

	t.Run("a version that is too old", func(t *testing.T) {
		got := o.run("--os-baremetal-api-version", "1.36", "baremetal", "node", "trait", "list", "n1")
		if got.Code == 0 || !strings.HasPrefix(got.words(), tooOld) || !strings.HasSuffix(got.words(), "Supported version range is 1.1 to 1.78") {
			t.Errorf("ended with %d: %q", got.Code, got.words())
		}
	})
	t.Run("an appliance that is not there", func(t *testing.T) {
		nobody := o.with(environment{"OS_ENDPOINT": "http://" + freeAddress(t)})
		if words := nobody.refused("node", "list"); !strings.Contains(words, "Unable to establish connection to ") {
			t.Errorf("the client says %q", words)
		}
	})
}
