package ui

import (
	"context"
	"net/url"
	"slices"
	"strings"
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
	frame.Title = templates.T(c.UserContext(), "attempt.titleof", n.Label(), view.Line.Outcome)
	frame.Events = "/ui/events?view=attempt&node=" + n.UUID + "&attempt=" + id
	view.Frame = frame
	return render(c, fiber.StatusOK, templates.AttemptPage(view))
}

// attemptNamed is the node that the address names, and the id of an attempt.
func (p *Pages) attemptNamed(c *fiber.Ctx) (node.Node, string, error) {
	id := c.Params("attempt")
	if !node.IsUUID(id) {
		return node.Node{}, "", fiber.NewError(fiber.StatusNotFound, templates.T(c.UserContext(), "attempt.none"))
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
		Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n), Line: p.attemptLine(ctx, n, a), Sentence: templates.RunSentence(ctx, a),
		Ended: !a.EndedAt.IsZero(), Divergence: a.Divergence, Facts: p.attemptFacts(ctx, a), Notes: a.Notes,
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
			v.Actions = append(v.Actions, verbAction(ctx, n, node.Abort, "attempt"))
		}
		if again := reapplyAction(ctx, n, a, "attempt"); again.Confirm != "" {
			v.Actions = append(v.Actions, again)
		}
	}
	signs, advice, err := p.o.Conductor.HowFar(ctx, a)
	if err != nil {
		return v, err
	}
	v.Signs = p.timeline(ctx, a, signs)
	if !v.Ended || advice != "" {
		v.HowFar = p.lastSign(ctx, a, signs, advice)
	}
	v.Hints = p.hintsFor(ctx, diagnosis{node: n, attempt: &a, signs: signs, past: !latest}, act, "attempt")
	if v.Ended || !a.ReportAt.IsZero() {
		if err := p.leftBehind(ctx, n, a, &v); err != nil {
			return v, err
		}
	}
	v.History, err = p.historyOf(ctx, n, id)
	v.Request = requestOf(v.History, a.LastError)
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
			out = append(out, p.historyLine(ctx, h))
		}
	}
	return out, nil
}

func (p *Pages) attemptFacts(ctx context.Context, a node.Attempt) []templates.Fact {
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
	at(templates.T(ctx, "attempt.fact.started"), a.StartedAt, templates.T(ctx, "attempt.by", whoFrom(a.Started)))
	add(templates.T(ctx, "attempt.fact.interface"), a.Interface)
	at(templates.T(ctx, "attempt.fact.waited"), a.WaitingAt, "")
	at(templates.T(ctx, "attempt.fact.report"), a.ReportAt, "")
	at(templates.T(ctx, "attempt.fact.ended"), a.EndedAt, templates.T(ctx, "attempt.by", whoFrom(a.Ended)))
	if !a.EndedAt.IsZero() {
		add(templates.T(ctx, "attempt.fact.took"), words(a.EndedAt.Sub(a.StartedAt)))
	}
	add(templates.T(ctx, "attempt.fact.reason"), a.Reason)
	if a.Outcome == node.Aborted {
		add(templates.T(ctx, "attempt.fact.error"), a.Error)
	}
	add(templates.T(ctx, "attempt.fact.proof"), templates.ProofText(ctx, a.Proof))
	add(templates.T(ctx, "attempt.fact.cleanup"), templates.CleanUpText(ctx, a.CleanUp, a.CleanUpTries, a.CleanUpError, a.KeepPowerOn))
	return out
}

// whoFrom is who did something, through which door and from where.
func whoFrom(a node.Actor) string {
	var how []string
	if a.User != "" && a.Source != "" { // else the name says it
		how = append(how, string(a.Source))
	}
	if a.Address != "" {
		how = append(how, a.Address)
	}
	if len(how) == 0 {
		return a.Name()
	}
	return a.Name() + " (" + strings.Join(how, ", ") + ")"
}

// attemptLine is an attempt in a list.
func (p *Pages) attemptLine(ctx context.Context, n node.Node, a node.Attempt) templates.AttemptLine {
	l := templates.AttemptLine{
		ID: a.ID, Href: attemptURL(n, a.ID), Interface: a.Interface, Started: p.past(a.StartedAt), StartedBy: a.Started.Name(), Reason: a.Reason, Error: a.Error, Notes: a.Notes,
		CleanUp: templates.CleanUpText(ctx, a.CleanUp, a.CleanUpTries, a.CleanUpError, a.KeepPowerOn),
	}
	if l.Outcome = string(a.Outcome); l.Outcome == "" {
		l.Outcome = string(a.State)
	}
	l.Look, l.Icon = outcomeLook(a)
	if a.Proof == node.NotProven {
		l.Notes = append([]string{templates.T(ctx, "attempt.unproven")}, l.Notes...)
	}
	if a.State == node.RunReapplying {
		l.Notes = append([]string{templates.RunSentence(ctx, a)}, l.Notes...)
	}
	if !a.EndedAt.IsZero() {
		l.Ended, l.EndedBy, l.Took = p.past(a.EndedAt), a.Ended.Name(), words(a.EndedAt.Sub(a.StartedAt))
	}
	return l
}

// outcomeLook is the colour and the sign of how an attempt ended, or of what it does.
func outcomeLook(a node.Attempt) (look, icon string) {
	switch {
	case a.Outcome == node.Succeeded:
		look = "good"
	case a.Outcome == node.Aborted:
		return "idle", "■"
	case a.Outcome != "":
		look = "failed"
	case a.State == node.RunWaiting:
		look = "waiting"
	default:
		look = "working"
	}
	return look, templates.Icon(look)
}
