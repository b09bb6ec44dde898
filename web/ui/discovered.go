package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// Discovery is the waiting room. A machine that is not there is *node.NotFound.
type Discovery interface {
	DiscoveredMachines(ctx context.Context, f node.DiscoveredFilter) ([]node.Discovered, error)
	DiscoveredMachine(ctx context.Context, uuid string) (node.Discovered, error)
	DiscoveredReport(ctx context.Context, uuid string) (node.DiscoveredReport, error)
	CountDiscovered(ctx context.Context) (map[node.DiscoveredState]int, error)
	// NodesBehind lists the nodes whose BMC has one of the addresses.
	NodesBehind(ctx context.Context, addresses []string) ([]node.Node, error)
	// AcceptMachine makes a node of a machine; *node.Conflict where a hook or a rule refuses it.
	AcceptMachine(ctx context.Context, actor node.Actor, uuid string, req conductor.AcceptRequest) (node.Node, error)
	DecideOnMachine(ctx context.Context, actor node.Actor, uuid string, state node.DiscoveredState) error
}

const (
	machinesURL = "/ui/discovered"
	// inventoryShown is how large the inventory of a machine may be that is shown in full, in bytes; that of a usual server is
	// some ten thousand.
	inventoryShown = 1 << 20
)

func machineURL(uuid string) string { return machinesURL + "/" + uuid }

func (p *Pages) registerDiscovered(r fiber.Router) {
	if p.o.Discovery == nil {
		return
	}
	r.Get(machinesURL, p.machines)
	r.Get(machinesURL+"/:machine", p.machine)
	r.Post(machinesURL+"/:machine/accept", p.acceptMachine)
	for _, d := range decisions {
		r.Post(machinesURL+"/:machine/"+d.word, p.decide(d))
	}
}

// decision is what can be said about a machine beside accepting it.
type decision struct {
	word  string // in the address, and in the keys of its texts
	state node.DiscoveredState
	done  string
}

var decisions = []decision{
	{"ignore", node.DiscoveredIgnored, "machine-ignored"},
	{"block", node.DiscoveredBlocked, "machine-blocked"},
	{"restore", node.DiscoveredNew, "machine-restored"},
}

// newMachines is how many machines wait for a decision; "" where discovery is off, or nobody knows.
func (p *Pages) newMachines(ctx context.Context) string {
	if !p.o.Discovering || p.o.Discovery == nil {
		return ""
	}
	counts, err := p.o.Discovery.CountDiscovered(ctx)
	if err != nil {
		return ""
	}
	return strconv.Itoa(counts[node.DiscoveredNew])
}

// machines is the waiting room: ?state= is what was decided, ?after= the last machine of the page before.
func (p *Pages) machines(c *fiber.Ctx) error {
	ctx, state := c.UserContext(), node.DiscoveredState(c.Query("state"))
	if !slices.Contains(node.DiscoveredStates(), state) {
		state = node.DiscoveredNew
	}
	m := templates.Machines{Frame: p.frame(c, templates.T(ctx, "discovered.title"), "/ui/events?view=discovered"), Off: !p.o.Discovering, State: templates.DiscoveredLabel(ctx, state)}
	counts, err := p.o.Discovery.CountDiscovered(ctx)
	if err != nil {
		return err
	}
	for _, s := range node.DiscoveredStates() {
		m.Tabs = append(m.Tabs, templates.Tab{Label: templates.DiscoveredLabel(ctx, s), Count: strconv.Itoa(counts[s]), Href: machinesIn(s, ""), Current: s == state})
	}
	after := c.Query("after")
	found, err := p.o.Discovery.DiscoveredMachines(ctx, node.DiscoveredFilter{States: []node.DiscoveredState{state}, Marker: after, Limit: pageSize + 1})
	var gone *node.NotFound
	if errors.As(err, &gone) { // the last one of the page before was decided about
		return c.Redirect(machinesIn(state, ""), fiber.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	if after != "" {
		m.First = machinesIn(state, "")
	}
	if len(found) > pageSize {
		found = found[:pageSize]
		m.Next = machinesIn(state, found[pageSize-1].UUID)
	}
	for _, d := range found {
		m.Rows = append(m.Rows, p.machineRow(ctx, d))
	}
	if len(found) == 0 {
		m.Empty = templates.DiscoveredEmpty(ctx, state)
	}
	return render(c, fiber.StatusOK, templates.MachinesPage(m))
}

func machinesIn(s node.DiscoveredState, after string) string {
	q := url.Values{}
	if s != node.DiscoveredNew {
		q.Set("state", string(s))
	}
	if after != "" {
		q.Set("after", after)
	}
	if len(q) == 0 {
		return machinesURL
	}
	return machinesURL + "?" + q.Encode()
}

func (p *Pages) machineRow(ctx context.Context, d node.Discovered) templates.MachineRow {
	m := d.Machine
	return templates.MachineRow{
		UUID: d.UUID, Href: machineURL(d.UUID), Label: machineLabel(ctx, m), Serial: m.Serial, State: templates.DiscoveredChip(ctx, d.State), MACs: firstOf(m.MACs), BMC: firstOf(m.BMCAddresses),
		Hardware: machineWords(ctx, m), Last: p.past(d.LastAt), Times: templates.ReportTimes(ctx, d.Times), From: d.Address,
	}
}

func machineLabel(ctx context.Context, m node.Machine) string {
	return cmp.Or(strings.TrimSpace(m.Manufacturer+" "+m.Product), templates.T(ctx, "discovered.noname"))
}

// firstOf is the first of a list, and how many more there are.
func firstOf(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return fmt.Sprintf("%s +%d", list[0], len(list)-1)
}

// machineWords is the hardware in one line.
func machineWords(ctx context.Context, m node.Machine) string {
	var parts []string
	if m.CPUs > 0 {
		parts = append(parts, templates.N(ctx, "discovered.cpus", int(m.CPUs)))
	}
	if m.MemoryMB > 0 && m.MemoryMB < 1<<40 {
		parts = append(parts, binary(m.MemoryMB<<20))
	}
	if n := len(m.Disks); n > 0 {
		parts = append(parts, templates.N(ctx, "discovered.disks", n))
	}
	return strings.Join(append(parts, templates.N(ctx, "discovered.nics", len(m.NICs))), ", ")
}

// isMachine tells whether a notice is about a machine, of which pages of nodes show nothing.
func (p *Pages) isMachine(ctx context.Context, uuid string) bool {
	if p.o.Discovery == nil {
		return false
	}
	_, err := p.o.Discovery.DiscoveredMachine(ctx, uuid)
	return err == nil
}

// changedMachine is what a notice means for who looks at the waiting room.
func (p *Pages) changedMachine(ctx context.Context, uuid string) ([]templ.Component, error) {
	d, err := p.o.Discovery.DiscoveredMachine(ctx, uuid)
	var gone *node.NotFound
	if errors.As(err, &gone) {
		return []templ.Component{fragment(templates.MachineGone(uuid))}, nil
	}
	if err != nil {
		return nil, err
	}
	return []templ.Component{fragment(templates.MachineRowOf(p.machineRow(ctx, d)))}, nil
}

// machineOf reads the machine that the address names.
func (p *Pages) machineOf(c *fiber.Ctx) (node.Discovered, error) {
	id := c.Params("machine")
	if !node.IsUUID(id) {
		return node.Discovered{}, fiber.NewError(fiber.StatusNotFound, templates.T(c.UserContext(), "address.machine"))
	}
	return p.o.Discovery.DiscoveredMachine(c.UserContext(), id)
}

func (p *Pages) machine(c *fiber.Ctx) error {
	d, err := p.machineOf(c)
	if err != nil {
		return err
	}
	return p.showMachine(c, fiber.StatusOK, d, machineForm(d), "")
}

// showMachine draws a machine's page, with the form as it shall be and why the last one was refused.
func (p *Pages) showMachine(c *fiber.Ctx, status int, d node.Discovered, form templates.AcceptForm, failed string) error {
	ctx := c.UserContext()
	label := machineLabel(ctx, d.Machine)
	view := templates.Machine{
		Frame: p.frame(c, label, ""), UUID: d.UUID, Label: label, State: templates.DiscoveredChip(ctx, d.State), Sentence: templates.DiscoveredSentence(ctx, d.State),
		First: p.past(d.FirstAt), Last: p.past(d.LastAt), Times: templates.ReportTimes(ctx, d.Times), From: d.Address, Failed: failed, CanAct: mayAct(c), Facts: machineFacts(ctx, d.Machine),
	}
	if d.State != node.DiscoveredBlocked {
		view.Accept = &form
	}
	for _, what := range decisions {
		if what.state != d.State {
			view.Decisions = append(view.Decisions, templates.Decision{Label: templates.T(ctx, "discovered."+what.word), Effect: templates.T(ctx, "discovered."+what.word+".effect"), Post: machineURL(d.UUID) + "/" + what.word, Danger: what.state == node.DiscoveredBlocked})
		}
	}
	twins, err := p.o.Discovery.NodesBehind(ctx, d.Machine.BMCAddresses)
	if err != nil {
		return err
	}
	for _, n := range twins {
		view.Twins = append(view.Twins, templates.Link{Href: nodeURL(n.UUID), Text: n.Label()})
	}
	r, err := p.o.Discovery.DiscoveredReport(ctx, d.UUID)
	if err != nil {
		return err
	}
	var reported struct {
		Inventory json.RawMessage `json:"inventory"`
	}
	if json.Unmarshal(r.Report, &reported) == nil && len(reported.Inventory) <= inventoryShown {
		view.Inventory = p.inventoryView(ctx, node.Inventory{Inventory: reported.Inventory, PluginData: r.Report, CreatedAt: d.ReportAt}, nil)
	}
	return render(c, status, templates.MachinePage(view))
}

func machineFacts(ctx context.Context, m node.Machine) []templates.Fact {
	var facts []templates.Fact
	add := func(name, value string, mono bool) {
		if value != "" {
			facts = append(facts, templates.Fact{Name: name, Value: value, Mono: mono})
		}
	}
	add(templates.T(ctx, "discovered.system"), strings.TrimSpace(m.Manufacturer+" "+m.Product), false)
	add(templates.T(ctx, "discovered.serial"), m.Serial, true)
	add(templates.T(ctx, "discovered.hardware"), machineWords(ctx, m), false)
	add(templates.T(ctx, "discovered.bmc"), strings.Join(m.BMCAddresses, ", "), true)
	add(templates.T(ctx, "discovered.macs"), strings.Join(m.MACs, ", "), true)
	return facts
}

// machineForm is what a machine suggests.
func machineForm(d node.Discovered) templates.AcceptForm {
	driver, info := d.Machine.DriverInfo("")
	address, _ := info[addressKey(driver)].(string)
	return acceptForm(d, driver, address)
}

func acceptForm(d node.Discovered, driver, address string) templates.AcceptForm {
	f := templates.AcceptForm{Post: machineURL(d.UUID) + "/accept", ReportAt: strconv.FormatInt(d.ReportAt.UnixMicro(), 10), BMC: address}
	for _, name := range []string{node.DriverRedfish, node.DriverIPMI, node.DriverFake} {
		f.Drivers = append(f.Drivers, templates.Option{Value: name, Label: name, Selected: name == driver})
	}
	return f
}

// addressKey is where driver_info has the BMC's address; "" for a driver without one.
func addressKey(driver string) string {
	switch driver {
	case node.DriverRedfish:
		return "redfish_address"
	case node.DriverIPMI:
		return "ipmi_address"
	}
	return ""
}

// acceptMachine carries the form out. A refusal shows the page again, with everything but the password as it was typed.
func (p *Pages) acceptMachine(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	d, err := p.machineOf(c)
	if err != nil {
		return err
	}
	said := func(name string) string { return strings.TrimSpace(c.FormValue(name)) }
	form := acceptForm(d, said("driver"), said("bmc"))
	form.Name, form.User, form.NoVerify = said("name"), said("user"), c.FormValue("no_verify") == "true"
	req := conductor.AcceptRequest{Name: form.Name, Driver: said("driver"), DriverInfo: driverInfo(form, said("driver"), c.FormValue("password"))}
	if seen, err := strconv.ParseInt(c.FormValue("report_at"), 10, 64); err == nil {
		req.ReportAt = time.UnixMicro(seen)
	}
	n, err := p.o.Discovery.AcceptMachine(c.UserContext(), web.Actor(c, node.SourceUI), d.UUID, req)
	if err == nil {
		return c.Redirect(nodeURL(n.UUID)+"?done=machine-accepted", fiber.StatusSeeOther)
	}
	text, known := whyNotAccepted(err)
	if !known {
		return err
	}
	if now, err := p.machineOf(c); err == nil { // what it refuses may be that another report has come
		d = now
		form.ReportAt = strconv.FormatInt(d.ReportAt.UnixMicro(), 10)
	}
	status, _ := web.Status(err)
	return p.showMachine(c, status, d, form, text)
}

// driverInfo is what the form says of the BMC. A URL that was meant for Redfish is an address for IPMI.
func driverInfo(f templates.AcceptForm, driver, password string) map[string]any {
	info, prefix := map[string]any{}, ""
	address := f.BMC
	switch driver {
	case node.DriverRedfish:
		prefix = "redfish_"
		if f.NoVerify {
			info["redfish_verify_ca"] = false
		}
	case node.DriverIPMI:
		prefix = "ipmi_"
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			address = u.Hostname()
		}
	default:
		return info
	}
	for key, value := range map[string]string{"address": address, "username": f.User, "password": password} {
		if value != "" {
			info[prefix+key] = value
		}
	}
	return info
}

// whyNotAccepted is the sentence for people; known is false for errors that are not for readers.
func whyNotAccepted(err error) (text string, known bool) {
	var (
		conflict *node.Conflict
		invalid  *node.Invalid
		exists   *node.Exists
	)
	switch {
	case errors.As(err, &conflict):
		return ended(conflict.Text), true
	case errors.As(err, &invalid):
		return ended(invalid.Text), true
	case errors.As(err, &exists):
		return ended(exists.Text), true
	}
	return "", false
}

// decide carries out a button.
func (p *Pages) decide(what decision) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !mayAct(c) {
			return p.notAllowed(c)
		}
		d, err := p.machineOf(c)
		if err != nil {
			return err
		}
		if err := p.o.Discovery.DecideOnMachine(c.UserContext(), web.Actor(c, node.SourceUI), d.UUID, what.state); err != nil {
			return err
		}
		return c.Redirect(machineURL(d.UUID)+"?done="+what.done, fiber.StatusSeeOther)
	}
}
