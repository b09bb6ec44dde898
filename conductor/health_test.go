package conductor_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

// glancing is a BMC that tells the health with the power, and more of it to those who ask.
type glancing struct {
	*testBMC
	conductor.Abilities // of which nothing but Health is asked for
	seen                node.Glance
	report              node.HealthReport
}

func (g *glancing) Glance(ctx context.Context) (node.Glance, error) {
	power, err := g.Power(ctx)
	seen := g.seen
	seen.Power = power
	return seen, err
}

func (g *glancing) Health(context.Context) (node.HealthReport, error) { return g.report, nil }

// glances lets a rack have one BMC that is a [glancing].
type glances struct {
	*rack
	g *glancing
}

func (r glances) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return r.rack.Do(ctx, n, func(conductor.BMC) error { return fn(r.g) })
}

func (r glances) Look(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return r.Do(ctx, n, fn)
}

func TestHealthIsKnownFromLooksAndFromAnswersAndOnlyChangesAreTold(t *testing.T) {
	type step struct {
		look   node.Glance // seen by two looks; "" for none
		answer node.HealthReport
		is     node.Health
	}
	look := func(h node.Health, why string, is node.Health) step {
		return step{look: node.Glance{Health: h, Why: why}, is: is}
	}
	answer := func(h node.Health, is node.Health, parts ...node.PartHealth) step {
		return step{answer: node.HealthReport{Overall: h, Parts: parts}, is: is}
	}
	psu := node.PartHealth{Part: "PSU 2", Health: node.HealthCritical, Message: "no input"}
	for name, tc := range map[string]struct {
		steps []step
		want  []string
	}{
		"one that is well from the first look": {[]step{look("OK", "", "OK"), look("OK", "", "OK")}, nil},
		"worse, worse still, and well again": {
			[]step{look("OK", "", "OK"), look("Warning", "the chassis is open", "Warning"), look("Critical", "", "Critical"), look("OK", "", "OK")},
			[]string{
				"INFO health Health changed from 'OK' to 'Warning': the chassis is open.", "ERROR health Health changed from 'Warning' to 'Critical'.",
				"INFO health Health is 'OK' again, after 'Critical'.",
			},
		},
		"ill at the first look": {[]step{look("Critical", "drive fault.", "Critical")}, []string{"ERROR health Health is 'Critical': drive fault."}},
		"a BMC that says nothing takes nothing back": {
			[]step{look("Warning", "", "Warning"), look("", "", "Warning")}, []string{"INFO health Health is 'Warning'."},
		},
		"an answer tells more than looks see, and stands": {
			[]step{look("OK", "", "OK"), answer("Critical", "Critical", psu), look("OK", "", "Critical"), answer("OK", "OK")},
			[]string{"ERROR health Health changed from 'OK' to 'Critical': PSU 2: no input.", "INFO health Health is 'OK' again, after 'Critical'."},
		},
		"until looks see another thing than before": {
			[]step{look("Warning", "", "Warning"), answer("Critical", "Critical"), look("OK", "", "OK")},
			[]string{"INFO health Health is 'Warning'.", "ERROR health Health changed from 'Warning' to 'Critical'.", "INFO health Health is 'OK' again, after 'Critical'."},
		},
		"an answer before the first look": {
			[]step{answer("Warning", "Warning", node.PartHealth{Part: "Inlet"}), look("OK", "", "Warning"), look("Critical", "", "Critical")},
			[]string{"INFO health Health is 'Warning': Inlet.", "ERROR health Health changed from 'Warning' to 'Critical'."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
			n := w.enrolled(node.Manageable, "agent")
			g := &glancing{testBMC: w.rack.of(n.UUID)}
			w.Conductor.BMCs = glances{w.rack, g}
			for i, s := range tc.steps {
				if s.look == (node.Glance{}) && s.answer.Overall != "" {
					g.report = s.answer
					if got, err := w.Health(t.Context(), n.UUID); err != nil || got.Overall != s.answer.Overall {
						t.Fatalf("%+v, %v", got, err)
					}
				} else {
					g.seen = s.look
					w.rounds(func(tick func(time.Duration)) { w.untilLooked(tick, g.testBMC, 2) })
				}
				if now := w.node(n); now.Health != s.is || now.HealthAt.IsZero() || now.LastError != "" || now.Version != n.Version {
					t.Errorf("step %d: health %q since %s, last error %q", i+1, now.Health, now.HealthAt, now.LastError)
				}
			}
			if diff := cmp.Diff(tc.want, events(w.history(n))); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}
