package ui

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cagenut/node"
	"cagenut/templates"
)

// timeline is an attempt's signs of life with its own turns between them, and when it ends by itself while it waits.
func (p *Pages) timeline(ctx context.Context, a node.Attempt, signs []node.Sign) []templates.SignLine {
	type event struct {
		at   time.Time
		line templates.SignLine
	}
	events := []event{{a.StartedAt, templates.SignLine{Words: templates.T(ctx, "sign.asked"), Detail: templates.T(ctx, "sign.by", whoFrom(a.Started)), Look: "idle", Icon: "○"}}}
	if !a.WaitingAt.IsZero() {
		events = append(events, event{a.WaitingAt, templates.SignLine{Words: templates.T(ctx, "sign.waits"), Look: "waiting", Icon: templates.Icon("waiting")}})
	}
	for _, s := range signs {
		l := templates.SignLine{Words: templates.SignWords(ctx, s.Kind), Detail: templates.SignDetail(ctx, s.Kind, s.Detail), Look: "working", Icon: "●"}
		if s.Times > 1 {
			l.Times, l.LastAt = templates.N(ctx, "sign.times", s.Times), p.past(s.LastAt)
		}
		if s.Kind == node.SignDone {
			l.Look, l.Icon = outcomeLook(a)
			if a.Outcome == node.Aborted {
				l.Words, l.Detail = templates.T(ctx, "sign.aborted"), templates.T(ctx, "sign.by", whoFrom(a.Ended))
			}
		}
		events = append(events, event{s.FirstAt, l})
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	var out []templates.SignLine
	for i, e := range events {
		e.line.At, e.line.Stamp = p.past(e.at), p.shortStamp(e.at)
		if i > 0 {
			if after := e.at.Sub(events[i-1].at); after >= time.Second {
				e.line.After = templates.T(ctx, "sign.later", words(after))
			}
		}
		out = append(out, e.line)
	}
	if a.State == node.RunWaiting && p.o.InspectTimeout > 0 && !a.WaitingAt.IsZero() {
		ends := a.WaitingAt.Add(p.o.InspectTimeout)
		out = append(out, templates.SignLine{Words: templates.T(ctx, "sign.timeout"), Look: "idle", Icon: "○", At: p.coming(ends), Stamp: p.shortStamp(ends)})
	}
	return out
}

// lastSign is the sign that came last, the end of the attempt aside.
func (p *Pages) lastSign(ctx context.Context, a node.Attempt, signs []node.Sign, advice string) templates.HowFar {
	h := templates.HowFar{Last: templates.T(ctx, "sign.none"), Look: "waiting", Advice: advice}
	if a.Outcome == node.TimedOut || a.Outcome == node.Failed {
		h.Look = "failed"
	}
	signs = slices.DeleteFunc(slices.Clone(signs), func(s node.Sign) bool { return s.Kind == node.SignDone })
	if len(signs) == 0 {
		return h
	}
	last := slices.MaxFunc(signs, func(a, b node.Sign) int { return cmp.Or(a.LastAt.Compare(b.LastAt), a.FirstAt.Compare(b.FirstAt)) })
	h.Last, h.Detail, h.At = templates.SignWords(ctx, last.Kind), templates.SignDetail(ctx, last.Kind, last.Detail), p.past(last.LastAt)
	return h
}

// howFar is how far the inspection came that runs on a node; nothing where none does.
func (p *Pages) howFar(ctx context.Context, n node.Node) (templates.HowFar, error) {
	if n.AttemptID == "" || (n.ProvisionState != node.InspectWait && n.ProvisionState != node.Inspecting) {
		return templates.HowFar{}, nil
	}
	a, err := p.attempt(ctx, n.AttemptID)
	if err != nil || a == nil {
		return templates.HowFar{}, err
	}
	signs, advice, err := p.o.Conductor.HowFar(ctx, *a)
	if err != nil {
		return templates.HowFar{}, err
	}
	h := p.lastSign(ctx, *a, signs, advice)
	h.Href = attemptURL(n, a.ID)
	return h, nil
}
