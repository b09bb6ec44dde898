package ui

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
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
	frame.Title = templates.T(c.UserContext(), "node.title", n.Label(), string(n.ProvisionState))
	frame.Events = "/ui/events?view=node&node=" + n.UUID
	view, err := p.nodeView(c.UserContext(), n, mayAct(c))
	if err != nil {
		return err
	}
	view.Frame = frame
	user, _ := web.User(c)
	view.BMC = partOf(c.UserContext(), n, part{}, false)
	view.API, view.Curl = "/v1/nodes/"+n.UUID, curls(p.apiURL(c), user, n)
	return render(c, fiber.StatusOK, templates.NodePage(view))
}

// nodeView is everything on a node's page that changes while somebody looks.
func (p *Pages) nodeView(ctx context.Context, n node.Node, act bool) (templates.Node, error) {
	v := p.nodeHead(ctx, n)
	if act {
		p.nodeActions(ctx, n, &v)
	}
	for _, fill := range []func(context.Context, node.Node, *templates.Node) error{p.fillPorts, p.fillAttempts, p.fillLatest, p.fillHistory, p.fillInventory} {
		if err := fill(ctx, n, &v); err != nil {
			return v, err
		}
	}
	return v, nil
}

// nodeHead is what the node itself tells.
func (p *Pages) nodeHead(ctx context.Context, n node.Node) templates.Node {
	v := templates.Node{
		UUID: n.UUID, Name: n.Label(), Place: place(n), State: p.stateOf(n), Sentence: templates.StateSentence(ctx, n.ProvisionState),
		InMaintenance: n.Maintenance, Maintenance: n.MaintenanceReason, Power: p.powerOf(ctx, n), Error: n.LastError, Facts: nodeFacts(ctx, n), BMCError: n.BMCError,
	}
	if n.Health != "" {
		v.Health, v.HealthSince = healthOf(ctx, n.Health), p.lasting(n.HealthAt)
	}
	if rack := n.Location().Rack; rack != "" {
		v.PlaceHref = rackURL(rack)
	}
	if holder := heldBy(n); holder != "" {
		v.Held = templates.T(ctx, "node.heldby", holder)
		if n.TargetPowerState != "" && n.PowerAsked != "" {
			v.Held, v.HeldSince = templates.T(ctx, "node.heldfor", holder, n.PowerAsked), p.past(n.PowerAskedAt)
		}
	}
	if n.Reserved() {
		fact := templates.Fact{Name: templates.T(ctx, "node.held"), Value: templates.T(ctx, "node.heldwhy", n.Reservation)}
		if templates.Group(n.ProvisionState) == templates.GroupWorking {
			fact.At = p.past(n.ProvisionUpdatedAt)
		} else {
			fact.At = v.HeldSince
		}
		v.Facts = append([]templates.Fact{fact}, v.Facts...)
	}
	if !n.BMCUnreachableSince.IsZero() {
		v.Silent, v.SilentSince, v.Power.Silent = v.Power.Silent, p.since(n.BMCUnreachableSince), templates.Time{}
	}
	if n.ProvisionState == node.InspectWait && p.o.InspectTimeout > 0 {
		v.Deadline = p.coming(n.ProvisionUpdatedAt.Add(p.o.InspectTimeout))
	}
	return v
}

// nodeActions are the buttons that make sense now, and of the others why not.
func (p *Pages) nodeActions(ctx context.Context, n node.Node, v *templates.Node) {
	v.CanAct = true
	for _, verb := range templates.Verbs(n.ProvisionState) {
		v.Actions = append(v.Actions, verbAction(ctx, n, verb, "node"))
	}
	for _, verb := range templates.MissingVerbs(n.ProvisionState) {
		v.NotNow = append(v.NotNow, templates.Refusal{Label: templates.VerbLabel(ctx, n.ProvisionState, verb), Reason: templates.WhyNot(ctx, n.ProvisionState, verb)})
	}
	v.PowerActions, v.NotNow = powerActions(ctx, n, v.NotNow)
	where := templates.T(ctx, "node.place")
	if v.Place != "" {
		where = templates.T(ctx, "node.move")
	}
	v.Keeping = []templates.Action{{ID: "place-" + n.UUID, Label: where, Names: n.Label(), Confirm: nodeURL(n.UUID) + "/place"}, maintenanceAction(ctx, n)}
	if why := whyNotRemove(ctx, n); why != "" {
		v.NotNow = append(v.NotNow, templates.Refusal{Label: templates.T(ctx, "remove.label"), Reason: why})
	} else {
		v.Keeping = append(v.Keeping, removeAction(ctx, n))
	}
	if n.ProvisionState.PatchAllowed() || n.Maintenance {
		v.Edit = editURL(n)
	}
}

func (p *Pages) fillPorts(ctx context.Context, n node.Node, v *templates.Node) error {
	ports, err := p.o.Store.Ports(ctx, node.PortFilter{NodeUUID: n.UUID})
	for _, port := range ports {
		v.Ports = append(v.Ports, templates.PortLine{
			Address: port.Address, UUID: port.UUID, Network: port.PhysicalNetwork, PXE: port.PXEEnabled, Switch: neighbourWords(ctx, linkOf(port)),
		})
	}
	return err
}

// fillLatest adds how the latest inspection goes or went, what its results are against those before, and what to do where
// something is wrong.
func (p *Pages) fillLatest(ctx context.Context, n node.Node, v *templates.Node) error {
	d := diagnosis{node: n}
	if n.AttemptID != "" {
		a, err := p.attempt(ctx, n.AttemptID)
		if err != nil {
			return err
		}
		if a != nil {
			if err := p.fillLatestAttempt(ctx, *a, &d, v); err != nil {
				return err
			}
		}
	}
	v.Hints = p.hintsFor(ctx, d, v.CanAct, "node")
	var err error
	v.Compared, v.Inspections, err = p.lastTwo(ctx, n)
	return err
}

func (p *Pages) fillLatestAttempt(ctx context.Context, a node.Attempt, d *diagnosis, v *templates.Node) error {
	n := d.node
	signs, advice, err := p.o.Conductor.HowFar(ctx, a)
	if err != nil {
		return err
	}
	d.attempt, d.signs = &a, signs
	v.Divergence, v.Power.Problem = a.Divergence, powerProblem(ctx, n, a)
	running := n.ProvisionState == node.InspectWait || n.ProvisionState == node.Inspecting
	if n.ProvisionState == node.Inspecting {
		v.Step = a.Step
	}
	if running {
		v.HowFar = p.lastSign(ctx, a, signs, advice)
		v.HowFar.Href = attemptURL(n, a.ID)
	}
	if v.CanAct {
		v.Reapply = reapplyAction(ctx, n, a, "node")
	}
	v.Signs, v.SignsHref = p.timeline(ctx, a, signs), attemptURL(n, a.ID)
	v.SignsOpen = running || n.ProvisionState == node.InspectFailed
	return nil
}

func (p *Pages) fillInventory(ctx context.Context, n node.Node, v *templates.Node) error {
	i, err := p.o.Store.Inventory(ctx, n.UUID)
	if none := (*node.NotFound)(nil); errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	cables := map[string]string{}
	for _, port := range v.Ports {
		cables[port.Address] = port.Switch
	}
	if v.Inventory = p.inventoryView(ctx, i, cables); v.Inventory == nil {
		return nil
	}
	for at, port := range v.Ports { // what the switch said counts where the port itself knows nothing
		heard := slices.IndexFunc(v.Inventory.NICs, func(n templates.NICLine) bool { return strings.EqualFold(n.MAC, port.Address) })
		if port.Switch == "" && heard >= 0 {
			v.Ports[at].Switch = v.Inventory.NICs[heard].Switch
		}
	}
	return nil
}

func nodeFacts(ctx context.Context, n node.Node) []templates.Fact {
	var out []templates.Fact
	add := func(name, value string, mono bool) {
		if value != "" {
			out = append(out, templates.Fact{Name: name, Value: value, Mono: mono})
		}
	}
	add(templates.T(ctx, "node.fact.driver"), n.Driver, false)
	add(templates.T(ctx, "node.fact.inspect"), n.Interfaces.Inspect, false)
	if n.Driver != node.DriverFake {
		address := bmcAddress(n)
		if add(templates.T(ctx, "node.fact.bmc"), address, true); address == "" {
			out = append(out, templates.Fact{Name: templates.T(ctx, "node.fact.bmc"), Value: templates.T(ctx, "node.fact.unset"), Quiet: true})
		}
	}
	add(templates.T(ctx, "node.fact.description"), n.Description, false)
	add(templates.T(ctx, "node.fact.resource-class"), n.ResourceClass, false)
	add(templates.T(ctx, "node.fact.owner"), n.Owner, false)
	add(templates.T(ctx, "node.fact.lessee"), n.Lessee, false)
	add(templates.T(ctx, "node.fact.instance"), n.InstanceUUID, true)
	add(templates.T(ctx, "node.fact.conductor"), n.Conductor, false)
	for _, key := range []string{"cpu_arch", "cpus", "memory_mb", "local_gb", "capabilities"} {
		text, _ := node.Text(n.Properties[key])
		add(key, text, true)
	}
	if !n.CreatedAt.IsZero() {
		add(templates.T(ctx, "node.fact.enrolled"), n.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"), false)
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
