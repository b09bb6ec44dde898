package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/conductor"
	"cagenut/node"
)

func TestATestOfTheConnectionSaysWhichServerItIsAndLeavesNothingBehind(t *testing.T) {
	for name, o := range map[string]sim.Options{"Redfish": {Servers: 1}, "IPMI": {Servers: 1, IPMI: 1}} {
		t.Run(name, func(t *testing.T) {
			x, s := newEnrolling(t), rackOf(t, o).Servers()[0]
			s.SetPower(node.PowerOn)
			p, err := x.e.ProbeBMC(t.Context(), operator, of(s))
			if err != nil {
				t.Fatal(err)
			}
			if p.Power != node.PowerOn || p.System.Serial == "" || p.System.Manufacturer == "" || p.System.Model == "" || p.BMC.Firmware == "" || !strings.HasPrefix(p.BMC.Protocol, name) {
				t.Errorf("the BMC said %+v", p)
			}
			if len(p.Twins) != 0 {
				t.Errorf("there is nobody, but it is like %+v", p.Twins)
			}
			if all := x.nodes(); len(all) != 0 {
				t.Errorf("a test has made %+v", all)
			}
			for deadline := time.Now().Add(10 * time.Second); s.OpenSessions() != 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d sessions are left open", s.OpenSessions())
				}
			}
		})
	}
}

func TestATestWithAnotherUserThanTheNodesLeavesNoLoginBehind(t *testing.T) {
	x, s := newEnrolling(t), rackOf(t, sim.Options{Servers: 1}).Servers()[0]
	known := of(s)
	known.Node.DriverInfo["redfish_username"] = "somebody-else"
	if _, err := x.e.Enrol(t.Context(), operator, known); err != nil {
		t.Fatal(err)
	}
	if p, err := x.e.ProbeBMC(t.Context(), operator, of(s)); err != nil || len(p.Twins) == 0 {
		t.Fatalf("%+v, %v", p.Twins, err)
	}
	if opened := s.Sessions().Opened; opened != 1 {
		t.Errorf("%d logins were made", opened)
	}
	for deadline := time.Now().Add(10 * time.Second); s.OpenSessions() != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left open, and no node ends them", s.OpenSessions())
		}
	}
}

func TestATestOfTheConnectionSaysWhyABMCDoesNotTakeTheSettings(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome to the printer") }))
	t.Cleanup(page.Close)
	rack := rackOf(t, sim.Options{Servers: 2, IPMI: 1})
	web, bus := rack.Servers()[0], rack.Servers()[1]
	if web.Driver != node.DriverRedfish {
		web, bus = bus, web
	}
	change := func(s *sim.Server, key string, v any) conductor.Enrolment {
		e := of(s)
		e.Node.DriverInfo[key] = v
		return e
	}
	for name, c := range map[string]struct {
		x     conductor.Enrolment
		fault sim.Fault
		want  func(error) bool
		field string
	}{
		"a wrong password of Redfish": {change(web, "redfish_password", "nope"), "", isCredentials, "password"},
		"a wrong password of IPMI":    {change(bus, "ipmi_password", "nope"), "", isCredentials, "password"},
		"a web site that is no BMC":   {change(web, "redfish_address", page.URL), "", trouble(node.TroubleForeign), ""},
		"a BMC that hangs":            {of(web), sim.FaultHang, trouble(node.TroubleSilence), ""},
		"an IPMI BMC that hangs":      {of(bus), sim.FaultHang, trouble(node.TroubleSilence), ""},
		"a port where nobody listens": {change(web, "redfish_address", "http://127.0.0.1:1"), "", trouble(node.TroubleRefused), ""},
		"no address":                  {change(web, "redfish_address", ""), "", isInvalid, "address"},
		"an address that is none":     {change(web, "redfish_address", "http://a b/"), "", isInvalid, "address"},
		"a fingerprint that is none":  {change(web, "redfish_certificate_sha256", "abc"), "", isInvalid, "fingerprint"},
		"a CA file that is not there": {change(web, "redfish_verify_ca", "/no/such/file"), "", isInvalid, "verify"},
		"a port of IPMI that is none": {change(bus, "ipmi_port", "many"), "", isInvalid, "port"},
		"a password that is too long": {change(bus, "ipmi_password", strings.Repeat("x", 21)), "", isInvalid, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newEnrolling(t)
			for _, s := range rack.Servers() {
				s.Heal()
				if c.fault != "" {
					if err := s.SwitchOn(c.fault, sim.Strength{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := x.e.ProbeBMC(ctx, operator, c.x)
			if !c.want(err) || conductor.EnrolField(err) != c.field {
				t.Errorf("field %q: %v", conductor.EnrolField(err), err)
			}
			if err != nil && (strings.Contains(err.Error(), "nope") || strings.Contains(err.Error(), "demo-password")) {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func isCredentials(err error) bool { return errors.Is(err, node.ErrCredentials) }

func isInvalid(err error) bool {
	var invalid *node.Invalid
	return errors.As(err, &invalid)
}

func trouble(kind node.Trouble) func(error) bool {
	return func(err error) bool {
		var u *node.Unreachable
		return errors.As(err, &u) && u.Trouble == kind
	}
}

func TestACertificateThatNobodyTrustsIsOfferedByItsFingerprintAndThenTaken(t *testing.T) {
	x, s := newEnrolling(t), rackOf(t, sim.Options{Servers: 1, TLS: true}).Servers()[0]
	e := of(s)
	delete(e.Node.DriverInfo, "redfish_verify_ca")
	_, err := x.e.ProbeBMC(t.Context(), operator, e)
	c, ok := conductor.Untrusted(err)
	if !ok || len(c.Fingerprint) != 64 || c.NotAfter.IsZero() {
		t.Fatalf("the certificate is %+v: %v", c, err)
	}
	if opened := s.Sessions().Opened; opened != 0 {
		t.Errorf("%d logins went to a BMC that nobody trusts", opened)
	}
	e.Node.DriverInfo["redfish_certificate_sha256"] = c.Fingerprint
	if _, err := x.e.ProbeBMC(t.Context(), operator, e); err != nil {
		t.Errorf("with the fingerprint: %v", err)
	}
	e.Node.DriverInfo["redfish_certificate_sha256"] = strings.Repeat("0", 64)
	_, err = x.e.ProbeBMC(t.Context(), operator, e)
	if !trouble(node.TroublePin)(err) {
		t.Errorf("with another fingerprint: %v", err)
	}
	if _, offered := conductor.Untrusted(err); offered {
		t.Error("a certificate that is not the pinned one is offered to be trusted: somebody may stand in between")
	}
}

func TestNobodyHasTheApplianceAskWhatIsNoBMCsAddress(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		local   bool
	}{
		"where clouds keep secrets":           {"http://169.254.169.254", true},
		"the same, written for IPv6":          {"http://[::ffff:169.254.169.254]", true},
		"this machine, where others reach it": {"http://127.0.0.1:8000", false},
		"this machine by IPv6":                {"http://[::1]:8000", false},
		"a name that leads to this machine":   {"https://bmc.example", false},
		"all hosts":                           {"https://255.255.255.255", true},
		"no host":                             {"https://0.0.0.0", true},
		"a group":                             {"https://224.0.0.1", true},
	} {
		t.Run(name, func(t *testing.T) {
			x := newEnrolling(t, func(n *conductor.EnrollerNeeds) {
				n.LocalTargets = c.local
				n.Resolve = func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("127.0.0.1")}, nil
				}
			})
			_, err := x.e.ProbeBMC(t.Context(), operator, conductor.Enrolment{Node: node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": c.address}}})
			if !isInvalid(err) {
				t.Errorf("asked: %v", err)
			}
		})
	}
}

func TestATestOfTheConnectionWarnsOfNodesThatMayBeTheSameServer(t *testing.T) {
	s := rackOf(t, sim.Options{Servers: 1}).Servers()[0]
	x := newEnrolling(t)
	made, err := x.e.Enrol(t.Context(), operator, of(s))
	if err != nil {
		t.Fatal(err)
	}
	e := of(s)
	e.Node.Name = "another"
	p, err := x.e.ProbeBMC(t.Context(), operator, e)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[conductor.Likeness]string{}
	for _, twin := range p.Twins {
		kinds[twin.Kind] = twin.Name
	}
	if len(kinds) != 2 || kinds[conductor.SameBMC] != made.Node.Name || kinds[conductor.SamePlace] != made.Node.Name {
		t.Errorf("it is like %+v", p.Twins)
	}
	e.MACs = nil
	if _, err := x.e.Enrol(t.Context(), operator, e); err != nil {
		t.Errorf("a warning keeps nobody from enrolling: %v", err)
	}
}
