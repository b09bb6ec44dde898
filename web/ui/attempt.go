package ui

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// attemptHistory is how much of a node's history is looked through for what an attempt left in it.
const attemptHistory = 200

// attemptURL is the address of an attempt's page.
func attemptURL(n node.Node, id string) string {
	return nodeURL(n.Label()) + "/attempts/" + url.PathEscape(id)
}

func (p *Pages) attemptPage(c *fiber.Ctx) error {
	frame := p.frame(c, "", "")
	n, id, err := p.attemptNamed(c)
	if err != nil {
		return err
	}
	view, err := p.attemptView(c.UserContext(), n, id, mayAct(c))
	if err != nil {
		return err
	}
	frame.Title = "Inspection of " + n.Label() + " – " + view.Line.Outcome
	frame.Events = "/ui/events?view=attempt&node=" + n.UUID + "&attempt=" + id
	view.Frame = frame
	return render(c, fiber.StatusOK, templates.AttemptPage(view))
}

// attemptNamed is the node that the address names, and the id of an attempt.
func (p *Pages) attemptNamed(c *fiber.Ctx) (node.Node, string, error) {
	id := c.Params("attempt")
	if !node.IsUUID(id) {
		return node.Node{}, "", fiber.NewError(fiber.StatusNotFound, "The address names no inspection.")
	}
	n, err := p.named(c)
	return n, id, err
}

// attemptOf is an attempt of a node; *node.NotFound for another node's.
func (p *Pages) attemptOf(ctx context.Context, n node.Node, id string) (node.Attempt, error) {
	a, err := p.attempt(ctx, id)
	if err == nil && (a == nil || a.NodeUUID != n.UUID) {
		err = &node.NotFound{Text: "There is no such inspection of " + n.Label() + "."}
	}
	if err != nil {
		return node.Attempt{}, err
	}
	return *a, nil
}

// attemptView is everything on an attempt's page.
func (p *Pages) attemptView(ctx context.Context, n node.Node, id string, act bool) (templates.Attempt, error) {
	a, err := p.attemptOf(ctx, n, id)
	if err != nil {
		return templates.Attempt{}, err
	}
	v := templates.Attempt{
		Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n), Line: p.attemptLine(n, a), Sentence: templates.RunSentence(a),
		Ended: !a.EndedAt.IsZero(), Divergence: a.Divergence, Facts: p.attemptFacts(a), Notes: a.Notes,
	}
	if a.Outcome != node.Aborted {
		v.Error = a.Error
	}
	if a.State == node.RunStarting {
		v.Step = a.Step
	}
	latest := a.ID == n.AttemptID
	if latest && n.ProvisionState == node.InspectWait && p.o.InspectTimeout > 0 {
		v.Deadline = p.coming(n.ProvisionUpdatedAt.Add(p.o.InspectTimeout))
	}
	if act && latest {
		if _, err := n.ProvisionState.Next(node.Abort); err == nil && !v.Ended {
			v.Actions = append(v.Actions, verbAction(n, node.Abort, "attempt"))
		}
		if again := reapplyAction(n, a, "attempt"); again.Confirm != "" {
			v.Actions = append(v.Actions, again)
		}
	}
	signs, advice, err := p.o.Conductor.HowFar(ctx, a)
	if err != nil {
		return v, err
	}
	v.Signs = p.timeline(a, signs)
	if !v.Ended || advice != "" {
		v.HowFar = p.lastSign(a, signs, advice)
	}
	if v.Ended || !a.ReportAt.IsZero() {
		if err := p.leftBehind(ctx, n, a, &v); err != nil {
			return v, err
		}
	}
	v.History, err = p.historyOf(ctx, n, id)
	return v, err
}

// leftBehind adds what is kept of an attempt's results: what changed, and its logs.
func (p *Pages) leftBehind(ctx context.Context, n node.Node, a node.Attempt, v *templates.Attempt) (err error) {
	if v.Compared, v.Uncompared, err = p.changesIn(ctx, n, a.ID); err != nil {
		return err
	}
	logged, err := p.o.Store.Logged(ctx, n.UUID)
	if slices.Contains(logged, a.ID) {
		v.Logs = logsURL(n, a.ID)
	}
	return err
}

func (p *Pages) historyOf(ctx context.Context, n node.Node, attempt string) ([]templates.HistoryLine, error) {
	all, err := p.o.Store.History(ctx, n.UUID, node.Page{Descending: true, Limit: attemptHistory})
	if err != nil {
		return nil, err
	}
	var out []templates.HistoryLine
	for _, h := range all {
		if h.AttemptID == attempt {
			out = append(out, p.historyLine(h))
		}
	}
	return out, nil
}

func (p *Pages) attemptFacts(a node.Attempt) []templates.Fact {
	var out []templates.Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, templates.Fact{Name: name, Value: value})
		}
	}
	at := func(name string, t time.Time, value string) {
		if !t.IsZero() {
			out = append(out, templates.Fact{Name: name, At: p.past(t), Value: value})
		}
	}
	at("Started", a.StartedAt, "by "+whoFrom(a.Started))
	add("Interface", a.Interface)
	at("Waited from", a.WaitingAt, "")
	at("Report", a.ReportAt, "")
	at("Ended", a.EndedAt, "by "+whoFrom(a.Ended))
	if !a.EndedAt.IsZero() {
		add("Took", words(a.EndedAt.Sub(a.StartedAt)))
	}
	add("Reason", a.Reason)
	if a.Outcome == node.Aborted {
		add("Error", a.Error)
	}
	add("Proof", templates.ProofText(a.Proof))
	add("Clean-up", templates.CleanUpText(a.CleanUp, a.CleanUpTries, a.CleanUpError, a.KeepPowerOn))
	return out
}

// whoFrom is who did something, through which door and from where.
func whoFrom(a node.Actor) string {
	text := a.Name()
	if a.Source == "" || a.Source == node.SourceSystem {
		return text
	}
	text += " (" + string(a.Source)
	if a.Address != "" {
		text += ", " + a.Address
	}
	return text + ")"
}

// timeline is an attempt's signs of life with its own turns between them.
func (p *Pages) timeline(a node.Attempt, signs []node.Sign) []templates.SignLine {
	type event struct {
		at   time.Time
		line templates.SignLine
	}
	events := []event{{a.StartedAt, templates.SignLine{Words: templates.TextStarted, Detail: "by " + a.Started.Name(), Look: "idle", Icon: "○"}}}
	if !a.WaitingAt.IsZero() {
		events = append(events, event{a.WaitingAt, templates.SignLine{Words: templates.TextWaits, Look: "waiting", Icon: templates.Icon("waiting")}})
	}
	for _, s := range signs {
		l := templates.SignLine{Words: templates.SignWords(s.Kind), Detail: templates.SignDetail(s.Kind, s.Detail), Look: "working", Icon: "●"}
		if s.Times > 1 {
			l.Times, l.LastAt = templates.SignTimes(s.Times), p.past(s.LastAt)
		}
		if s.Kind == node.SignDone {
			l.Look, l.Icon = outcomeLook(a)
		}
		events = append(events, event{s.FirstAt, l})
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	var out []templates.SignLine
	for i, e := range events {
		e.line.At, e.line.Stamp = p.past(e.at), p.shortStamp(e.at)
		if i > 0 {
			if after := e.at.Sub(events[i-1].at); after >= time.Second {
				e.line.After = templates.Later(words(after))
			}
		}
		out = append(out, e.line)
	}
	return out
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
	h := p.lastSign(*a, signs, advice)
	h.Href = attemptURL(n, a.ID)
	return h, nil
}

// lastSign is the sign that came last, the end of the attempt aside.
func (p *Pages) lastSign(a node.Attempt, signs []node.Sign, advice string) templates.HowFar {
	h := templates.HowFar{Last: templates.TextNoSign, Look: "waiting", Advice: advice}
	if a.Outcome == node.TimedOut || a.Outcome == node.Failed {
		h.Look = "failed"
	}
	signs = slices.DeleteFunc(slices.Clone(signs), func(s node.Sign) bool { return s.Kind == node.SignDone })
	if len(signs) == 0 {
		return h
	}
	last := slices.MaxFunc(signs, func(a, b node.Sign) int { return cmp.Or(a.LastAt.Compare(b.LastAt), a.FirstAt.Compare(b.FirstAt)) })
	h.Last, h.Detail, h.At = templates.SignWords(last.Kind), templates.SignDetail(last.Kind, last.Detail), p.past(last.LastAt)
	return h
}
