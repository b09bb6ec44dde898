package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

const (
	searchURL = enrolURL + "/search"
	// findsShown is how many finds a page shows while a search runs.
	findsShown = 200
)

func (e *enrolPages) registerSearch(r fiber.Router) {
	p := e.Pages
	r.Get(searchURL, operators(p, e.searchForm))
	r.Post(searchURL, operators(p, e.beginSearch))
	r.Get(searchURL+"/:search", operators(p, e.searchPage))
	r.Post(searchURL+"/:search/cancel", operators(p, e.cancelSearch))
	r.Post(searchURL+"/:search/enrol", operators(p, e.enrolFinds))
	// A form's answer may stand at these addresses: who comes back to one finds the search.
	for _, form := range []string{"cancel", "enrol"} {
		r.Get(searchURL+"/:search/"+form, operators(p, func(c *fiber.Ctx) error {
			return c.Redirect(searchURL+"/"+c.Params("search"), fiber.StatusSeeOther)
		}))
	}
}

// searchForm leads to the newest search, or draws the form where there is none.
func (e *enrolPages) searchForm(c *fiber.Ctx) error {
	if s, err := e.o.Enrolling.Search(""); err == nil {
		return e.showSearch(c, fiber.StatusOK, &s, "", nil)
	}
	return e.showSearch(c, fiber.StatusOK, nil, "", nil)
}

func (e *enrolPages) searchPage(c *fiber.Ctx) error {
	s, err := e.o.Enrolling.Search(c.Params("search"))
	if err != nil {
		return c.Redirect(searchURL, fiber.StatusSeeOther) // only the newest ones are remembered
	}
	return e.showSearch(c, fiber.StatusOK, &s, "", nil)
}

// showSearch draws the page; failed is why the form was refused, change what was typed to enrol finds.
func (e *enrolPages) showSearch(c *fiber.Ctx, status int, s *conductor.Search, failed string, change func(*templates.SearchState)) error {
	ctx, events := c.UserContext(), ""
	if s != nil {
		events = "/ui/events?view=run&run=" + s.ID
	}
	v := templates.SearchView{
		Frame: e.frame(c, templates.T(ctx, "enrol.title"), events), Failed: failed,
		Where: e.o.SearchDefaults.Where, Redfish: e.o.SearchDefaults.Redfish, IPMI: e.o.SearchDefaults.IPMI,
	}
	if v.Redfish == "" && v.IPMI == "" {
		v.Redfish, v.IPMI = "443", "623"
	}
	if s != nil {
		v.Where, v.Redfish, v.IPMI = s.Where, portsText(s.Ports), ipmiText(s.Ports)
		now := e.searchView(ctx, *s)
		if change != nil {
			change(&now)
		}
		v.Now = &now
	}
	if c.Method() == fiber.MethodPost && c.FormValue("where") != "" {
		v.Where, v.Redfish, v.IPMI = cut(c.FormValue("where"), 2000), cut(c.FormValue("redfish"), 60), cut(c.FormValue("ipmi"), 60)
	}
	return render(c, status, templates.SearchPage(v))
}

func portsText(p node.SearchPorts) string {
	var words []string
	for _, one := range p.Redfish {
		word := strconv.Itoa(one.Port)
		if one.Plain {
			word += "/http"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func ipmiText(p node.SearchPorts) string {
	var words []string
	for _, port := range p.IPMI {
		words = append(words, strconv.Itoa(port))
	}
	return strings.Join(words, ", ")
}

func (e *enrolPages) beginSearch(c *fiber.Ctx) error {
	req := conductor.SearchRequest{Where: strings.TrimSpace(c.FormValue("where"))}
	var err error
	if len(req.Where) > 2000 {
		err = node.Invalidf("These are too many words for one search.")
	} else if req.Addresses, err = e.o.Enrolling.Addresses(req.Where); err == nil {
		if req.Ports.Redfish, err = conductor.ReadRedfishPorts(c.FormValue("redfish")); err == nil {
			req.Ports.IPMI, err = conductor.ReadIPMIPorts(c.FormValue("ipmi"))
		}
	}
	id := ""
	if err == nil {
		id, err = e.o.Enrolling.StartSearch(c.UserContext(), web.Actor(c, node.SourceUI), req)
	}
	if err == nil {
		return c.Redirect(searchURL+"/"+id, fiber.StatusSeeOther)
	}
	text, known := whyNotAccepted(err)
	if !known {
		return err
	}
	status, _ := web.Status(err)
	if s, err := e.o.Enrolling.Search(""); err == nil {
		return e.showSearch(c, status, &s, text, nil)
	}
	return e.showSearch(c, status, nil, text, nil)
}

func (e *enrolPages) cancelSearch(c *fiber.Ctx) error {
	id := c.Params("search")
	if err := e.o.Enrolling.CancelSearch(c.UserContext(), web.Actor(c, node.SourceUI), id); err != nil {
		if missing := (*node.NotFound)(nil); errors.As(err, &missing) {
			return c.Redirect(searchURL, fiber.StatusSeeOther)
		}
		return err
	}
	return c.Redirect(searchURL+"/"+id, fiber.StatusSeeOther)
}

// searchView is a search as it is drawn: with what can be chosen once it has ended.
func (e *enrolPages) searchView(ctx context.Context, s conductor.Search) templates.SearchState {
	v := templates.SearchState{
		ID: s.ID, Where: node.Shorten(s.Where, 200), By: s.By.Name(), Began: e.past(s.StartedAt), Total: s.Total, Asked: s.Asked, Running: s.EndedAt.IsZero(), Cancelled: s.Cancelled,
		Cancel: searchURL + "/" + s.ID + "/cancel", Enrol: searchURL + "/" + s.ID + "/enrol",
	}
	shown := s.Found
	if v.Running && len(shown) > findsShown {
		v.Hidden, shown = len(shown)-findsShown, shown[:findsShown]
	}
	for _, f := range shown {
		view := findView(ctx, f)
		if f.KnownAs == nil {
			v.Choosable++
			view.Chosen = true
		}
		v.Finds = append(v.Finds, view)
	}
	v.Fields = findForm{names: "bmc-{address}", first: "1", trust: "pin", prefer: node.DriverRedfish, check: true}.fields(ctx)
	return v
}

func findView(ctx context.Context, f conductor.Find) templates.SearchFind {
	v := templates.SearchFind{Key: f.Key(), Address: f.Address.String()}
	var protocols, what []string
	if r := f.Redfish; r != nil {
		protocols = append(protocols, strings.TrimSpace("Redfish "+r.Version))
		what = append(what, strings.TrimSpace(r.Vendor+" "+r.Product))
		v.Address = r.URL
		switch {
		case r.Fingerprint == "":
			v.Certificate = templates.T(ctx, "enrol.find.plain")
		case !r.Trusted:
			v.Certificate = templates.T(ctx, "enrol.find.untrusted", spelt(r.Fingerprint)[:23]+"…")
		}
	}
	if f.IPMI != nil {
		protocols = append(protocols, "IPMI "+f.IPMI.Version)
		if f.Redfish == nil && f.IPMI.Port != 623 {
			v.Address += ":" + strconv.Itoa(f.IPMI.Port)
		}
	}
	v.Protocols, v.What = strings.Join(protocols, ", "), strings.Join(what, ", ")
	if f.KnownAs != nil {
		v.Known = templates.Link{Href: nodeURL(f.KnownAs.UUID), Text: f.KnownAs.Name}
	}
	return v
}

// findForm is how finds are to be enrolled.
type findForm struct {
	names, first, rack, unit, user, trust, prefer string
	password                                      node.Secret
	kept                                          string
	check                                         bool
	problems                                      map[string]string
}

func (f findForm) fields(ctx context.Context) []templates.EnrolField {
	var prefer, trust []templates.Option
	for _, v := range []string{node.DriverRedfish, node.DriverIPMI} {
		prefer = append(prefer, templates.Option{Value: v, Label: templates.T(ctx, "enrol.prefer."+v), Selected: v == f.prefer})
	}
	for _, v := range []string{"pin", "verify", "none"} {
		trust = append(trust, templates.Option{Value: v, Label: templates.T(ctx, "enrol.trust."+v), Selected: v == f.trust})
	}
	all := []templates.EnrolField{
		{Key: "user", Kind: "text", Value: f.user, Max: 255, Complete: "off"},
		{Key: "password", Kind: "password", Max: mostPassword, Complete: "new-password", Kept: f.kept != ""},
		{Key: "prefer", Kind: "select", Options: prefer},
		{Key: "trust", Kind: "select", Options: trust},
		{Key: "names", Kind: "text", Value: f.names, Max: 100, Complete: "off", Hint: true},
		{Key: "first", Kind: "number", Value: f.first, Max: 5, Complete: "off"},
		{Key: "rack", Kind: "text", Value: f.rack, Max: 100, Complete: "off"},
		{Key: "unit", Kind: "number", Value: f.unit, Max: 3, Complete: "off"},
		{Key: "check", Kind: "check", Value: strconv.FormatBool(f.check), Max: 5},
	}
	for i := range all {
		all[i].Problem = f.problems[all[i].Key]
	}
	return all
}

// enrolFinds enrols the finds that were chosen. The same press twice finds them enrolled already.
func (e *enrolPages) enrolFinds(c *fiber.Ctx) error {
	s, err := e.o.Enrolling.Search(c.Params("search"))
	if err != nil {
		return c.Redirect(searchURL, fiber.StatusSeeOther)
	}
	f := findForm{
		names: cut(c.FormValue("names"), 100), first: cut(c.FormValue("first"), 5), rack: cut(c.FormValue("rack"), 100), unit: cut(c.FormValue("unit"), 3), user: cut(c.FormValue("user"), 255),
		trust: c.FormValue("trust"), prefer: c.FormValue("prefer"), check: c.FormValue("check") == "true", problems: map[string]string{},
	}
	f.password, f.kept = e.password(c, c.FormValue("kept"))
	chosen := chosenFinds(c)
	lines := f.lines(c.UserContext(), s, chosen)
	if len(f.problems) > 0 || len(lines) == 0 {
		failed := templates.T(c.UserContext(), "enrol.search.choosenone")
		if len(f.problems) > 0 {
			failed = templates.T(c.UserContext(), "enrol.search.problems")
		}
		return e.showSearch(c, fiber.StatusBadRequest, &s, "", func(v *templates.SearchState) {
			v.Failed, v.Fields, v.Kept = failed, f.fields(c.UserContext()), f.kept
			for i := range v.Finds {
				v.Finds[i].Chosen = chosen[v.Finds[i].Key]
			}
		})
	}
	id, err := e.o.Enrolling.EnrolMany(web.Actor(c, node.SourceUI), s.ID, lines)
	if err != nil {
		return err
	}
	e.passwords.forget(f.kept)
	return c.Redirect(runsURL+"/"+id, fiber.StatusSeeOther)
}

func chosenFinds(c *fiber.Ctx) map[string]bool {
	out := map[string]bool{}
	for _, key := range c.Request().PostArgs().PeekMulti("find") {
		out[string(key)] = true
	}
	return out
}

// lines are the enrolments of the chosen finds, in the order of their addresses; problems are noted in the form.
func (f findForm) lines(ctx context.Context, s conductor.Search, chosen map[string]bool) (out []conductor.EnrolLine) {
	first, err := strconv.Atoi(f.first)
	if f.first == "" {
		first, err = 1, nil
	}
	if err != nil || first < 0 {
		f.problems["first"] = templates.T(ctx, "enrol.problem.number")
	}
	unit := 0
	if f.unit != "" {
		if unit, err = strconv.Atoi(f.unit); err != nil || unit < 1 || unit > node.TallestRack {
			f.problems["unit"] = templates.T(ctx, "enrol.problem.unit", node.TallestRack)
		}
		if f.rack == "" {
			f.problems["rack"] = templates.T(ctx, "enrol.problem.rack")
		}
	}
	for _, find := range s.Found {
		if !chosen[find.Key()] || find.KnownAs != nil {
			continue
		}
		i, at := len(out), ""
		if unit > 0 {
			at = strconv.Itoa(unit + i)
		}
		name := fillPattern(f.names, find, first+i, f.rack, at)
		if err := node.ValidateName(name); name != "" && err != nil {
			f.problems["names"] = ended(err.Error())
		}
		out = append(out, conductor.EnrolLine{Enrolment: f.enrolment(find, name, at), Label: findView(ctx, find).Address, Find: find.Key()})
	}
	if last := unit + len(out) - 1; unit > 0 && last > node.TallestRack && f.problems["unit"] == "" {
		f.problems["unit"] = templates.T(ctx, "enrol.problem.units", len(out), last, node.TallestRack)
	}
	return out
}

func (f findForm) enrolment(find conductor.Find, name, unit string) conductor.Enrolment {
	drivers := find.Drivers()
	n := node.Node{Name: name, Driver: drivers[0], Extra: map[string]any{}}
	if slices.Contains(drivers, f.prefer) {
		n.Driver = f.prefer
	}
	n.DriverInfo = find.DriverInfo(n.Driver)
	prefix := "redfish_"
	if n.Driver == node.DriverIPMI {
		prefix = "ipmi_"
	}
	for key, v := range map[string]string{"username": f.user, "password": string(f.password)} {
		if v != "" {
			n.DriverInfo[prefix+key] = v
		}
	}
	if r := find.Redfish; n.Driver == node.DriverRedfish && r.Fingerprint != "" && !r.Trusted {
		switch f.trust {
		case "pin":
			n.DriverInfo["redfish_certificate_sha256"] = r.Fingerprint
		case "none":
			n.DriverInfo["redfish_verify_ca"] = false
		}
	}
	placeAt(n.Extra, f.rack, unit, "")
	return conductor.Enrolment{Node: n, Check: f.check}
}

// fillPattern makes a name: {address}, {n}, {nn} (two digits), {nnn}, {rack} and {unit} stand for what they say.
func fillPattern(pattern string, find conductor.Find, n int, rack, unit string) string {
	address := strings.NewReplacer(".", "-", ":", "-", "%", "-").Replace(find.Address.String())
	if r := find.Redfish; r != nil && strings.Count(r.URL, ":") > 1 && find.Address.Is4() {
		address += "-" + r.URL[strings.LastIndex(r.URL, ":")+1:] // several may be at one address
	}
	return strings.NewReplacer(
		"{address}", address, "{n}", strconv.Itoa(n), "{nn}", fmt.Sprintf("%02d", n), "{nnn}", fmt.Sprintf("%03d", n),
		"{rack}", strings.ToLower(strings.ReplaceAll(rack, " ", "-")), "{unit}", unit,
	).Replace(pattern)
}
