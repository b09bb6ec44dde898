package ui

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// Bulk plans and starts runs over many nodes.
type Bulk interface {
	PlanBulk(ctx context.Context, req conductor.BulkRequest) (conductor.BulkRequest, []conductor.BulkCandidate, error)
	StartBulk(ctx context.Context, actor node.Actor, req conductor.BulkRequest) (node.BulkRun, error)
}

// BulkRuns are the runs that are kept.
type BulkRuns interface {
	BulkRuns(ctx context.Context) ([]node.BulkRun, error)
	BulkRun(ctx context.Context, id string) (node.BulkRun, error)
	BulkResults(ctx context.Context, id string, f node.BulkResultFilter) ([]node.BulkResult, error)
}

const (
	// bulkShown is how many nodes of each kind a question names, and bulkFew how many it names without being asked.
	bulkShown = 20
	bulkFew   = 5
	// bulkReasons is how many kinds of reasons are summed up.
	bulkReasons = 4
)

func (p *Pages) registerBulk(r fiber.Router) {
	r.Get("/ui/bulk", p.bulkRuns)
	r.Post("/ui/bulk", p.startBulk)
	// Somebody who comes back to the question without having asked: there is nothing to ask.
	r.Get("/ui/bulk/confirm", func(c *fiber.Ctx) error { return c.Redirect("/ui", fiber.StatusSeeOther) })
	r.Post("/ui/bulk/confirm", p.confirmBulk)
	r.Get("/ui/bulk/:run", p.bulkRun)
}

// bulkChoice is what the bar of a page has chosen, and the address that leads back to it.
func bulkChoice(c *fiber.Ctx) (choice node.BulkChoice, away string) {
	filter, rack := c.FormValue("filter"), c.FormValue("rack")
	values, _ := url.ParseQuery(filter) // what can be read of it counts
	away = queryOf(values).address()
	if rack != "" {
		away = rackURL(rack)
	}
	switch c.FormValue("all") {
	case "filter":
		f := filterOf(values)
		choice.Filter = &f
	case "rack":
		if rack != "" {
			choice.Filter = &node.Filter{Rack: rack, IncludeChildren: true}
		}
	default:
		for _, id := range c.Request().PostArgs().PeekMulti("node") {
			choice.Idents = append(choice.Idents, string(id))
		}
	}
	return choice, away
}

// confirmBulk asks back before something is done to many nodes: it names how many can take it now, and which cannot and why.
func (p *Pages) confirmBulk(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	choice, away := bulkChoice(c)
	req := conductor.BulkRequest{Action: node.BulkAction(c.FormValue("action")), Choice: choice, RetryOf: c.FormValue("retry")}
	if req.RetryOf != "" {
		req.Choice, away = node.BulkChoice{}, bulkURL(req.RetryOf)
	}
	ctx := c.UserContext()
	req, candidates, err := p.o.Conductor.PlanBulk(ctx, req)
	if err != nil {
		return p.bulkRefused(c, away, err)
	}
	return p.askBulk(c, away, req, candidates)
}

func (p *Pages) askBulk(c *fiber.Ctx, away string, req conductor.BulkRequest, candidates []conductor.BulkCandidate) error {
	ctx, key := c.UserContext(), templates.BulkKey(req.Action)
	box := templates.BulkConfirm{
		Question: templates.N(ctx, "bulk.question."+key, len(candidates)), Consequence: templates.T(ctx, "bulk.consequence."+key),
		Run: node.NewUUID(), Action: string(req.Action), Chosen: packed(candidates), RetryOf: req.RetryOf,
		WithReason: req.Action == node.BulkAbort || req.Action == node.BulkMaintenanceOn, Reason: req.Reason,
		WithKeepOn: req.Action == node.BulkAbort, KeepOn: req.KeepPowerOn,
		Danger: req.Action == node.BulkAbort || req.Action.Power() != "" && req.Action != node.BulkPowerOn,
		Yes:    templates.BulkLabel(ctx, req.Action), Away: away,
	}
	box.Frame = p.frame(c, box.Question, "")
	var reasons []string
	for _, b := range candidates {
		group, line := &box.Can, templates.BulkLine{Name: b.Node.Label(), Place: place(b.Node)}
		if b.Why != nil {
			group, line.Kind = &box.Cannot, whyNotBulk(ctx, b)
			reasons = append(reasons, line.Kind)
		}
		group.Count++
		if len(group.Lines) < bulkShown {
			group.Lines = append(group.Lines, line)
		} else {
			group.More++
		}
	}
	if box.Cannot.Count > bulkFew {
		box.Cannot.Reasons = summedUp(ctx, reasons)
	}
	if scripted(c) {
		return render(c, fiber.StatusOK, templates.BulkConfirmDialog(box))
	}
	return render(c, fiber.StatusOK, templates.BulkConfirmPage(box))
}

// summedUp are the commonest of many reasons, with how many nodes each has.
func summedUp(ctx context.Context, reasons []string) string {
	count := map[string]int{}
	for _, r := range reasons {
		count[r]++
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	var parts []string
	for _, r := range kinds[:min(len(kinds), bulkReasons)] {
		parts = append(parts, templates.T(ctx, "bulk.confirm.counted", r, count[r]))
	}
	return strings.Join(parts, ", ")
}

// whyNotBulk says in a few words why a node cannot take the action.
func whyNotBulk(ctx context.Context, b conductor.BulkCandidate) string {
	kind, text := node.RefusalOf(b.Why)
	switch kind {
	case node.RefusedState:
		return templates.T(ctx, "bulk.why.state", b.Node.ProvisionState)
	case node.RefusedStale:
		return templates.T(ctx, "bulk.why.stale")
	case node.RefusedLocked:
		return templates.T(ctx, "bulk.why.locked", b.Node.Reservation)
	case node.RefusedMissing:
		return templates.T(ctx, "bulk.why.missing")
	}
	return text
}

// startBulk lets the appliance do it. The same form sent twice is one run.
func (p *Pages) startBulk(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	choice, seen, err := unpacked(c.FormValue("chosen"))
	if err != nil || !node.IsUUID(c.FormValue("run")) {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "bulk.refused.form"))
	}
	run, err := p.o.Conductor.StartBulk(c.UserContext(), web.Actor(c, node.SourceUI), conductor.BulkRequest{
		ID: c.FormValue("run"), Action: node.BulkAction(c.FormValue("action")), Choice: choice, Seen: seen, RetryOf: c.FormValue("retry"),
		Reason: strings.TrimSpace(c.FormValue("reason")), KeepPowerOn: c.FormValue("keep_power_on") == "true",
	})
	if err != nil {
		return p.bulkRefused(c, "/ui", err)
	}
	return c.Redirect(bulkURL(run.ID), fiber.StatusSeeOther)
}

// bulkRefused says why there is no run.
func (p *Pages) bulkRefused(c *fiber.Ctx, away string, err error) error {
	var (
		invalid  *node.Invalid
		conflict *node.Conflict
	)
	if !errors.As(err, &invalid) && !errors.As(err, &conflict) {
		return err
	}
	ctx := c.UserContext()
	status, text := web.Status(err)
	return p.fail(c, status, templates.Failure{
		Headline: templates.T(ctx, "bulk.refused.title"), Text: ended(text) + " " + templates.T(ctx, "bulk.refused.nothing"), Away: away, AwayText: templates.T(ctx, "bulk.refused.away"),
	})
}

// packed are the nodes of a choice in one form field, each as its UUID and that of the attempt that was seen: ten thousand of
// them fit into a form.
func packed(candidates []conductor.BulkCandidate) string {
	all := make([]byte, 0, 32*len(candidates))
	for _, b := range candidates {
		id, err := uuid.Parse(b.Node.UUID)
		if err != nil {
			if id, err = uuid.Parse(b.Node.Name); err != nil { // chosen by a name that no node has: nothing can be done about it
				continue
			}
		}
		attempt, _ := uuid.Parse(b.Attempt) // the zero UUID stands for none
		all = append(append(all, id[:]...), attempt[:]...)
	}
	return base64.RawURLEncoding.EncodeToString(all)
}

func unpacked(s string) (choice node.BulkChoice, seen map[string]string, err error) {
	all, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(all)%32 != 0 {
		return choice, nil, errors.New("the chosen nodes cannot be read")
	}
	choice.Idents, seen = []string{}, map[string]string{}
	for ; len(all) > 0; all = all[32:] {
		id, attempt := uuid.UUID(all[:16]), uuid.UUID(all[16:32])
		choice.Idents = append(choice.Idents, id.String())
		if attempt != uuid.Nil {
			seen[id.String()] = attempt.String()
		}
	}
	return choice, seen, nil
}

// bulkURL is the address of a run's page.
func bulkURL(id string) string { return "/ui/bulk/" + url.PathEscape(id) }

// bulkPage is the address of a page of a run's results.
func bulkPage(id string, show node.BulkState, after int) string {
	v := url.Values{}
	if show != "" {
		v.Set("show", string(show))
	}
	if after > 0 {
		v.Set("after", strconv.Itoa(after))
	}
	if len(v) == 0 {
		return bulkURL(id)
	}
	return bulkURL(id) + "?" + v.Encode()
}
