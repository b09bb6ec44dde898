package ui

import (
	"bufio"
	"context"
	"encoding/csv"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// AuditTrail is the record of who asked for what.
type AuditTrail interface {
	// AuditTrail lists lines, the newest first.
	AuditTrail(ctx context.Context, f node.AuditFilter) ([]node.AuditLine, error)
}

// auditPage is how many lines a page holds, auditChunk how many are read at once for a file.
const (
	auditPage  = 100
	auditChunk = 1000
	auditTime  = 2 * time.Minute // of writing a file
)

func (p *Pages) registerAudit(r fiber.Router) {
	r.Get("/ui/audit", p.audit)
	r.Get("/ui/audit.csv", p.auditFile)
}

// mayAudit refuses who may not read what others did.
func (p *Pages) mayAudit(c *fiber.Ctx) error {
	if mayAct(c) {
		return nil
	}
	return fiber.NewError(fiber.StatusForbidden, templates.T(c.UserContext(), "audit.forbidden"))
}

// fieldTime is a time as a field for date and time writes it.
const fieldTime = "2006-01-02T15:04"

// auditQuery is the filter as the address holds it, with the first thing that is wrong with it.
func auditQuery(c *fiber.Ctx) (f node.AuditFilter, wrong string) {
	f = node.AuditFilter{
		User: cut(c.Query("user"), 255), Action: cut(c.Query("action"), 255), Node: cut(c.Query("node"), 255), Search: cut(c.Query("q"), 200),
		Source: node.Source(c.Query("source")), Limit: auditPage + 1,
	}
	switch f.Source {
	case "", node.SourceAPI, node.SourceUI, node.SourceRamdisk, node.SourceSystem:
	default:
		f.Source = ""
	}
	if said := c.Query("result"); said == "accepted" || said == "refused" {
		refused := said == "refused"
		f.Refused = &refused
	}
	f.From, wrong = auditMoment(c, "from", wrong)
	f.To, wrong = auditMoment(c, "to", wrong)
	f.Before, _ = strconv.ParseInt(c.Query("before"), 10, 64) // 0: from the newest on
	return f, wrong
}

// auditMoment is a time of the address, in UTC: with seconds, without, or a day alone.
func auditMoment(c *fiber.Ctx, name, wrong string) (time.Time, string) {
	said := cut(c.Query(name), 40)
	if said == "" {
		return time.Time{}, wrong
	}
	for _, layout := range []string{fieldTime, "2006-01-02T15:04:05", time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, said); err == nil {
			return t.UTC(), wrong
		}
	}
	if wrong == "" {
		wrong = templates.T(c.UserContext(), "audit.badtime", said)
	}
	return time.Time{}, wrong
}

// auditAddress is the address of the lines that a filter lets through.
func auditAddress(path string, f node.AuditFilter) string {
	v := url.Values{}
	moment := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return strings.TrimSuffix(t.Format("2006-01-02T15:04:05"), ":00")
	}
	result, before := "", ""
	if f.Refused != nil {
		result = map[bool]string{true: "refused", false: "accepted"}[*f.Refused]
	}
	if f.Before > 0 {
		before = strconv.FormatInt(f.Before, 10)
	}
	for key, value := range map[string]string{
		"q": f.Search, "user": f.User, "action": f.Action, "node": f.Node, "source": string(f.Source), "result": result,
		"from": moment(f.From), "to": moment(f.To), "before": before,
	} {
		if value != "" {
			v.Set(key, value)
		}
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

func (p *Pages) audit(c *fiber.Ctx) error {
	if err := p.mayAudit(c); err != nil {
		return err
	}
	ctx := c.UserContext()
	f, wrong := auditQuery(c)
	view := templates.Audit{Frame: p.frame(c, templates.T(ctx, "audit.title"), ""), Problem: wrong, Reload: auditAddress("/ui/audit", f)}
	found, err := p.o.Store.AuditTrail(ctx, f)
	if err != nil {
		return err
	}
	all := f
	all.Before = 0
	view.CSV, view.Filtered = auditAddress("/ui/audit.csv", all), auditAddress("", all) != ""
	if f.Before > 0 {
		view.First = auditAddress("/ui/audit", all)
	}
	if len(found) > auditPage {
		found = found[:auditPage]
		next := f
		next.Before = found[auditPage-1].ID
		view.Next = auditAddress("/ui/audit", next)
	}
	for _, l := range found {
		view.Rows = append(view.Rows, p.auditRow(l))
	}
	view.Form = auditForm(ctx, f)
	return render(c, fiber.StatusOK, templates.AuditPage(view))
}

func auditForm(ctx context.Context, f node.AuditFilter) templates.AuditForm {
	field := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(fieldTime)
	}
	form := templates.AuditForm{User: f.User, Action: f.Action, Node: f.Node, Search: f.Search, From: field(f.From), To: field(f.To)}
	rest := f
	rest.Search, rest.Before = "", 0
	form.Narrow = auditAddress("", rest) != ""
	form.Sources = []templates.Option{{Label: templates.T(ctx, "audit.filter.any")}}
	for _, s := range []node.Source{node.SourceUI, node.SourceAPI, node.SourceRamdisk, node.SourceSystem} {
		form.Sources = append(form.Sources, templates.Option{Value: string(s), Label: templates.T(ctx, "audit.source."+string(s)), Selected: s == f.Source})
	}
	form.Results = []templates.Option{
		{Label: templates.T(ctx, "audit.filter.any")},
		{Value: "accepted", Label: templates.T(ctx, "audit.accepted"), Selected: f.Refused != nil && !*f.Refused},
		{Value: "refused", Label: templates.T(ctx, "audit.refused"), Selected: f.Refused != nil && *f.Refused},
	}
	return form
}

func (p *Pages) auditRow(l node.AuditLine) templates.AuditRow {
	r := templates.AuditRow{
		ID: strconv.FormatInt(l.ID, 10), At: p.past(l.At), Who: l.Actor.Name(), Source: string(l.Actor.Source), Address: l.Actor.Address, Action: l.Action,
		Accepted: l.Result == node.AuditAccepted, Result: l.Result, Reason: l.Reason, Request: l.Actor.RequestID,
	}
	if r.Source == "" {
		r.Source = string(node.SourceSystem)
	}
	r.Node.Text = l.NodeUUID
	if l.NodeKnown {
		if l.NodeName != "" {
			r.Node.Text = l.NodeName
		}
		r.Node.Href = nodeURL(l.NodeUUID)
		if l.AttemptID != "" {
			r.Attempt = nodeURL(l.NodeUUID) + "/attempts/" + url.PathEscape(l.AttemptID)
		}
	}
	return r
}

// auditFile sends the lines that a filter lets through, all of them, as a file that a spreadsheet reads.
func (p *Pages) auditFile(c *fiber.Ctx) error {
	if err := p.mayAudit(c); err != nil {
		return err
	}
	f, wrong := auditQuery(c)
	if wrong != "" {
		return fiber.NewError(fiber.StatusBadRequest, wrong)
	}
	f.Limit = auditChunk
	// The first lines are read before the answer begins, so that a failure is an answer of its own.
	first, err := p.o.Store.AuditTrail(c.UserContext(), f)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="audit.csv"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
	ctx := context.WithoutCancel(c.UserContext()) // that of the request ends with this handler
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		ctx, cancel := context.WithTimeout(ctx, auditTime)
		defer cancel()
		p.writeAudit(ctx, csv.NewWriter(w), f, first)
	})
	return nil
}

// writeAudit writes chunk after chunk. It stops at the first that cannot be read or sent: a file without its end.
func (p *Pages) writeAudit(ctx context.Context, w *csv.Writer, f node.AuditFilter, chunk []node.AuditLine) {
	line := []string{"id", "time", "user", "source", "address", "action", "node", "node_name", "attempt", "result", "reason", "request"}
	for err := w.Write(line); err == nil; {
		for _, l := range chunk {
			line = []string{
				strconv.FormatInt(l.ID, 10), l.At.UTC().Format(time.RFC3339Nano), l.Actor.User, string(l.Actor.Source), l.Actor.Address, l.Action,
				l.NodeUUID, l.NodeName, l.AttemptID, l.Result, l.Reason, l.Actor.RequestID,
			}
			for i := range line {
				line[i] = harmless(line[i])
			}
			if err = w.Write(line); err != nil {
				return
			}
		}
		if w.Flush(); w.Error() != nil || len(chunk) < f.Limit {
			return
		}
		f.Before = chunk[len(chunk)-1].ID
		chunk, err = p.o.Store.AuditTrail(ctx, f)
	}
}

// harmless is a cell that no spreadsheet takes for a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
