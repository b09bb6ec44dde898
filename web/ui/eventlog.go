package ui

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// logSteps are how many entries of a log are shown, and how many more.
var logSteps = []int{20, 100, 500, 1000}

// entries is how many entries of the log the address asks for.
func entries(c *fiber.Ctx) int {
	wanted, err := strconv.Atoi(c.Query("entries"))
	if err != nil || wanted < 1 {
		return logSteps[0]
	}
	return min(wanted, logSteps[len(logSteps)-1])
}

func (p *Pages) eventLog(ctx context.Context, a asked) (told, error) {
	var t told
	if a.entries != logSteps[0] {
		t.again = fmt.Sprintf("?entries=%d", a.entries)
	}
	found, err := p.o.Conductor.EventLog(ctx, a.node.UUID, a.entries+1) // one more tells whether there are more
	if err != nil {
		return t, err
	}
	var l templates.EventLog
	if len(found) > a.entries {
		found = found[:a.entries]
		l.Cut = templates.CutLog(ctx, a.entries)
		for _, step := range logSteps {
			if step > a.entries {
				l.More, l.MoreText, l.Cut = fmt.Sprintf("%s?entries=%d", partURL(a.node, "log"), step), templates.MoreEntries(ctx, step), ""
				break
			}
		}
	}
	for _, e := range found {
		l.Lines = append(l.Lines, p.logLine(ctx, e))
	}
	t.body = templates.EventLogOf(l, a.alone)
	if a.act && len(found) > 0 {
		t.actions = []templates.Action{{
			ID: "clear-log", Label: templates.T(ctx, "log.clear"), Names: a.node.Label(), Danger: true, Confirm: nodeURL(a.node.UUID) + "/log/clear?back=" + a.back(),
		}}
	}
	return t, nil
}

func (p *Pages) logLine(ctx context.Context, e node.LogEntry) templates.LogLine {
	l := templates.LogLine{At: p.past(e.At), Stamp: templates.T(ctx, "log.notime"), Message: e.Message, Sensor: e.Sensor}
	if !e.At.IsZero() {
		l.Stamp = e.At.UTC().Format("2006-01-02 15:04:05")
	}
	if e.Severity == node.HealthWarning || e.Severity == node.HealthCritical {
		l.State = healthOf(ctx, e.Severity)
	}
	if l.Message == "" {
		l.Message = e.ID
	}
	return l
}

func (p *Pages) confirmClear(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	return p.asksBack(c, templates.Confirm{
		Question: templates.ClearQuestion(c.UserContext(), n.Label(), placeWords(c.UserContext(), n)), Consequence: templates.T(c.UserContext(), "log.clear.effect"),
		Post: nodeURL(n.UUID) + "/log/clear", Yes: templates.T(c.UserContext(), "log.clear"), No: templates.T(c.UserContext(), "log.clear.no"),
	}, partURL(n, "log"))
}

func (p *Pages) clear(c *fiber.Ctx) error {
	return p.order(c, templates.T(c.UserContext(), "log.clear"), "log-cleared", partNamed("log"), func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.ClearEventLog(ctx, actor, n.UUID)
	})
}
