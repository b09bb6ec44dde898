package bmc_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// impatient is a pool whose drivers soon say that a BMC does not answer.
func impatient(t *testing.T) *bmc.Pool {
	t.Helper()
	p := bmc.NewPool(map[string]bmc.Driver{
		node.DriverRedfish: redfish.New(redfish.Options{Try: time.Second, Reads: 2, Pause: time.Millisecond, BusyPause: time.Millisecond, BusyTries: 2}),
		node.DriverIPMI:    ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{{Timeout: time.Second}}, BusyPause: time.Millisecond, BusyTries: 2}),
	}, bmc.PoolOptions{})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.Close(ctx) // BMCs that a test has broken take no logout
	})
	return p
}

func readPower(t *testing.T, ask asks, n node.Node) (asked bool, err error) {
	t.Helper()
	err = ask(t.Context(), n, func(c bmc.Client) error {
		asked = true
		_, err := c.Power(t.Context())
		return err
	})
	return asked, err
}

func TestWhichTroubleOfARealConversationCounts(t *testing.T) { // G36, G37, over the wire
	rack, err := sim.Start(t.Context(), sim.Options{Servers: 2, IPMI: 1, TLS: true, CAFile: filepath.Join(t.TempDir(), "ca.pem")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rack.Close() }()
	for fault, counts := range map[sim.Fault]bool{
		sim.FaultHang: true, sim.FaultRefuse: true, sim.FaultWrongPassword: true, sim.FaultBusy: false,
		sim.FaultDrop: true, sim.FaultCertificateSelfSigned: true, sim.FaultOldTLS: true, sim.FaultPlainHTTP: true, sim.FaultHTML: false,
	} {
		for _, s := range rack.Servers() {
			if s.SwitchOn(fault, sim.Strength{}) != nil {
				continue // this one's protocol has no such fault
			}
			p, n := impatient(t), nodeOf(s)
			if _, err := readPower(t, p.Do, n); err == nil {
				t.Errorf("%s, %s: no error", s.Driver, fault)
			}
			_, err := readPower(t, p.Do, n)
			if s := p.Standing(n); (s.Failures == 2) != counts || s.NextLook.IsZero() == counts {
				t.Errorf("%s, %s: %+v after %v", n.Driver, fault, s, err)
			}
			if asked, err := readPower(t, p.Look, n); asked == counts || err == nil {
				t.Errorf("%s, %s: a look asked: %v, %v", n.Driver, fault, asked, err)
			}
			s.Heal()
			if _, err := readPower(t, p.Do, n); err != nil || p.Standing(n) != (bmc.Standing{}) {
				t.Errorf("%s, %s: healed, %v, %+v", n.Driver, fault, err, p.Standing(n))
			}
		}
	}
}

func TestACorrectedPasswordIsTriedAtOnce(t *testing.T) { // over the wire
	rack, err := sim.Start(t.Context(), sim.Options{Servers: 2, IPMI: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rack.Close() }()
	p := impatient(t)
	for _, s := range rack.Servers() {
		right := nodeOf(s)
		wrong := with(right, s.Driver+"_password", "wrong")
		for range 3 {
			if _, err := readPower(t, p.Look, wrong); err == nil {
				t.Errorf("%s: let in with a wrong password", s.Driver)
			}
		}
		if failures := p.Standing(wrong).Failures; failures != 2 {
			t.Errorf("%s: %d logins of 3 looks", s.Driver, failures)
		}
		if asked, err := readPower(t, p.Look, right); !asked || err != nil {
			t.Errorf("%s: asked %v, %v", s.Driver, asked, err)
		}
	}
}
