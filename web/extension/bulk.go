package extension

import (
	"context"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// Bulk starts runs over many nodes.
type Bulk interface {
	// StartBulk accepts a run; one that is there already under its id is the answer as it is.
	StartBulk(ctx context.Context, actor node.Actor, req conductor.BulkRequest) (node.BulkRun, error)
}

// BulkRuns are the runs that are kept.
type BulkRuns interface {
	BulkRuns(ctx context.Context) ([]node.BulkRun, error)
	BulkRun(ctx context.Context, id string) (node.BulkRun, error)
	BulkResults(ctx context.Context, id string, f node.BulkResultFilter) ([]node.BulkResult, error)
}

// BulkRun is one action on many nodes. It is carried out by the appliance once it is accepted.
type BulkRun struct {
	ID          string          `json:"id"`
	Action      node.BulkAction `json:"action"`
	Reason      *string         `json:"reason"`
	KeepPowerOn bool            `json:"keep_power_on"` // of abort
	Started     Moment          `json:"started"`
	EndedAt     *string         `json:"ended_at"` // null while it runs
	RetryOf     *string         `json:"retry_of"` // the run whose refused nodes these are
	Total       int             `json:"total"`
	Pending     int             `json:"pending"`
	Done        int             `json:"done"`
	Refused     int             `json:"refused"`
}

// BulkResult is one node of a run, and what came of it.
type BulkResult struct {
	Position int            `json:"position"` // in the order of the request, from 1
	Node     *string        `json:"node"`     // UUID; null for a name that no node had
	Name     *string        `json:"name"`     // as it was then
	Attempt  *string        `json:"attempt"`  // of an abort: the only one that it stops
	State    node.BulkState `json:"state"`    // pending, done, refused
	// Status is what the same request for this node alone would have been answered with; null while it is pending.
	Status  *int          `json:"status"`
	Refusal *node.Refusal `json:"refusal"` // the kind of the reason; null unless it was refused
	Error   *string       `json:"error"`   // the reason in a sentence
	At      *string       `json:"at"`
}

type bulkRunList struct {
	Runs []BulkRun `json:"runs"`
}

type bulkAnswer struct {
	Run     BulkRun      `json:"run"`
	Results []BulkResult `json:"results"`
	// Next is the address of the next page; absent on the last.
	Next string `json:"next,omitempty"`
}

// refusalStatus is the status that a refusal of a single node has on the wire.
var refusalStatus = map[node.Refusal]int{
	node.RefusedMissing: fiber.StatusNotFound, node.RefusedState: fiber.StatusBadRequest, node.RefusedStale: fiber.StatusConflict, node.RefusedLocked: fiber.StatusConflict,
	node.RefusedConflict: fiber.StatusConflict, node.RefusedInvalid: fiber.StatusBadRequest, node.RefusedUnsupported: fiber.StatusBadRequest, node.RefusedForbidden: fiber.StatusForbidden,
	node.RefusedUnreachable: fiber.StatusBadGateway, node.RefusedTimeout: fiber.StatusGatewayTimeout, node.RefusedInternal: fiber.StatusInternalServerError,
}

func bulkRunOf(r node.BulkRun) BulkRun {
	return BulkRun{
		ID: r.ID, Action: r.Action, Reason: orNull(r.Reason), KeepPowerOn: r.KeepPowerOn, Started: Moment{At: instant(r.StartedAt), Actor: actorOf(r.Actor)}, EndedAt: instant(r.EndedAt),
		RetryOf: orNull(r.RetryOf), Total: r.Counts.Total(), Pending: r.Counts.Pending, Done: r.Counts.Done, Refused: r.Counts.Refused,
	}
}

func bulkResultOf(r node.BulkResult) BulkResult {
	out := BulkResult{
		Position: r.Position, Node: orNull(r.Node), Name: orNull(r.Name), Attempt: orNull(r.Attempt), State: r.State, Refusal: orNull(r.Refusal), Error: orNull(r.Why), At: instant(r.At),
	}
	status := fiber.StatusAccepted
	switch r.State {
	case node.BulkPending:
		return out
	case node.BulkRefused:
		status = refusalStatus[r.Refusal]
	}
	out.Status = &status
	return out
}

func (a *api) registerBulk(r fiber.Router) {
	r.Get("/cagenut/v1/bulk", a.bulkRuns)
	r.Post("/cagenut/v1/bulk", a.startBulk)
	r.Get("/cagenut/v1/bulk/:run", a.bulkRun)
	r.Post("/cagenut/v1/bulk/:run/retry", a.retryBulk)
}

func bulkOperations() map[string]openapi.Operation {
	const path = "/cagenut/v1/bulk"
	shows := func(status int, name string) []openapi.Answer {
		return []openapi.Answer{{Status: status, Shows: openapi.Shows(openapi.Ref(name)), Location: status == fiber.StatusAccepted}}
	}
	return map[string]openapi.Operation{
		"list":  {Method: "GET", Path: path, Does: "List the runs over many nodes that are kept, the newest first.", Tag: tag, Answers: shows(200, "BulkRuns")},
		"start": {Method: "POST", Path: path, Does: "Do something to many nodes, in the background; each has its own result.", Tag: tag, Body: bulkArguments(), Answers: shows(202, "BulkRun")},
		"show": {Method: "GET", Path: path + "/:run", Does: "Show a run and what came of each of its nodes.", Tag: tag, Answers: shows(200, "Bulk"),
			Query: append(pageOf("The position of the last one that was seen."), openapi.Parameter{Name: "state", Does: "Only the results of this state.", Kind: bulkState()})},
		"retry": {Method: "POST", Path: path + "/:run/retry", Does: "Try the refused nodes of a run again, in a run of their own.", Tag: tag, Answers: shows(202, "BulkRun"), May: []int{409}},
	}
}

func bulkComponents() map[string]*openapi.Schema {
	return map[string]*openapi.Schema{
		"BulkRuns": openapi.Of(reflect.TypeFor[bulkRunList]()), "BulkRun": openapi.Of(reflect.TypeFor[BulkRun]()), "Bulk": openapi.Of(reflect.TypeFor[bulkAnswer]()),
	}
}

// bulkArguments are the body of POST bulk: as that of POST aborts, with an action. It is as strict.
func bulkArguments() openapi.Arguments {
	return openapi.Arguments{
		{Name: "action", Does: "What is done to each node.", Required: true, Kind: bulkAction()},
		{Name: "nodes", Does: "UUIDs or names.", Kind: names(node.BulkMost)},
		{Name: "rack", Kind: word()},
		{Name: "filter", Kind: filters{}},
		{Name: "reason", Does: "Of abort and maintenance: kept in the history.", Kind: openapi.Text(reasonLimit)},
		{Name: "keep_power_on", Does: "Of abort: leaves the servers running.", Kind: openapi.Boolean()},
		{Name: "id", Does: "The UUID of the run, chosen by the caller: asking again with it starts nothing anew.", Kind: openapi.UUID()},
	}
}

func bulkAction() openapi.Kind {
	words := make([]string, len(node.BulkActions()))
	for i, a := range node.BulkActions() {
		words[i] = string(a)
	}
	return openapi.Word(func(string) error {
		return node.Invalidf("The action must be one of: %s.", strings.Join(words, ", "))
	}, words...)
}

func bulkState() openapi.Kind {
	words := make([]string, len(node.BulkStates()))
	for i, s := range node.BulkStates() {
		words[i] = string(s)
	}
	return openapi.Word(func(string) error { return node.Invalidf("state must be one of: %s.", strings.Join(words, ", ")) }, words...)
}

func mayAct(c *fiber.Ctx) error {
	if _, role := web.User(c); role != web.RoleOperator && role != web.RoleAdmin {
		return fiber.NewError(fiber.StatusForbidden, "Your role may look, but not act.")
	}
	return nil
}

func (a *api) startBulk(c *fiber.Ctx) error {
	if err := mayAct(c); err != nil {
		return err
	}
	if err := bulkOperations()["start"].CheckQuery(web.Query(c), 0, nil); err != nil {
		return err
	}
	args, err := strictly(c.Body(), bulkArguments())
	if err != nil {
		return err
	}
	choice, err := chosenBy(args)
	if err != nil {
		return err
	}
	return a.acceptBulk(c, conductor.BulkRequest{
		ID: args.Text("id"), Action: node.BulkAction(args.Text("action")), Choice: choice, Reason: strings.TrimSpace(args.Text("reason")), KeepPowerOn: args.Flag("keep_power_on"),
	})
}

func (a *api) retryBulk(c *fiber.Ctx) error {
	if err := mayAct(c); err != nil {
		return err
	}
	if err := bulkOperations()["retry"].CheckQuery(web.Query(c), 0, nil); err != nil {
		return err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	return a.acceptBulk(c, conductor.BulkRequest{RetryOf: id})
}

func (a *api) acceptBulk(c *fiber.Ctx, req conductor.BulkRequest) error {
	run, err := a.o.Conductor.StartBulk(c.UserContext(), web.Actor(c, node.SourceAPI), req)
	if err != nil {
		return err
	}
	c.Location(web.BaseURL(c, a.o.PublicURL) + "/cagenut/v1/bulk/" + run.ID)
	return c.Status(fiber.StatusAccepted).JSON(bulkRunOf(run))
}

func (a *api) bulkRuns(c *fiber.Ctx) error {
	if err := bulkOperations()["list"].CheckQuery(web.Query(c), 0, nil); err != nil {
		return err
	}
	runs, err := a.o.Store.BulkRuns(c.UserContext())
	if err != nil {
		return err
	}
	out := bulkRunList{Runs: make([]BulkRun, len(runs))}
	for i, r := range runs {
		out.Runs[i] = bulkRunOf(r)
	}
	return c.JSON(out)
}

// bulkRun shows a run: ?limit= (50, at most 1000) and ?marker= (the last position of the page before), ?state=.
func (a *api) bulkRun(c *fiber.Ctx) error {
	q := web.Query(c)
	if err := bulkOperations()["show"].CheckQuery(q, 0, nil); err != nil {
		return err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	after := 0
	if marker := q.Get("marker"); marker != "" {
		if after, err = strconv.Atoi(marker); err != nil || after < 0 {
			return node.Invalidf("marker must be the position of a result.")
		}
	}
	run, err := a.o.Store.BulkRun(c.UserContext(), id)
	if err != nil {
		return err
	}
	limit := limitOf(q, attemptsMost)
	f := node.BulkResultFilter{State: node.BulkState(q.Get("state")), After: after, Limit: limit + 1}
	results, err := a.o.Store.BulkResults(c.UserContext(), run.ID, f)
	if err != nil {
		return err
	}
	out := bulkAnswer{Run: bulkRunOf(run), Results: []BulkResult{}}
	if len(results) > limit {
		results = results[:limit]
		next := url.Values{"limit": {strconv.Itoa(limit)}, "marker": {strconv.Itoa(results[limit-1].Position)}}
		if f.State != "" {
			next.Set("state", string(f.State))
		}
		out.Next = web.BaseURL(c, a.o.PublicURL) + "/cagenut/v1/bulk/" + run.ID + "?" + next.Encode()
	}
	for _, r := range results {
		out.Results = append(out.Results, bulkResultOf(r))
	}
	return c.JSON(out)
}

// runID is the run that the address names.
func runID(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("run"))
	if err != nil || !node.IsUUID(id) {
		return "", fiber.NewError(fiber.StatusNotFound, "The address names no run.")
	}
	return id, nil
}
