package ui

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// Self tells how the appliance itself is.
type Self interface {
	Appliance(ctx context.Context) (node.Appliance, error)
}

func (p *Pages) registerAppliance(r fiber.Router) {
	if p.o.Self != nil {
		r.Get("/ui/appliance", p.appliance)
	}
}

func (p *Pages) appliance(c *fiber.Ctx) error {
	ctx := c.UserContext()
	frame := p.frame(c, templates.T(ctx, "appliance.title"), "")
	a, err := p.o.Self.Appliance(ctx)
	if err != nil {
		return err
	}
	view := templates.Appliance{
		Frame: frame, At: p.past(a.At), Defects: defectsOf(ctx, a), About: p.aboutSelf(ctx, a), Calls: callsOf(ctx, a), Jobs: jobLines(a.Jobs.Counts), Database: databaseOf(ctx, a.Database),
	}
	if len(view.Defects) > 0 {
		view.Title = templates.N(ctx, "appliance.wrong", len(view.Defects)) + " – " + view.Title
	}
	if !a.Jobs.LateFrom.IsZero() {
		view.Late = templates.Fact{Name: templates.T(ctx, "appliance.jobs.late"), At: p.lasting(a.Jobs.LateFrom), Value: string(a.Jobs.Late)}
	}
	view.BMCs = bmcCounts(ctx, a.BMCs)
	for _, b := range a.BMCs.Worst {
		view.Silent = append(view.Silent, p.silentBMC(b))
	}
	if more := a.BMCs.Silent - len(a.BMCs.Worst); more > 0 {
		view.More = templates.N(ctx, "appliance.silent.more", more)
	}
	view.Contact, view.Inspector = p.inspectorOf(ctx, a.Inspector)
	for _, s := range a.Settings {
		view.Settings = append(view.Settings, factOr(ctx, "--"+s.Name, s.Value))
	}
	return render(c, fiber.StatusOK, templates.AppliancePage(view))
}

// factOr is a fact that says so where there is no value.
func factOr(ctx context.Context, name, value string) templates.Fact {
	if value == "" {
		return templates.Fact{Name: name, Value: templates.T(ctx, "appliance.nothing"), Quiet: true}
	}
	return templates.Fact{Name: name, Value: value, Mono: true}
}

func defectsOf(ctx context.Context, a node.Appliance) (all []templates.Defect) {
	for _, d := range a.Defects() {
		one := templates.Defect{Kind: d.Kind, Grave: d.Grave, Detail: d.Detail, Do: templates.T(ctx, "appliance.defect."+d.Kind+".do")}
		switch d.Kind {
		case "disk":
			one.What = templates.T(ctx, "appliance.defect.disk", bytesText(d.A), bytesText(d.B))
		case "bmcs", "streams":
			one.What = templates.T(ctx, "appliance.defect."+d.Kind, d.A, d.B)
		default:
			one.What = templates.T(ctx, "appliance.defect."+d.Kind)
		}
		all = append(all, one)
	}
	return all
}

func (p *Pages) aboutSelf(ctx context.Context, a node.Appliance) []templates.Fact {
	fact := func(key, value string) templates.Fact {
		return factOr(ctx, templates.T(ctx, "appliance.about."+key), value)
	}
	commit := a.Build.Commit
	if a.Build.Modified {
		commit = templates.T(ctx, "appliance.about.modified", commit)
	}
	all := []templates.Fact{
		fact("version", a.Build.Version), fact("commit", commit), fact("go", a.Build.Go), fact("host", a.Host),
		{Name: templates.T(ctx, "appliance.about.up"), At: p.lasting(a.StartedAt)},
		{Name: templates.T(ctx, "appliance.about.streams"), Value: templates.T(ctx, "appliance.of", a.Streams.Open, a.Streams.Limit)},
	}
	if !a.Build.Time.IsZero() {
		all = append(all, templates.Fact{Name: templates.T(ctx, "appliance.about.built"), At: p.past(a.Build.Time)})
	}
	return all
}

func databaseOf(ctx context.Context, d node.DatabaseLoad) []templates.Fact {
	name := func(key string) string { return templates.T(ctx, "appliance.database."+key) }
	all := []templates.Fact{
		{Name: name("kind"), Value: d.Kind},
		factOr(ctx, name("path"), d.Path),
		{Name: name("size"), Value: bytesText(d.Size)},
		{Name: name("wal"), Value: bytesText(d.WAL)},
		{Name: name("schema"), Value: strconv.FormatInt(d.Schema, 10)},
	}
	if d.DiskSize > 0 {
		all = append(all, templates.Fact{Name: name("disk"), Value: templates.T(ctx, "appliance.of", bytesText(d.DiskFree), bytesText(d.DiskSize))})
	}
	for _, k := range d.Kept {
		all = append(all, templates.Fact{Name: name("kept." + k.What), Value: strconv.FormatInt(k.Count, 10)})
	}
	return all
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/(1<<10), 0
	for f >= 1000 && unit < len(units)-1 {
		f, unit = f/(1<<10), unit+1
	}
	return fmt.Sprintf("%.3g %ciB", f, units[unit])
}

func callsOf(ctx context.Context, a node.Appliance) []templates.Fact {
	name := func(key string) string { return templates.T(ctx, "appliance.calls."+key) }
	c := a.BMCs.Calls
	return []templates.Fact{
		{Name: name("running"), Value: templates.T(ctx, "appliance.calls.places", c.Running, c.Limit)},
		{Name: name("waiting"), Value: strconv.Itoa(c.Waiting)},
		{Name: name("alone"), Value: strconv.Itoa(c.LeftAlone)},
	}
}

func bmcCounts(ctx context.Context, b node.BMCLoad) []templates.BMCCount {
	count := func(key, look string, n int, href string) templates.BMCCount {
		if n == 0 {
			look, href = "idle", ""
		}
		return templates.BMCCount{State: templates.State{Name: templates.T(ctx, "appliance.bmcs."+key), Look: look, Icon: templates.Icon(look)}, Count: strconv.Itoa(n), Href: href}
	}
	return []templates.BMCCount{
		count("answering", "good", b.Answering, ""), count("silent", "failed", b.Silent, "/ui?health=silent"), count("unasked", "idle", b.Unasked, ""),
	}
}

func (p *Pages) silentBMC(b node.SilentBMC) templates.SilentBMC {
	name := b.Name
	if name == "" {
		name = b.Node
	}
	n := node.Node{Extra: map[string]any{"rack": b.Place.Rack, "rack_unit": b.Place.Unit}}
	return templates.SilentBMC{Node: templates.Link{Href: nodeURL(b.Node), Text: name}, Place: place(n), Address: b.Address, Since: p.lasting(b.Since), Error: b.Error}
}

// jobLines adds the states of the queue up to what people want to know: what runs, what could, and what waits for its time.
func jobLines(counts []node.JobCount) (all []templates.JobLine) {
	type sums struct{ running, ready, later int }
	by, kinds := map[node.JobKind]*sums{}, []node.JobKind{}
	for _, c := range counts {
		s := by[c.Kind]
		if s == nil {
			s = &sums{}
			by[c.Kind], kinds = s, append(kinds, c.Kind)
		}
		switch c.State {
		case "running":
			s.running += c.Count
		case "available":
			s.ready += c.Count
		default:
			s.later += c.Count
		}
	}
	for _, k := range kinds {
		all = append(all, templates.JobLine{Kind: string(k), Running: strconv.Itoa(by[k].running), Ready: strconv.Itoa(by[k].ready), Later: strconv.Itoa(by[k].later)})
	}
	return all
}

func (p *Pages) inspectorOf(ctx context.Context, i node.InspectorContact) (templates.State, []templates.Fact) {
	state := func(key, look string) templates.State {
		return templates.State{Name: templates.T(ctx, "appliance.inspector."+key), Look: look, Icon: templates.Icon(look)}
	}
	name := func(key string) string { return templates.T(ctx, "appliance.inspector."+key) }
	address := factOr(ctx, name("address"), i.Address)
	if !i.External {
		if i.Address == "" {
			return state("unserved", "good"), nil
		}
		return state("embedded", "good"), []templates.Fact{address}
	}
	all := []templates.Fact{address}
	if !i.Answered.IsZero() {
		all = append(all, templates.Fact{Name: name("answered"), At: p.past(i.Answered)})
	}
	switch {
	case !i.Failed.IsZero():
		all = append(all, templates.Fact{Name: name("failed"), At: p.past(i.Failed), Value: i.Error})
		return state("silent", "failed"), all
	case i.Answered.IsZero():
		return state("unasked", "idle"), all
	}
	return state("answers", "good"), all
}
