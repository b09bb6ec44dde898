package ui

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

const (
	attemptsShown = 10
	historyShown  = 50
)

func (p *Pages) node(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	frame := p.frame(c, "", "")
	n, err := p.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	frame.Title = n.Label() + " – " + string(n.ProvisionState)
	frame.Events = "/ui/events?view=node&node=" + n.UUID
	view, err := p.nodeView(c.UserContext(), n, mayAct(c))
	if err != nil {
		return err
	}
	view.Frame = frame
	user, _ := web.User(c)
	view.BMC = partOf(n, part{}, false)
	view.Curl = curls(p.apiURL(c), user, n)
	return render(c, fiber.StatusOK, templates.NodePage(view))
}

// nodeView is everything on a node's page.
func (p *Pages) nodeView(ctx context.Context, n node.Node, act bool) (templates.Node, error) {
	v := templates.Node{
		UUID: n.UUID, Name: n.Label(), Place: place(n), State: p.stateOf(n), Sentence: templates.StateSentence(n.ProvisionState),
		Held: heldBy(n), InMaintenance: n.Maintenance, Maintenance: n.MaintenanceReason, Power: p.powerOf(n), Error: n.LastError, CanAct: act,
		Facts: nodeFacts(n), BMCError: n.BMCError,
	}
	if !n.BMCUnreachableSince.IsZero() {
		v.Silent, v.SilentSince, v.Power.Silent = v.Power.Silent, p.since(n.BMCUnreachableSince), templates.Time{}
	}
	if n.ProvisionState == node.InspectWait && p.o.InspectTimeout > 0 {
		v.Deadline = p.coming(n.ProvisionUpdatedAt.Add(p.o.InspectTimeout))
	}
	if act {
		for _, verb := range templates.Verbs(n.ProvisionState) {
			v.Actions = append(v.Actions, verbAction(n, verb, "node"))
		}
		for _, verb := range templates.MissingVerbs(n.ProvisionState) {
			v.NotNow = append(v.NotNow, templates.Refusal{Label: templates.VerbLabel(n.ProvisionState, verb), Reason: templates.WhyNot(n.ProvisionState, verb)})
		}
		v.PowerActions, v.NotNow = powerActions(n, v.NotNow)
	}
	ports, err := p.o.Store.Ports(ctx, node.PortFilter{NodeUUID: n.UUID})
	if err != nil {
		return v, err
	}
	for _, port := range ports {
		v.Ports = append(v.Ports, templates.PortLine{Address: port.Address, UUID: port.UUID, Network: port.PhysicalNetwork, PXE: port.PXEEnabled})
	}
	attempts, err := p.o.Store.Attempts(ctx, node.RunFilter{NodeUUID: n.UUID, Limit: attemptsShown})
	if err != nil {
		return v, err
	}
	for _, a := range attempts {
		v.Attempts = append(v.Attempts, p.attemptLine(n, a))
		if a.ID == n.AttemptID {
			v.Divergence = a.Divergence
			v.Power.Problem = powerProblem(n, a)
			if n.ProvisionState == node.Inspecting {
				v.Step = a.Step
			}
			if act {
				v.Reapply = reapplyAction(n, a, "node")
			}
		}
	}
	if v.HowFar, err = p.howFar(ctx, n); err != nil {
		return v, err
	}
	if v.Compared, v.Inspections, err = p.lastTwo(ctx, n); err != nil {
		return v, err
	}
	history, err := p.o.Store.History(ctx, n.UUID, node.Page{Descending: true, Limit: historyShown})
	if err != nil {
		return v, err
	}
	for _, h := range history {
		v.History = append(v.History, p.historyLine(h))
	}
	inventory, err := p.o.Store.Inventory(ctx, n.UUID)
	var none *node.NotFound
	if errors.As(err, &none) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	v.Inventory = p.inventoryView(inventory)
	return v, nil
}

func nodeFacts(n node.Node) []templates.Fact {
	var out []templates.Fact
	add := func(name, value string, mono bool) {
		if value != "" {
			out = append(out, templates.Fact{Name: name, Value: value, Mono: mono})
		}
	}
	add("Driver", n.Driver, false)
	add("Inspect interface", n.Interfaces.Inspect, false)
	add("BMC", bmcAddress(n), true)
	add("Description", n.Description, false)
	add("Resource class", n.ResourceClass, false)
	add("Owner", n.Owner, false)
	add("Lessee", n.Lessee, false)
	add("Instance", n.InstanceUUID, true)
	add("Conductor", n.Conductor, false)
	for _, key := range []string{"cpu_arch", "cpus", "memory_mb", "local_gb", "capabilities"} {
		text, _ := node.Text(n.Properties[key])
		add(key, text, true)
	}
	if !n.CreatedAt.IsZero() {
		add("Enrolled", n.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"), false)
	}
	return out
}

// bmcAddress is where the BMC is, without a user or password that somebody may have written into the URL.
func bmcAddress(n node.Node) string {
	address, _ := node.Text(n.DriverInfo["redfish_address"])
	if address == "" {
		address, _ = node.Text(n.DriverInfo["ipmi_address"])
	}
	if !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return node.Mask
	}
	u.User = nil
	return u.String()
}

func (p *Pages) attemptLine(n node.Node, a node.Attempt) templates.AttemptLine {
	l := templates.AttemptLine{
		ID: a.ID, Href: attemptURL(n, a.ID), Interface: a.Interface, Started: p.past(a.StartedAt), StartedBy: a.Started.Name(), Reason: a.Reason, Error: a.Error, Notes: a.Notes,
		CleanUp: templates.CleanUpText(a.CleanUp, a.CleanUpTries, a.CleanUpError, a.KeepPowerOn),
	}
	if l.Outcome = string(a.Outcome); l.Outcome == "" {
		l.Outcome = string(a.State)
	}
	l.Look, l.Icon = outcomeLook(a)
	if a.Proof == node.NotProven {
		l.Notes = append([]string{templates.TextUnprovenNote}, l.Notes...)
	}
	if a.State == node.RunReapplying {
		l.Notes = append([]string{templates.RunSentence(a)}, l.Notes...)
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

func (p *Pages) historyLine(h node.History) templates.HistoryLine {
	l := templates.HistoryLine{At: p.past(h.At), Event: h.Event, Actor: h.Actor.Name(), Reason: h.Reason, Type: h.Type, Bad: h.Severity == node.SeverityError}
	if h.Actor.Source != "" && h.Actor.Source != node.SourceSystem {
		l.Actor += " (" + string(h.Actor.Source) + ")"
	}
	if h.Count > 1 {
		l.Times = strconv.Itoa(h.Count) + " times"
	}
	return l
}

// curls show how a program does what the page does.
func curls(base, user string, n node.Node) []string {
	sign := ""
	if user != "" {
		sign = "-u " + shellQuote(user) + " "
	}
	call := func(how, path string) string {
		return "curl " + sign + "-H 'X-OpenStack-Ironic-API-Version: 1.41' " + how + base + path + n.UUID
	}
	out := []string{call("", "/v1/nodes/")}
	for _, v := range []node.Event{node.Inspect, node.Abort} {
		out = append(out, call(fmt.Sprintf("-X PUT -H 'Content-Type: application/json' -d '{\"target\":\"%s\"}' \\\n  ", v), "/v1/nodes/")+"/states/provision")
	}
	return append(out, call("", "/cagenut/v1/nodes/")+"/attempts", call("", "/cagenut/v1/nodes/")+"/health")
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
