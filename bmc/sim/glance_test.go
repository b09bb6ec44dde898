package sim_test

import (
	"slices"
	"testing"

	"cagenut/bmc"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// asked is what a BMC was asked by something, in order.
func asked(t *testing.T, s *sim.Server, something func() error) (all []string) {
	t.Helper()
	s.ForgetRequests()
	if err := something(); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Requests() {
		all = append(all, r.String())
	}
	return all
}

func TestAGlanceTellsTheHealthForNoRequestMoreThanThePower(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers() {
		t.Run(s.Driver, func(t *testing.T) {
			c := client(t, s)
			g, ok := c.(bmc.Glancer)
			if !ok {
				t.Fatal("the client cannot glance")
			}
			power := func() error { _, err := c.(bmc.Client).Power(t.Context()); return err }
			var seen node.Glance
			glance := func() (err error) { seen, err = g.Glance(t.Context()); return err }
			asked(t, s, power) // logs in
			before, now := asked(t, s, power), asked(t, s, glance)
			if !slices.Equal(before, now) || len(now) == 0 {
				t.Errorf("the power took %q, a glance takes %q", before, now)
			}
			if seen != (node.Glance{Power: node.PowerOff, Health: node.HealthOK}) {
				t.Errorf("of a server that is well: %+v", seen)
			}
			s.SetPower(node.PowerOn)
			fault := map[string]sim.Fault{node.DriverRedfish: sim.FaultFailedPSU, node.DriverIPMI: sim.FaultChassisFan}[s.Driver]
			switchOn(t, s, fault, sim.Strength{})
			if got := asked(t, s, glance); !slices.Equal(before, got) {
				t.Errorf("of a server that is not well it takes %q", got)
			}
			if seen.Power != node.PowerOn || seen.Health != node.HealthCritical {
				t.Errorf("of a server that is not well: %+v", seen)
			}
		})
	}
}
