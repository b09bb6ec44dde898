package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
	inspectbasic "github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/httpbasic"
	inspectnoauth "github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/noauth"
	"golang.org/x/crypto/bcrypt"

	"cagenut/bmc/sim"
	"cagenut/store"
	"cagenut/web"
	"cagenut/web/auth"
)

// TestGophercloud asks everything that gophercloud v2 can ask of a Bare Metal API, through its public functions, of a real
// appliance, once without authentication and once with HTTP basic (contract.md §7.3).
func TestGophercloud(t *testing.T) {
	withGophercloud(t, func(t *testing.T, g *gopher) {
		for _, part := range []struct {
			name string
			test func(*testing.T, *gopher)
		}{
			{"discovers the API", gopherDiscoversTheAPI},
			{"finds the drivers", gopherFindsTheDrivers},
			{"finds the conductor", gopherFindsTheConductor},
			{"finds nothing that is left out", gopherFindsNothingThatIsLeftOut},
			{"sees every kind of error", gopherSeesEveryKindOfError},
			{"signs in", gopherSignsIn},
			{"enrols a node", gopherEnrolsANode},
			{"pages through nodes", gopherPagesThroughNodes},
			{"finds next and nodes_links to lead to the same page", nextAndNodesLinksLeadToTheSamePage},
			{"patches a node", gopherPatchesANode},
			{"deletes a node", gopherDeletesANode},
			{"keeps ports", gopherKeepsPorts},
			{"pages through ports", gopherPagesThroughPorts},
			{"maintains and validates", gopherMaintainsAndValidates},
			{"uses what a BMC has", gopherUsesWhatABMCHas},
			{"is told what a server cannot do", gopherIsToldWhatAServerCannotDo},
			{"carries traits", gopherCarriesTraits},
			{"chooses the boot device", gopherChoosesTheBootDevice},
			{"switches servers on and off", gopherSwitchesServersOnAndOff},
			{"drives the inspector", gopherDrivesTheInspector},
			{"lives through an inspection", gopherLivesThroughAnInspection},
			{"decodes odd inventories", gopherDecodesOddInventories},
		} {
			t.Run(part.name, func(t *testing.T) { part.test(t, g.in(t)) })
		}
	})
}

const (
	gopherUser     = "metal3"
	gopherPassword = "a-password-for-tests"
)

// gopher is an appliance as gophercloud sees it.
type gopher struct {
	*testAppliance
	ironic    *gophercloud.ServiceClient // at 1.96, the ceiling
	inspector *gophercloud.ServiceClient
}

// withGophercloud runs a test against an appliance of each way of signing in.
func withGophercloud(t *testing.T, test func(*testing.T, *gopher), change ...func(*settings)) {
	for _, mode := range []string{auth.None, auth.Basic} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a := serveForTest(t, true, append(change, func(s *settings) { s.Auth = mode })...)
			if mode == auth.Basic {
				hash, err := bcrypt.GenerateFromPassword([]byte(gopherPassword), bcrypt.MinCost) // the API is judged, not the hash
				if err != nil {
					t.Fatal(err)
				}
				if err := a.store.AddUser(t.Context(), store.User{Name: gopherUser, PasswordHash: string(hash), Role: web.RoleOperator}, byCommand("user add", gopherUser)); err != nil {
					t.Fatal(err)
				}
			}
			g := &gopher{testAppliance: a}
			g.ironic = g.signedIn(mode, gopherPassword)
			g.inspector = g.inspectorSignedIn(mode, gopherPassword)
			test(t, g)
		})
	}
}

// in is the same appliance for a subtest.
func (g *gopher) in(t *testing.T) *gopher {
	a, c := *g.testAppliance, *g
	a.t, c.testAppliance = t, &a
	return &c
}

func (g *gopher) signedIn(mode, password string) *gophercloud.ServiceClient {
	g.t.Helper()
	client, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: g.base + "/v1/"})
	if mode == auth.Basic {
		client, err = httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{IronicEndpoint: g.base + "/v1/", IronicUser: gopherUser, IronicUserPassword: password})
	}
	if err != nil {
		g.t.Fatal(err)
	}
	client.Microversion = "1.96"
	return client
}

func (g *gopher) inspectorSignedIn(mode, password string) *gophercloud.ServiceClient {
	g.t.Helper()
	endpoint := "http://" + g.inspectorListener.Addr().String() + "/v1/"
	client, err := inspectnoauth.NewBareMetalIntrospectionNoAuth(inspectnoauth.EndpointOpts{IronicInspectorEndpoint: endpoint})
	if mode == auth.Basic {
		client, err = inspectbasic.NewBareMetalIntrospectionHTTPBasic(inspectbasic.EndpointOpts{
			IronicInspectorEndpoint: endpoint, IronicInspectorUser: gopherUser, IronicInspectorUserPassword: password,
		})
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return client
}

// at is the client with another microversion.
func (g *gopher) at(version string) *gophercloud.ServiceClient {
	c := *g.ironic
	c.Microversion = version
	return &c
}

// servers puts simulated servers in front of the appliance; nobody has enrolled them.
func (g *gopher) servers(o sim.Options) []*sim.Server {
	g.t.Helper()
	o.BootURL, o.Seed, o.RetryDelay = g.base, 7, 500*time.Millisecond
	rack, err := sim.Start(g.t.Context(), o)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := rack.Close(); err != nil {
			g.t.Error(err)
		}
	})
	return rack.Servers()
}

// enrol does for one server what a person does: node, port, manage.
func (g *gopher) enrol(s *sim.Server) *nodes.Node {
	g.t.Helper()
	n := g.create(nodes.CreateOpts{Name: s.Name, Driver: s.Driver, DriverInfo: s.DriverInfo()})
	if _, err := ports.Create(g.t.Context(), g.ironic, ports.CreateOpts{NodeUUID: n.UUID, Address: s.BootMAC}).Extract(); err != nil {
		g.t.Fatal(err)
	}
	g.verb(n.UUID, nodes.TargetManage)
	return g.waitFor(n.UUID, nodes.Manageable)
}

// create makes a node that is gone when the test is over.
func (g *gopher) create(o nodes.CreateOpts) *nodes.Node {
	g.t.Helper()
	n, err := nodes.Create(g.t.Context(), g.ironic, o).Extract()
	if err != nil {
		g.t.Fatalf("create %s: %v", o.Name, err)
	}
	g.t.Cleanup(func() { g.remove(n.UUID) })
	return n
}

func (g *gopher) remove(uuid string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := nodes.SetMaintenance(ctx, g.ironic, uuid, nodes.MaintenanceOpts{}).ExtractErr()
	for err == nil || gophercloud.ResponseCodeIs(err, http.StatusConflict) { // somebody may still hold it
		err = nodes.Delete(ctx, g.ironic, uuid).ExtractErr()
		if err == nil {
			return
		}
	}
	if !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		g.t.Errorf("remove %s: %v", uuid, err)
	}
}

func (g *gopher) node(ident string) *nodes.Node {
	g.t.Helper()
	n, err := nodes.Get(g.t.Context(), g.ironic, ident).Extract()
	if err != nil {
		g.t.Fatalf("get %s: %v", ident, err)
	}
	return n
}

func (g *gopher) verb(ident string, target nodes.TargetProvisionState) {
	g.t.Helper()
	if err := g.tryVerb(ident, target); err != nil {
		g.t.Fatalf("%s %s: %v", target, ident, err)
	}
}

func (g *gopher) tryVerb(ident string, target nodes.TargetProvisionState) error {
	return nodes.ChangeProvisionState(g.t.Context(), g.ironic, ident, nodes.ProvisionStateOpts{Target: target}).ExtractErr()
}

// wait reads a node until it is as it should.
func (g *gopher) wait(ident, what string, ok func(*nodes.Node) bool) *nodes.Node {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		n := g.node(ident)
		if ok(n) {
			tick.Stop()
			return n
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			g.t.Fatalf("%s never came to %s: it is %q, %s → %q, last error %q", ident, what, n.ProvisionState, n.PowerState, n.TargetPowerState, n.LastError)
		}
	}
}

func (g *gopher) waitFor(ident string, state nodes.ProvisionState) *nodes.Node {
	g.t.Helper()
	return g.wait(ident, string(state), func(n *nodes.Node) bool { return n.ProvisionState == string(state) })
}

// read is a document for which gophercloud has no function, through its service client.
func (g *gopher) read(path ...string) (doc map[string]any) {
	g.t.Helper()
	if _, err := g.ironic.Get(g.t.Context(), g.ironic.ServiceURL(path...), &doc, nil); err != nil { //nolint:bodyclose // gophercloud reads and closes it
		g.t.Fatalf("GET %s: %v", strings.Join(path, "/"), err)
	}
	return doc
}

// refusal is what gophercloud makes of an answer that is no success: the status, and the sentence inside the
// double-encoded body (contract.md §1.5).
func refusal(t *testing.T, err error) (status int, sentence string) {
	t.Helper()
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &unexpected) {
		t.Fatalf("this is not an answer of the service: %v", err)
	}
	var outer struct {
		Text string `json:"error_message"`
	}
	if err := json.Unmarshal(unexpected.Body, &outer); err != nil || outer.Text == "" {
		t.Fatalf("%d: the body holds no string error_message: %s", unexpected.Actual, unexpected.Body)
	}
	var inner struct{ Faultstring, Description, Faultcode, Title string }
	if err := json.Unmarshal([]byte(outer.Text), &inner); err != nil {
		t.Fatalf("%d: error_message is no JSON: %s", unexpected.Actual, outer.Text)
	}
	if inner.Faultcode != "Client" && inner.Title == "" {
		t.Errorf("%d: neither family of errors: %s", unexpected.Actual, outer.Text)
	}
	return unexpected.Actual, inner.Faultstring + inner.Description
}

// refused checks one refusal: its status and words that its sentence has.
func refused(t *testing.T, what string, err error, status int, words string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s was accepted", what)
		return
	}
	if got, sentence := refusal(t, err); got != status || !strings.Contains(sentence, words) {
		t.Errorf("%s: %d %q, want %d and %q", what, got, sentence, status, words)
	}
}

// same tells whether two lists hold the same, in any order.
func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
