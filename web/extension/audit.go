package extension

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// Trail is the record of who asked for what.
type Trail interface {
	// AuditTrail lists lines, the newest first.
	AuditTrail(ctx context.Context, f node.AuditFilter) ([]node.AuditLine, error)
}

// AuditLine is one request and what came of it.
type AuditLine struct {
	ID     int64   `json:"id"` // grows without reuse
	At     *string `json:"at"`
	Actor  Actor   `json:"actor"`
	Action string  `json:"action"`
	// Node is the node's UUID, also after it is gone; its name is null then. Both are null where it is about no node.
	Node     *string `json:"node"`
	NodeName *string `json:"node_name"`
	Attempt  *string `json:"attempt"`
	Accepted bool    `json:"accepted"`
	// Result is "accepted", or why it was refused.
	Result  string  `json:"result"`
	Reason  *string `json:"reason"`
	Request *string `json:"request"` // the id in the answer's headers
}

func auditLineOf(l node.AuditLine) AuditLine {
	return AuditLine{
		ID: l.ID, At: instant(l.At), Actor: actorOf(l.Actor), Action: l.Action, Node: orNull(l.NodeUUID), NodeName: orNull(l.NodeName), Attempt: orNull(l.AttemptID),
		Accepted: l.Result == node.AuditAccepted, Result: l.Result, Reason: orNull(l.Reason), Request: orNull(l.Actor.RequestID),
	}
}

type auditList struct {
	Audit []AuditLine `json:"audit"`
	// Next is the address of the next page; absent on the last.
	Next string `json:"next,omitempty"`
}

func auditOperation() openapi.Operation {
	text := func(name, does string) openapi.Parameter {
		return openapi.Parameter{Name: name, Does: does, Kind: openapi.Text(255)}
	}
	word := func(name, does string, words ...string) openapi.Parameter {
		return openapi.Parameter{Name: name, Does: does, Kind: openapi.Word(func(said string) error {
			return node.Invalidf("%s must be one of %q, not %q.", name, words, said)
		}, words...)}
	}
	return openapi.Operation{
		Method: "GET", Path: "/cagenut/v1/audit", Tag: tag, May: []int{400, 403},
		Does:    "List who asked for what and what came of it, the newest first. Viewers may not.",
		Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref("Audit"))}},
		Query: []openapi.Parameter{
			text("user", "Who asked, by the whole name."),
			word("source", "Through which door.", sources()...),
			text("action", "What was asked for, or how that begins."),
			text("node", "UUID of a node, or the name of one that is there."),
			word("result", "Only what was accepted, or only what was refused.", "accepted", "refused"),
			text("from", "The earliest time, as in 2026-11-30T14:02:11Z."),
			text("to", "The time before which it was."),
			text("search", "Part of anything that a line tells."),
			{Name: "limit", Does: "How many to show; 1000 at most.", Kind: openapi.Integer(1, "limit must be a number from 1 on.")},
			{Name: "marker", Does: "The id of the last one that was seen.", Kind: openapi.Integer(1, "marker must be a number from 1 on.")},
		},
	}
}

func sources() []string {
	return []string{string(node.SourceAPI), string(node.SourceUI), string(node.SourceRamdisk), string(node.SourceSystem)}
}

// audit lists the audit. What people did to be noticed is for those who may act themselves.
func (a *api) audit(c *fiber.Ctx) error {
	if _, role := web.User(c); role != web.RoleOperator && role != web.RoleAdmin {
		return fiber.NewError(fiber.StatusForbidden, "Your role may not read the audit.")
	}
	q := web.Query(c)
	if err := auditOperation().CheckQuery(q, 0, nil); err != nil {
		return err
	}
	f, err := auditFilter(q)
	if err != nil {
		return err
	}
	limit := limitOf(q, attemptsMost)
	f.Limit = limit + 1
	found, err := a.o.Store.AuditTrail(c.UserContext(), f)
	if err != nil {
		return err
	}
	out := auditList{}
	if len(found) > limit {
		found = found[:limit]
		q.Set("limit", strconv.Itoa(limit))
		q.Set("marker", strconv.FormatInt(found[limit-1].ID, 10))
		out.Next = web.BaseURL(c, a.o.PublicURL) + "/cagenut/v1/audit?" + q.Encode()
	}
	out.Audit = shown(found, auditLineOf)
	return c.JSON(out)
}

// auditFilter reads a query that has been checked.
func auditFilter(q url.Values) (f node.AuditFilter, err error) {
	f = node.AuditFilter{User: q.Get("user"), Source: node.Source(q.Get("source")), Action: q.Get("action"), Node: q.Get("node"), Search: q.Get("search")}
	if said := q.Get("result"); said != "" {
		refused := said == "refused"
		f.Refused = &refused
	}
	for name, into := range map[string]*time.Time{"from": &f.From, "to": &f.To} {
		if said := q.Get(name); said != "" {
			if *into, err = time.Parse(time.RFC3339, said); err != nil {
				return f, node.Invalidf("%s must be a time as in 2026-11-30T14:02:11Z.", name)
			}
		}
	}
	f.Before, _ = strconv.ParseInt(q.Get("marker"), 10, 64) // 0 for none
	return f, nil
}
