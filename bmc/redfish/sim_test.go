package redfish_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// odditySim is a simulated BMC with one oddity, and a client of it.
func odditySim(t *testing.T, f sim.Fault) (*sim.Server, bmc.Abilities) {
	t.Helper()
	s := startServer(t, sim.Options{Seed: 7})
	if f != "" {
		if err := s.SwitchOn(f, sim.Strength{Delay: 80 * time.Millisecond}); err != nil {
			if err := s.SwitchOn(f, sim.Strength{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, abilities(t, open(t, newDriver(t, patient()), nodeOf(s)))
}

func TestOdditiesHideNothing(t *testing.T) { // quirks 18 to 22, 33, 38 to 50, 53 to 55
	_, healthy := odditySim(t, "")
	want, err := healthy.Hardware(t.Context())
	if err != nil || len(want.NICs) == 0 || len(want.Drives) == 0 || want.MemoryMiB == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	for _, f := range []sim.Fault{
		sim.FaultNoSessions, sim.FaultNoBasic, sim.FaultSessionExpiry, sim.FaultNoKeepAlive, sim.FaultNoParallel, sim.FaultTwoDocuments,
		sim.FaultExpandNulls, sim.FaultETagRequired, sim.FaultETagSuffix, sim.FaultETagWeak, sim.FaultNoIdentity, sim.FaultTextNumbers, sim.FaultMissingLinks,
		sim.FaultNoVendor, sim.FaultChassisOn, sim.FaultPowerUnknown, sim.FaultSeveralSystems, sim.FaultEmptyMACs, sim.FaultPermanentMACOnly,
		sim.FaultUnknownSummaries, sim.FaultSummariesCountGPU, sim.FaultParentFirst,
	} {
		t.Run(string(f), func(t *testing.T) {
			_, c := odditySim(t, f)
			if h, err := c.Hardware(t.Context()); err != nil || !reflect.DeepEqual(h, want) {
				t.Errorf("%+v, %v\nwant %+v", h, err, want)
			}
			if r, err := c.Health(t.Context()); err != nil || r.Overall != node.HealthOK {
				t.Errorf("health %+v, %v", r, err)
			}
		})
	}
}

func TestMediaGoInAndOutWhateverTheBMCsWays(t *testing.T) { // quirks 18 to 30, 37, 41; G35
	for _, f := range []sim.Fault{
		"", sim.FaultMediaPatch, sim.FaultMediaImageOnly, sim.FaultMediaFullBody, sim.FaultMediaTransfer, sim.FaultMediaCredentials, sim.FaultEjectEmpty, sim.FaultEjectBody,
		sim.FaultMediaStale, sim.FaultMediaConsole, sim.FaultMediaDVDOnly, sim.FaultMediaNoTypes, sim.FaultMediaAtSystem, sim.FaultMediaBoth, sim.FaultMediaImageStays,
		sim.FaultMediaTask, sim.FaultETagRequired, sim.FaultETagSuffix, sim.FaultETagWeak, sim.FaultETagOnAction, sim.FaultNoKeepAlive, sim.FaultTextNumbers,
	} {
		t.Run("BMC "+string(f), func(t *testing.T) {
			s, c := odditySim(t, f)
			for _, step := range []struct {
				name string
				do   func(context.Context) error
				in   int
			}{
				{"eject of empty drives", func(ctx context.Context) error { return c.Eject(ctx, "") }, 0},
				{"insert", func(ctx context.Context) error {
					return putIn(ctx, c, node.Medium{Kind: node.MediumCD, URL: "http://192.0.2.9/a.iso"})
				}, 1},
				{"insert again", func(ctx context.Context) error {
					return putIn(ctx, c, node.Medium{Kind: node.MediumCD, URL: "http://192.0.2.9/a.iso"})
				}, 1},
				{"insert another", func(ctx context.Context) error {
					return putIn(ctx, c, node.Medium{Kind: node.MediumCD, URL: "http://192.0.2.9/b.iso"})
				}, 1},
				{"eject", func(ctx context.Context) error { return c.Eject(ctx, node.MediumCD) }, 0},
			} {
				if err := step.do(t.Context()); err != nil || len(s.Media()) != step.in {
					t.Fatalf("%s: %v, in the drives %v", step.name, err, s.Media())
				}
			}
			for _, to := range []node.Indicator{node.IndicatorOn, node.IndicatorOff} {
				if err := c.SetIndicator(t.Context(), to); err != nil || s.Indicator() != to {
					t.Errorf("light %s: %v, it is %s", to, err, s.Indicator())
				}
			}
			if err := c.InjectNMI(t.Context()); err == nil || s.Interrupts() != 0 {
				t.Errorf("an NMI to a server that is off: %v, %d arrived", err, s.Interrupts())
			}
			if err := c.ClearLog(t.Context()); err != nil {
				t.Errorf("clearing the log: %v", err)
			}
		})
	}
}
