package ui

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

func (p *Pages) health(ctx context.Context, a asked) (told, error) {
	report, err := p.o.Conductor.Health(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	h := templates.Health{Overall: healthOf(ctx, report.Overall), Sentence: templates.HealthSentence(ctx, report.Overall, len(report.Parts))}
	for _, part := range report.Parts {
		h.Parts = append(h.Parts, templates.PartHealth{State: healthOf(ctx, part.Health), Part: part.Part, Message: part.Message})
	}
	return told{body: templates.HealthOf(h)}, nil
}

// healthOf is a health as a chip.
func healthOf(ctx context.Context, h node.Health) templates.State {
	look, icon := templates.HealthLook(h)
	return templates.State{Name: templates.HealthWord(ctx, h), Look: look, Icon: icon}
}

func (p *Pages) sensors(ctx context.Context, a asked) (told, error) {
	all, err := p.o.Conductor.Sensors(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	return told{body: templates.SensorsOf(sensorsView(ctx, all))}, nil
}

// sensorKinds is the order of the groups; kinds that are not named here follow.
var sensorKinds = []node.SensorKind{node.SensorTemperature, node.SensorFan, node.SensorPower, node.SensorVoltage, node.SensorCurrent}

// sensorsView groups readings by kind. What is out of its limits comes first: its group, and within that its line, the
// worst at the top.
func sensorsView(ctx context.Context, all []node.Sensor) templates.Sensors {
	type group struct {
		label string
		order int
		worst int
		found []judged
	}
	byKind := map[string]*group{}
	var groups []*group
	worst, out := node.HealthOK, 0
	for _, s := range all {
		j := judge(s)
		label := templates.SensorKindLabel(ctx, s.Kind)
		g := byKind[label]
		if g == nil {
			g = &group{label: label, order: slices.Index(sensorKinds, s.Kind)}
			if g.order < 0 {
				g.order = len(sensorKinds)
			}
			byKind[label], groups = g, append(groups, g)
		}
		g.found = append(g.found, j)
		g.worst = max(g.worst, j.rank())
		if j.rank() > 0 {
			worst, out = worst.Worse(j.health), out+1
		}
	}
	slices.SortStableFunc(groups, func(x, y *group) int {
		return cmp.Or(cmp.Compare(y.worst, x.worst), cmp.Compare(x.order, y.order), cmp.Compare(x.label, y.label))
	})
	view := templates.Sensors{Summary: healthOf(ctx, worst)}
	view.Summary.Name = templates.SensorsWord(ctx, out, len(all))
	for _, g := range groups {
		slices.SortStableFunc(g.found, func(x, y judged) int { return cmp.Compare(y.rank(), x.rank()) })
		lines := templates.SensorGroup{Label: g.label}
		for _, j := range g.found {
			lines.Lines = append(lines.Lines, j.line(ctx))
		}
		view.Groups = append(view.Groups, lines)
	}
	return view
}

// judged is a sensor with what is wrong about it.
type judged struct {
	node.Sensor
	health node.Health // the worse of what the BMC says and what the limits say
	limit  *float64    // that it is beyond; nil for none
	above  bool
}

func judge(s node.Sensor) judged {
	j := judged{Sensor: s, health: s.Health}
	if s.Reading == nil {
		return j
	}
	for _, l := range []struct {
		limit  *float64
		above  bool
		health node.Health
	}{
		{s.UpperCritical, true, node.HealthCritical}, {s.LowerCritical, false, node.HealthCritical},
		{s.UpperWarning, true, node.HealthWarning}, {s.LowerWarning, false, node.HealthWarning},
	} {
		if l.limit != nil && ((l.above && *s.Reading > *l.limit) || (!l.above && *s.Reading < *l.limit)) {
			j.health, j.limit, j.above = s.Health.Worse(l.health), l.limit, l.above
			break
		}
	}
	return j
}

func (j judged) rank() int {
	switch j.health {
	case node.HealthCritical:
		return 2
	case node.HealthWarning:
		return 1
	}
	return 0
}

func (j judged) line(ctx context.Context) templates.SensorLine {
	l := templates.SensorLine{Sensor: j.Name, Reading: templates.T(ctx, "sensors.noreading"), OutOfLimits: j.rank() > 0}
	switch {
	case j.Reading != nil:
		l.Reading = number(*j.Reading, j.Unit)
	case j.State != "":
		l.Reading = j.State
	}
	if j.health != "" {
		l.State = healthOf(ctx, j.health)
	}
	if j.limit != nil {
		l.State.Name = templates.Beyond(ctx, l.State.Name, number(*j.limit, j.Unit), j.above)
	}
	var limits []string
	for _, pair := range []struct {
		which     string
		low, high *float64
	}{{"warning", j.LowerWarning, j.UpperWarning}, {"critical", j.LowerCritical, j.UpperCritical}} {
		if pair.low != nil || pair.high != nil {
			limits = append(limits, templates.Limits(ctx, pair.which, limit(pair.low, j.Unit), limit(pair.high, j.Unit)))
		}
	}
	l.Limits = strings.Join(limits, " · ")
	return l
}

func limit(v *float64, unit string) string {
	if v == nil {
		return ""
	}
	return number(*v, unit)
}

// number is a reading as people write it: at most three digits behind the point, and the unit's sign on the same line.
func number(v float64, unit string) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		s = "0"
	}
	switch unit {
	case "":
		return s
	case "Cel":
		unit = "°C"
	}
	return s + "\u00a0" + unit
}
