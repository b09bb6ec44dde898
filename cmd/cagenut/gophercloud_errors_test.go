package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/v1/introspection"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"cagenut/node"
	"cagenut/web/auth"
)

// The errors as a program sees them: gophercloud keeps the body as it came, so the double encoding is what it reads
// (contract.md §1.4, §1.5).
func gopherSeesEveryKindOfError(t *testing.T, g *gopher) {
	n := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "fake-hardware"})
	provision := func(version string, target nodes.TargetProvisionState) error {
		return nodes.ChangeProvisionState(t.Context(), g.at(version), n.UUID, nodes.ProvisionStateOpts{Target: target}).ExtractErr()
	}
	for what, c := range map[string]struct {
		err    error
		status int
		words  string
	}{
		"a node that is not there":            {nodes.Get(t.Context(), g.ironic, "nobody").Err, 404, "Node nobody could not be found."},
		"a path that is not there":            {read(t, g.ironic, "nosuch"), 404, ""},
		"a verb in the wrong state":           {provision("1.96", nodes.TargetAbort), 400, `The requested action "abort" can not be performed on node "` + n.UUID + `" while it is in state "enroll".`},
		"an abort at 1.40 in the wrong state": {provision("1.40", nodes.TargetAbort), 400, "can not be performed"},
		"an abort at 1.12":                    {provision("1.12", nodes.TargetAbort), 406, "Request not acceptable."},
		"a query that is not there":           {read(t, g.ironic, "nodes?bogus=1"), 400, "Unexpected arguments: bogus"},
		"a name that is taken":                {nodes.Create(t.Context(), g.ironic, nodes.CreateOpts{Name: n.Name, Driver: "fake-hardware"}).Err, 409, "already exists"},
		"a version beyond the ceiling":        {nodes.Get(t.Context(), g.at("1.97"), n.UUID).Err, 406, "Version 1.97 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		"another major version":               {nodes.Get(t.Context(), g.at("2.1"), n.UUID).Err, 406, "Mutually exclusive versions requested. Version 2.1 requested but not supported by this service. The supported version range is: [1.1, 1.96]."},
		"a version that is none":              {nodes.Get(t.Context(), g.at("foo"), n.UUID).Err, 406, "Invalid value for X-OpenStack-Ironic-API-Version header"},
		"names at 1.4":                        {nodes.Get(t.Context(), g.at("1.4"), n.Name).Err, 404, "Node r1-u01 could not be found."},
		"a method that is not there": {func() error {
			_, err := g.ironic.Delete(t.Context(), g.ironic.ServiceURL("nodes", n.UUID, "states"), nil) //nolint:bodyclose // gophercloud closes it
			return err
		}(), 405, ""},
	} {
		refused(t, what, c.err, c.status, c.words)
	}
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if err := nodes.Get(t.Context(), g.at("1.97"), n.UUID).Err; !errors.As(err, &unexpected) ||
		unexpected.ResponseHeader.Get("X-OpenStack-Ironic-API-Maximum-Version") != "1.96" || unexpected.ResponseHeader.Get("X-OpenStack-Ironic-API-Minimum-Version") != "1.1" {
		t.Errorf("what is needed to negotiate is missing: %v", unexpected.ResponseHeader)
	}
	for _, version := range []string{"latest", "LATEST", "1.41"} {
		r := nodes.Get(t.Context(), g.at(version), n.UUID)
		want := strings.Replace(strings.ToLower(version), "latest", "1.96", 1)
		if got := r.Header.Get("X-OpenStack-Ironic-API-Version"); r.Err != nil || got != want {
			t.Errorf("%s is echoed as %q, %v", version, got, r.Err)
		}
	}
}

func read(t *testing.T, c *gophercloud.ServiceClient, path string) error {
	t.Helper()
	_, err := c.Get(t.Context(), c.ServiceURL(path), &map[string]any{}, nil) //nolint:bodyclose // gophercloud reads and closes it
	return err
}

// A node that a worker holds is 409 for everybody who wants to change it; reading goes on (contract.md §2.4).
func TestGophercloudFindsAHeldNodeBusy(t *testing.T) {
	withGophercloud(t, func(t *testing.T, g *gopher) {
		g.conductor.LockPatience = 0
		n, at := g.nodeIn(node.InspectWait, "agent")
		if _, err := g.store.Move(t.Context(), node.Move{Node: n.UUID, From: node.InspectWait, Attempt: at.ID, Hold: "somebody", Host: "rack-7", At: g.conductor.Clock.Now()}); err != nil {
			t.Fatal(err)
		}
		busy := "Node " + n.UUID + " is locked by host rack-7, please retry after the current operation is completed."
		refused(t, "an abort", g.tryVerb(n.UUID, nodes.TargetAbort), 409, busy)
		refused(t, "a power request", nodes.ChangePowerState(t.Context(), g.ironic, n.UUID, nodes.PowerStateOpts{Target: nodes.PowerOff}).ExtractErr(), 409, busy)
		refused(t, "a patch", nodes.Update(t.Context(), g.ironic, n.UUID, nodes.UpdateOpts{nodes.UpdateOperation{Op: nodes.AddOp, Path: "/extra/x", Value: 1}}).Err, 409, busy)
		refused(t, "a delete", nodes.Delete(t.Context(), g.ironic, n.UUID).ExtractErr(), 409, busy)
		refused(t, "a boot device", nodes.SetBootDevice(t.Context(), g.ironic, n.UUID, nodes.BootDeviceOpts{BootDevice: "pxe"}).ExtractErr(), 409, busy)
		if got := g.node(n.UUID); got.Reservation != "rack-7" || got.ProvisionState != string(nodes.InspectWait) {
			t.Errorf("the node is %q, held by %q", got.ProvisionState, got.Reservation)
		}
		if _, err := nodes.Validate(t.Context(), g.ironic, n.UUID).Extract(); err != nil {
			t.Errorf("validate: %v", err)
		}
	})
}

// HTTP basic: what needs a password, what does not, and what a wrong one gets (contract.md §7.1).
func gopherSignsIn(t *testing.T, g *gopher) {
	stranger, wrong := g.signedIn(auth.None, ""), g.signedIn(auth.Basic, "a-wrong-password")
	if g.settings.Auth == auth.None {
		for _, c := range []*gophercloud.ServiceClient{stranger, wrong} {
			if _, err := nodes.List(c, nodes.ListOpts{}).AllPages(t.Context()); err != nil {
				t.Errorf("where nobody signs in: %v", err)
			}
		}
		return
	}
	n := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "fake-hardware"})
	for client, words := range map[*gophercloud.ServiceClient]string{
		stranger: `{"error":{"message":"Authorization required","code":401}}`, wrong: `{"error":{"message":"Incorrect username or password","code":401}}`,
	} {
		_, listed := nodes.List(client, nodes.ListOpts{}).AllPages(t.Context())
		for what, err := range map[string]error{
			"a list": listed, "a node": nodes.Get(t.Context(), client, n.UUID).Err, "the drivers": drivers.GetDriverDetails(t.Context(), client, "redfish").Err,
			"a delete": nodes.Delete(t.Context(), client, n.UUID).ExtractErr(),
		} {
			unauthorized(t, what, err, words)
		}
		if supported, err := utils.GetSupportedMicroversions(t.Context(), client); err != nil || supported.MaxMinor != 96 {
			t.Errorf("discovery asks for a password: %v", err)
		}
	}
	for client, words := range map[*gophercloud.ServiceClient]string{
		g.inspectorSignedIn(auth.None, ""): "Authorization required", g.inspectorSignedIn(auth.Basic, "a-wrong-password"): "Incorrect username or password",
	} {
		unauthorized(t, "an introspection", introspection.GetIntrospectionStatus(t.Context(), client, n.UUID).Err, words)
		if words != "Authorization required" {
			continue // that was the fifth wrong password: from now on each has to wait (docs/sign-in.md)
		}
		unauthorized(t, "the start of one", introspection.StartIntrospection(t.Context(), client, n.UUID, introspection.StartOpts{}).ExtractErr(), words)
		unauthorized(t, "the abort of one", introspection.AbortIntrospection(t.Context(), client, n.UUID).ExtractErr(), words)
	}
	token := g.signedIn(auth.None, "")
	token.MoreHeaders = map[string]string{"Authorization": "Bearer x"}
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if err := nodes.Get(t.Context(), token, n.UUID).Err; !errors.As(err, &unexpected) || unexpected.Actual != http.StatusBadRequest || string(unexpected.Body) != `{"error":{"message":"Unsupported authorization type \"Bearer\"","code":400}}` {
		t.Errorf("another scheme: %v", err)
	}
	if got := g.node(n.UUID); got.Name != n.Name {
		t.Errorf("a stranger changed the node: %+v", got)
	}
}

func unauthorized(t *testing.T, what string, err error, words string) {
	t.Helper()
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &unexpected) || unexpected.Actual != http.StatusUnauthorized || !strings.Contains(string(unexpected.Body), words) ||
		unexpected.ResponseHeader.Get("WWW-Authenticate") != `Basic realm="Baremetal API"` {
		t.Errorf("%s: %v", what, err)
	}
}
