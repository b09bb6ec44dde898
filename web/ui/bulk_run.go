package ui

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web/live"
)

// bulkLines is how many results a page of a run shows.
const bulkLines = 100

// bulkRuns lists the newest runs.
func (p *Pages) bulkRuns(c *fiber.Ctx) error {
	ctx := c.UserContext()
	view := templates.BulkRuns{Frame: p.frame(c, templates.T(ctx, "bulk.runs.title"), "")}
	runs, err := p.o.Store.BulkRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		view.Runs = append(view.Runs, templates.BulkRunLine{
			Href: bulkURL(r.ID), What: bulkTitle(ctx, r), Who: r.Actor.Name(), Counts: bulkSentence(ctx, r), Started: p.past(r.StartedAt), Look: runLook(ctx, r),
		})
	}
	return render(c, fiber.StatusOK, templates.BulkRunsPage(view))
}

// runLook is a run's chip in the list: whether it goes on, and whether something was refused.
func runLook(ctx context.Context, r node.BulkRun) templates.BulkLook {
	look, key := "good", "done"
	switch {
	case !r.Ended():
		look, key = templates.GroupWorking, "running"
	case r.Counts.Refused > 0:
		look, key = templates.GroupFailed, "refused"
	}
	return templates.BulkLook{Look: look, Icon: templates.Icon(look), Text: templates.T(ctx, "bulk.runs."+key)}
}

func bulkTitle(ctx context.Context, r node.BulkRun) string {
	return templates.N(ctx, "bulk.run.title", r.Counts.Total(), templates.BulkLabel(ctx, r.Action))
}

// bulkSentence is how far a run has come.
func bulkSentence(ctx context.Context, r node.BulkRun) string {
	k := r.Counts
	if r.Ended() {
		return templates.T(ctx, "bulk.run.ended", k.Done, k.Total(), k.Refused)
	}
	return templates.T(ctx, "bulk.run.running", k.Done+k.Refused, k.Total(), k.Refused)
}

// bulkRun is the page of a run: ?show= the results of one state, ?after= the page behind a position.
func (p *Pages) bulkRun(c *fiber.Ctx) error {
	ctx, id := c.UserContext(), c.Params("run")
	frame := p.frame(c, "", "")
	run, err := p.o.Store.BulkRun(ctx, id)
	if err != nil {
		return err
	}
	show, after := node.BulkState(c.Query("show")), max(0, c.QueryInt("after"))
	if !slices.Contains(node.BulkStates(), show) {
		show = ""
	}
	view, err := p.bulkView(ctx, run, show, after, mayAct(c))
	if err != nil {
		return err
	}
	frame.Title = view.What
	if run.Counts.Refused > 0 { // what needs a person comes first
		frame.Title = templates.N(ctx, "bulk.run.refused-title", run.Counts.Refused, view.What)
	}
	if view.Frame = frame; !run.Ended() {
		view.Events = "/ui/events?view=run&run=" + run.ID
	}
	return render(c, fiber.StatusOK, templates.BulkRunPage(view))
}

// bulkView is a run as its page shows it. Without a kind of results asked for it shows what matters: those that were refused,
// else those that are still to come, else those that were done.
func (p *Pages) bulkView(ctx context.Context, run node.BulkRun, show node.BulkState, after int, act bool) (templates.BulkRun, error) {
	k := run.Counts
	count := map[node.BulkState]int{node.BulkRefused: k.Refused, node.BulkPending: k.Pending, node.BulkDone: k.Done}
	view := templates.BulkRun{
		ID: run.ID, What: bulkTitle(ctx, run), Who: run.Actor.Name(), Started: p.past(run.StartedAt), Reason: run.Reason, KeepOn: run.KeepPowerOn,
		Running: !run.Ended(), Total: k.Total(), Ready: k.Done + k.Refused, Done: k.Done, Refused: k.Refused, Sentence: bulkSentence(ctx, run),
		Retry: act && run.Ended() && k.Refused > 0, Reload: bulkPage(run.ID, show, after), History: "/ui/bulk",
	}
	if run.Ended() {
		view.Took = words(run.EndedAt.Sub(run.StartedAt))
	}
	if run.RetryOf != "" {
		view.RetryOf = bulkURL(run.RetryOf)
	}
	shown := show
	for _, s := range []node.BulkState{node.BulkRefused, node.BulkPending, node.BulkDone} {
		if shown == "" && count[s] > 0 {
			shown = s
		}
	}
	if show != "" || after > 0 {
		view.Show = "-of-one-kind"
	}
	for _, s := range []node.BulkState{node.BulkRefused, node.BulkPending, node.BulkDone} {
		if count[s] > 0 || s == shown {
			view.Tabs = append(view.Tabs, templates.Tab{
				Group: string(s), Label: templates.BulkLookOf(ctx, s).Text, Count: strconv.Itoa(count[s]), Href: bulkPage(run.ID, s, 0), Current: s == shown,
			})
		}
	}
	return view, p.bulkLinesOf(ctx, run, shown, after, &view)
}

func (p *Pages) bulkLinesOf(ctx context.Context, run node.BulkRun, shown node.BulkState, after int, view *templates.BulkRun) error {
	view.None = templates.T(ctx, "bulk.run.none")
	results, err := p.o.Store.BulkResults(ctx, run.ID, node.BulkResultFilter{State: shown, After: after, Limit: bulkLines + 1})
	if err != nil {
		return err
	}
	if after > 0 {
		view.First = bulkPage(run.ID, shown, 0)
	}
	if len(results) > bulkLines {
		results = results[:bulkLines]
		view.Next = bulkPage(run.ID, shown, results[bulkLines-1].Position)
	}
	for _, r := range results {
		line := templates.BulkLine{Name: r.Name, Place: r.Place, State: templates.BulkLookOf(ctx, r.State), At: p.past(r.At), Why: r.Why}
		if line.Name == "" {
			line.Name = r.Node
		}
		if r.Node != "" && r.Refusal != node.RefusedMissing {
			line.Href = nodeURL(r.Node)
		}
		if r.State == node.BulkRefused {
			line.Kind = templates.T(ctx, "bulk.refusal."+templates.Dashed(string(r.Refusal)))
			if slices.Contains([]node.Refusal{node.RefusedMissing, node.RefusedStale, node.RefusedLocked}, r.Refusal) {
				line.Why = "" // the kind says it all
			}
			if err := p.lateInBulk(ctx, run, r, &line); err != nil {
				return err
			}
		}
		view.Lines = append(view.Lines, line)
	}
	return nil
}

// lateInBulk says of an abort that came too late what had become of the attempt: that is more than that it was refused.
func (p *Pages) lateInBulk(ctx context.Context, run node.BulkRun, r node.BulkResult, line *templates.BulkLine) error {
	if run.Action != node.BulkAbort || r.Attempt == "" || r.Refusal != node.RefusedState && r.Refusal != node.RefusedStale {
		return nil
	}
	a, err := p.attempt(ctx, r.Attempt)
	if err != nil || a == nil || a.EndedAt.IsZero() || a.EndedAt.After(r.At) {
		return err
	}
	at := p.since(a.EndedAt)
	line.Why = ""
	switch a.Outcome {
	case node.Aborted:
		line.Kind = templates.T(ctx, "bulk.late.aborted", a.Ended.Name(), at)
	case node.TimedOut:
		line.Kind = templates.T(ctx, "bulk.late.timed-out", at)
	case node.Succeeded:
		line.Kind = templates.T(ctx, "bulk.late.succeeded", at)
	case node.Failed:
		line.Kind = templates.T(ctx, "bulk.late.failed", at)
	}
	return nil
}

// changedRun draws a run anew for its page.
func (p *Pages) changedRun(ctx context.Context, v live.View) ([]templ.Component, error) {
	run, err := p.o.Store.BulkRun(ctx, v.Run)
	var gone *node.NotFound
	if errors.As(err, &gone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	view, err := p.bulkView(ctx, run, "", 0, v.Act)
	if err != nil {
		return nil, err
	}
	parts := []templ.Component{fragment(templates.BulkRunOf(view)), fragment(templates.BulkResultsOf(view))}
	if run.Ended() {
		parts = append(parts, templates.Said(view.Sentence))
	}
	return parts, nil
}
