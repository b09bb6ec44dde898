package extension

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// Inspections is what is left of inspections. What is not kept, or is another node's, is *node.NotFound.
type Inspections interface {
	// Kept lists a node's inspections without their documents, the newest first, from after marker on.
	Kept(ctx context.Context, ident, marker string, limit int) ([]node.Inventory, error)
	Inspection(ctx context.Context, ident, attempt string) (node.Inventory, error)
	// Difference compares two inspections; "" is the newest for to, and the one before to for from.
	Difference(ctx context.Context, ident, from, to string) (node.Difference, error)
	// HowFar are an attempt's signs of life, and what to look at where it does not report.
	HowFar(ctx context.Context, a node.Attempt) ([]node.Sign, string, error)
	// Reapply works up a node's report once more.
	Reapply(ctx context.Context, actor node.Actor, ident string, data []byte) error
	// TryRules tells what rules would do with a kept inspection; "" is the newest, no rules are those that are stored.
	TryRules(ctx context.Context, ident, attempt string, rules []node.InspectionRule) (node.RulesTrial, error)
	RamdiskLogs(ctx context.Context, ident, attempt string) (node.RamdiskLogs, error)
	// RamdiskLogFiles lists the files; what could be read of a broken archive comes with a *node.Invalid.
	RamdiskLogFiles(ctx context.Context, ident, attempt string) ([]node.LogFile, error)
	RamdiskLogFile(ctx context.Context, ident, attempt, name string) ([]byte, error)
}

// Inspected is an inspection whose results are kept.
type Inspected struct {
	Attempt string  `json:"attempt"`
	At      *string `json:"at"`
}

type inspectionList struct {
	Inspections []Inspected `json:"inspections"`
	// Next is the address of the next page; absent on the last.
	Next string `json:"next,omitempty"`
}

// Inspection is what an inspection stored, as it is served under /v1/nodes/{ident}/inventory for the newest.
type Inspection struct {
	Inspected
	Inventory  json.RawMessage `json:"inventory"`
	PluginData json.RawMessage `json:"plugin_data"`
}

// Difference is what changed between two inspections of a node.
type Difference struct {
	Node string    `json:"node"`
	From Inspected `json:"from"`
	To   Inspected `json:"to"`
	// Identity says what tells that it is another machine than before; empty for the same one.
	Identity []string     `json:"identity"`
	Parts    []PartChange `json:"parts"`
}

// PartChange is one part that came, went or is not what it was.
type PartChange struct {
	Kind   string          `json:"kind"`
	Name   *string         `json:"name"`   // null where there is only one of the kind
	Change node.ChangeKind `json:"change"` // added, removed, changed
	Fields []FieldChange   `json:"fields"`
}

// FieldChange is one value that differs; null is one that was not told.
type FieldChange struct {
	Name   string  `json:"name"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// AttemptInFull is an inspection with the signs of life that its server gave.
type AttemptInFull struct {
	Attempt
	Signs []Sign `json:"signs"`
	// Advice tells what to look at where no report comes; null where there is nothing to explain.
	Advice *string `json:"advice"`
}

// Sign is a sign of life of a server under inspection.
type Sign struct {
	Kind  node.SignKind `json:"kind"`
	First *string       `json:"first"`
	Last  *string       `json:"last"`
	Times int           `json:"times"`
	// Detail is such as the address that it came from.
	Detail *string `json:"detail"`
}

// LogFiles are the files in a ramdisk's logs.
type LogFiles struct {
	Attempt string    `json:"attempt"`
	Files   []LogFile `json:"files"`
	// Problem tells why the list is not complete; null where it is.
	Problem *string `json:"problem"`
}

// LogFile is one of them; its size is in bytes.
type LogFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

func (a *api) registerInspections(r fiber.Router) {
	const node = "/cagenut/v1/nodes/:ident"
	r.Get(node+"/inspections", a.inspections)
	r.Get(node+"/inspections/:attempt", a.inspection)
	r.Get(node+"/difference", a.difference)
	r.Post(node+"/reapply", a.reapply)
	r.Post(node+"/rules/trial", a.tryRules)
	r.Get(node+"/attempts/:attempt", a.attempt)
	r.Get(node+"/attempts/:attempt/logs", a.logs)
	r.Get(node+"/attempts/:attempt/logs/archive", a.logArchive)
	r.Get(node+"/attempts/:attempt/logs/file", a.logFile)
}

func pageOf(what string) []openapi.Parameter {
	return []openapi.Parameter{
		{Name: "limit", Does: "How many to show; 1000 at most.", Kind: openapi.Integer(1, "limit must be a number from 1 on.")},
		{Name: "marker", Does: what, Kind: openapi.Text(255)},
	}
}

func inspectionOperations() map[string]openapi.Operation {
	const path = "/cagenut/v1/nodes/:ident"
	shows := func(name string) []openapi.Answer {
		return []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref(name))}}
	}
	sends := func(mime string) []openapi.Answer {
		return []openapi.Answer{{Status: 200, Type: mime, Shows: openapi.Shows(openapi.Typed("string"))}}
	}
	return map[string]openapi.Operation{
		"list": {Method: "GET", Path: path + "/inspections", Does: "List the inspections of a node whose results are kept, the newest first.", Tag: tag,
			Answers: shows("Inspections"), Query: pageOf("The attempt of the last one that was seen.")},
		"show": {Method: "GET", Path: path + "/inspections/:attempt", Does: "Show what an inspection stored.", Tag: tag, Answers: shows("Inspection")},
		"difference": {Method: "GET", Path: path + "/difference", Does: "Compare two inspections of a node.", Tag: tag, Answers: shows("Difference"), Query: []openapi.Parameter{
			{Name: "from", Does: "The attempt of the earlier one; the one before the other without it.", Kind: openapi.Text(255)},
			{Name: "to", Does: "The attempt of the later one; the newest without it.", Kind: openapi.Text(255)},
		}},
		"reapply": {Method: "POST", Path: path + "/reapply", Does: "Work up the newest report of a node once more, with the hooks and rules of now.", Tag: tag, Answers: []openapi.Answer{{Status: 202}}, May: []int{409}},
		"trial":   {Method: "POST", Path: path + "/rules/trial", Does: "Tell what inspection rules would do with what an inspection stored; nothing is changed.", Tag: tag, Answers: shows("RulesTrial"), Body: trialArguments()},
		"attempt": {Method: "GET", Path: path + "/attempts/:attempt", Does: "Show an inspection with the signs of life of its server.", Tag: tag, Answers: shows("AttemptInFull")},
		"logs":    {Method: "GET", Path: path + "/attempts/:attempt/logs", Does: "List the files in the logs of an inspection's ramdisk.", Tag: tag, Answers: shows("LogFiles")},
		"archive": {Method: "GET", Path: path + "/attempts/:attempt/logs/archive", Does: "Download the logs of an inspection's ramdisk as the tar.gz that it sent.", Tag: tag, Answers: sends("application/gzip")},
		"file": {Method: "GET", Path: path + "/attempts/:attempt/logs/file", Does: "Show one file of the logs, at most its first 16 MiB.", Tag: tag, Answers: sends("text/plain"), May: []int{400},
			Query: []openapi.Parameter{{Name: "name", Does: "Its name in the list.", Kind: openapi.Text(255)}}},
	}
}

func inspectionComponents() map[string]*openapi.Schema {
	return map[string]*openapi.Schema{
		"Inspections": openapi.Of(reflect.TypeFor[inspectionList]()), "Inspection": openapi.Record(map[string]*openapi.Schema{
			"attempt": openapi.Typed("string"), "at": openapi.Typed("string"), "inventory": openapi.Typed("object"), "plugin_data": openapi.Typed("object", "null"),
		}),
		"Difference":    openapi.Of(reflect.TypeFor[Difference]()),
		"AttemptInFull": openapi.Of(reflect.TypeFor[AttemptInFull]()), "LogFiles": openapi.Of(reflect.TypeFor[LogFiles]()), "RulesTrial": trialSchema(),
	}
}

// asked reads the node, and checks the query by the operation's description.
func asked(c *fiber.Ctx, operation string) (id string, q url.Values, err error) {
	if id, err = ident(c); err != nil {
		return "", nil, err
	}
	q = web.Query(c)
	o := inspectionOperations()[operation]
	return id, q, o.CheckQuery(q, 0, nil)
}

// attemptID is the attempt that the address names.
func attemptID(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("attempt"))
	if err != nil || !node.IsUUID(id) {
		return "", fiber.NewError(fiber.StatusNotFound, "The address names no inspection attempt.")
	}
	return id, nil
}

func (a *api) inspections(c *fiber.Ctx) error {
	id, q, err := asked(c, "list")
	if err != nil {
		return err
	}
	limit := limitOf(q, attemptsMost)
	kept, err := a.o.Inspections.Kept(c.UserContext(), id, q.Get("marker"), limit+1)
	if err != nil {
		return err
	}
	out := inspectionList{}
	if len(kept) > limit {
		kept = kept[:limit]
		out.Next = web.BaseURL(c, a.o.PublicURL) + "/cagenut/v1/nodes/" + url.PathEscape(id) + "/inspections?limit=" + strconv.Itoa(limit) + "&marker=" + kept[limit-1].AttemptID
	}
	out.Inspections = shown(kept, inspectedOf)
	return c.JSON(out)
}

func inspectedOf(i node.Inventory) Inspected {
	return Inspected{Attempt: i.AttemptID, At: instant(i.CreatedAt)}
}

func (a *api) inspection(c *fiber.Ctx) error {
	id, _, err := asked(c, "show")
	if err != nil {
		return err
	}
	attempt, err := attemptID(c)
	if err != nil {
		return err
	}
	i, err := a.o.Inspections.Inspection(c.UserContext(), id, attempt)
	if err != nil {
		return err
	}
	return c.JSON(Inspection{Inspected: inspectedOf(i), Inventory: i.Inventory, PluginData: i.PluginData})
}

func (a *api) difference(c *fiber.Ctx) error {
	id, q, err := asked(c, "difference")
	if err != nil {
		return err
	}
	d, err := a.o.Inspections.Difference(c.UserContext(), id, q.Get("from"), q.Get("to"))
	if err != nil {
		return err
	}
	side := func(i node.Inspected) Inspected { return Inspected{Attempt: i.AttemptID, At: instant(i.At)} }
	return c.JSON(Difference{Node: d.NodeUUID, From: side(d.From), To: side(d.To), Identity: d.Identity, Parts: shown(d.Parts, partChangeOf)})
}

func partChangeOf(p node.PartChange) PartChange {
	return PartChange{Kind: p.Kind, Name: orNull(p.Name), Change: p.Change, Fields: shown(p.Fields, func(f node.FieldChange) FieldChange {
		return FieldChange{Name: f.Name, Before: orNull(f.Before), After: orNull(f.After)}
	})}
}

// reapply works up the stored report; what comes of it is seen at the attempt.
func (a *api) reapply(c *fiber.Ctx) error {
	id, _, err := asked(c, "reapply")
	if err != nil {
		return err
	}
	if err := a.o.Inspections.Reapply(c.UserContext(), web.Actor(c, node.SourceAPI), id, nil); err != nil {
		return err
	}
	c.Status(fiber.StatusAccepted)
	return nil
}

func (a *api) attempt(c *fiber.Ctx) error {
	id, _, err := asked(c, "attempt")
	if err != nil {
		return err
	}
	attempt, err := attemptID(c)
	if err != nil {
		return err
	}
	n, err := a.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	at, err := a.o.Store.Attempt(c.UserContext(), attempt)
	if err == nil && at.NodeUUID != n.UUID {
		err = &node.NotFound{What: "Attempt", Ident: attempt}
	}
	if err != nil {
		return err
	}
	signs, advice, err := a.o.Inspections.HowFar(c.UserContext(), at)
	if err != nil {
		return err
	}
	return c.JSON(AttemptInFull{Attempt: attemptOf(at), Advice: orNull(advice), Signs: shown(signs, func(s node.Sign) Sign {
		return Sign{Kind: s.Kind, First: instant(s.FirstAt), Last: instant(s.LastAt), Times: s.Times, Detail: orNull(s.Detail)}
	})})
}
