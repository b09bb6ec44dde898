package ui

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

const (
	importURL = enrolURL + "/import"
	runsURL   = enrolURL + "/runs"
	// goodShown is how many good lines a preview shows; the bad ones are all shown.
	goodShown = 500
)

// importList is a list between its preview and its enrolment. It is kept in memory alone, passwords and all.
type importList struct {
	mu    sync.Mutex
	lines []importLine
	all   []conductor.Enrolment // of the lines that could be read, by line
	run   string                // that was begun of it; "" before
}

func (e *enrolPages) registerImport(r fiber.Router) {
	p := e.Pages
	r.Get(importURL, operators(p, e.importForm))
	r.Post(importURL, operators(p, e.takeList))
	r.Get(importURL+"/template.csv", operators(p, e.listTemplate))
	r.Get(importURL+"/:list", operators(p, e.preview))
	r.Post(importURL+"/:list", operators(p, e.enrolList))
}

func (e *enrolPages) importForm(c *fiber.Ctx) error {
	return e.showImport(c, fiber.StatusOK, "")
}

func (e *enrolPages) showImport(c *fiber.Ctx, status int, failed string) error {
	ctx := c.UserContext()
	v := templates.ImportView{Frame: e.frame(c, templates.T(ctx, "enrol.title"), ""), Failed: failed, Most: conductor.MostEnrolled}
	for _, column := range importColumns {
		v.Columns = append(v.Columns, templates.ImportColumn{Name: column.names[0], What: templates.T(ctx, "enrol.column."+column.key)})
	}
	driver := c.FormValue("driver", node.DriverRedfish)
	v.Fields = []templates.EnrolField{
		{Key: "driver", Kind: "select", Options: driverOptions(driver)},
		{Key: "user", Kind: "text", Value: cut(c.FormValue("user"), 255), Max: 255, Complete: "off"},
		{Key: "password", Kind: "password", Max: mostPassword, Complete: "new-password"},
		{Key: "no_verify", Kind: "check", Value: c.FormValue("no_verify"), Max: 5},
	}
	return render(c, status, templates.ImportPage(v))
}

// takeList reads a list and keeps it; the preview is a page of its own, so that reloading it sends nothing again.
func (e *enrolPages) takeList(c *fiber.Ctx) error {
	body, err := listBody(c)
	if err == nil {
		var lines []importLine
		if lines, err = readList(body); err == nil {
			l := &importList{lines: lines, all: make([]conductor.Enrolment, len(lines))}
			rest := bmcSettings{user: cut(c.FormValue("user"), 255), password: c.FormValue("password"), noVerify: c.FormValue("no_verify") == "true"}
			for i := range lines {
				l.all[i] = enrolmentOf(&lines[i], c.FormValue("driver"), rest)
				delete(lines[i].values, "password") // the enrolment has it
			}
			return c.Redirect(importURL+"/"+e.lists.put(personOf(c), l), fiber.StatusSeeOther)
		}
	}
	var bad *errList
	if !errors.As(err, &bad) {
		return err
	}
	return e.showImport(c, fiber.StatusBadRequest, bad.text)
}

// listBody is the file that was sent, or else what was pasted.
func listBody(c *fiber.Ctx) ([]byte, error) {
	if len(c.Request().Body()) > listLimit+(64<<10) {
		return nil, listErrorf("The list is larger than %d MiB. Split it.", listLimit>>20)
	}
	if h, err := c.FormFile("file"); err == nil && h.Size > 0 {
		f, err := h.Open()
		if err != nil {
			return nil, listErrorf("The file cannot be read.")
		}
		defer func() { _ = f.Close() }()
		return io.ReadAll(io.LimitReader(f, listLimit+1))
	}
	if text := c.FormValue("text"); strings.TrimSpace(text) != "" {
		return []byte(text), nil
	}
	return nil, listErrorf("Choose a file, or paste a list.")
}

// enrolmentOf is what a line asks for; what is wrong with it for itself is said in the line.
func enrolmentOf(l *importLine, driver string, rest bmcSettings) conductor.Enrolment {
	get := func(key string) string { return l.values[key] }
	b := bmcSettings{
		address: get("address"), port: get("port"), user: get("user"), password: get("password"), fingerprint: get("fingerprint"), system: get("system"),
		ca: get("verify"), noVerify: rest.noVerify && get("verify") == "" && get("fingerprint") == "",
	}
	if b.user == "" {
		b.user = rest.user
	}
	if b.password == "" {
		b.password = rest.password
	}
	n := node.Node{Name: get("name"), Driver: strings.ToLower(get("driver")), Description: get("description"), Extra: map[string]any{}}
	if n.Driver == "" {
		n.Driver = driver
	}
	n.Interfaces.Inspect = get("interface")
	n.DriverInfo = b.driverInfo(n.Driver)
	placeAt(n.Extra, get("rack"), get("unit"), get("height"))
	if l.wrong == "" {
		l.wrong = wrongPlace(l.values)
	}
	if port := get("port"); l.wrong == "" && n.Driver == node.DriverRedfish && port != "" && port != "443" {
		l.wrong = "The column bmc_port is for IPMI; with Redfish the port stands in the address, such as https://192.0.2.7:8443."
	}
	return conductor.Enrolment{Node: n, MACs: splitMACs(get("macs"))}
}

// wrongPlace is what is wrong with the place that a line names.
func wrongPlace(values map[string]string) string {
	for key, name := range map[string]string{"unit": "rack_unit", "height": "rack_units"} {
		if v := values[key]; v != "" {
			if n, err := strconv.Atoi(v); err != nil || n < 1 || n > node.TallestRack {
				return name + " is no number between 1 and " + strconv.Itoa(node.TallestRack) + "."
			}
		}
	}
	if values["unit"] != "" && values["rack"] == "" {
		return "It names a unit, but no rack."
	}
	return ""
}

func (e *enrolPages) listTemplate(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="cagenut-servers.csv"`)
	return c.SendString(strings.Join(knownColumns(), ",") + "\r\n")
}

// listOf is the list that the address names; it says so where it is gone.
func (e *enrolPages) listOf(c *fiber.Ctx) (*importList, bool) {
	return e.lists.get(personOf(c), c.Params("list"))
}

// gone says that a list is not kept any more.
func (e *enrolPages) gone(c *fiber.Ctx) error {
	ctx := c.UserContext()
	return e.fail(c, fiber.StatusGone, templates.Failure{
		Headline: templates.T(ctx, "enrol.gone"), Text: templates.T(ctx, "enrol.gone.why", int(keptFor.Minutes())), Away: importURL, AwayText: templates.T(ctx, "enrol.way.many"),
	})
}

func (e *enrolPages) preview(c *fiber.Ctx) error {
	l, ok := e.listOf(c)
	if !ok {
		return e.gone(c)
	}
	ctx := c.UserContext()
	v := templates.ImportPreview{Frame: e.frame(c, templates.T(ctx, "enrol.preview.title"), ""), Post: importURL + "/" + url.PathEscape(c.Params("list")), Minutes: int(keptFor.Minutes())}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run != "" {
		v.Begun = runsURL + "/" + l.run
		return render(c, fiber.StatusOK, templates.ImportPreviewPage(v))
	}
	verdicts, err := e.verdicts(ctx, l)
	if err != nil {
		return err
	}
	for i, verdict := range verdicts {
		line := lineView(ctx, l.lines[i], l.all[i], verdict)
		if verdict.Refused != "" {
			v.Bad = append(v.Bad, line)
			continue
		}
		v.Ready++
		if len(verdict.Warnings) > 0 {
			v.Warned++
		}
		if len(v.Good) < goodShown {
			v.Good = append(v.Good, line)
		} else {
			v.More++
		}
	}
	return render(c, fiber.StatusOK, templates.ImportPreviewPage(v))
}

// verdicts are what is known of each line, also of those that cannot be read. The caller holds the lock.
func (e *enrolPages) verdicts(ctx context.Context, l *importList) ([]conductor.EnrolVerdict, error) {
	var readable []conductor.Enrolment
	for i, line := range l.lines {
		if line.wrong == "" {
			readable = append(readable, l.all[i])
		}
	}
	checked, err := e.o.Enrolling.CheckMany(ctx, readable)
	if err != nil {
		return nil, err
	}
	out := make([]conductor.EnrolVerdict, len(l.lines))
	for i, line := range l.lines {
		if line.wrong != "" {
			out[i].Refused = line.wrong
			continue
		}
		out[i], checked = checked[0], checked[1:]
	}
	return out, nil
}

func lineView(ctx context.Context, l importLine, x conductor.Enrolment, v conductor.EnrolVerdict) templates.ImportLine {
	out := templates.ImportLine{
		Number: l.number, Name: node.Shorten(x.Node.Name, 80), Driver: node.Shorten(x.Node.Driver, 40), Address: node.Shorten(l.values["address"], 120), Why: v.Refused, Warnings: v.Warnings,
		MAC: node.Shorten(firstOf(x.MACs), 40), User: x.Node.DriverInfo["redfish_username"] != nil || x.Node.DriverInfo["ipmi_username"] != nil || x.Node.Driver == node.DriverFake,
	}
	if at := x.Node.Location(); at.Rack != "" {
		out.Place = node.Shorten(placeWords(ctx, x.Node), 80)
	}
	if v.There != nil {
		out.Node = templates.Link{Href: nodeURL(v.There.UUID), Text: v.There.Name}
	}
	return out
}

// enrolList begins to enrol the good lines. A second press finds the run that the first has begun.
func (e *enrolPages) enrolList(c *fiber.Ctx) error {
	l, ok := e.listOf(c)
	if !ok {
		return e.gone(c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run != "" {
		return c.Redirect(runsURL+"/"+l.run, fiber.StatusSeeOther)
	}
	verdicts, err := e.verdicts(c.UserContext(), l)
	if err != nil {
		return err
	}
	var lines []conductor.EnrolLine
	for i, v := range verdicts {
		if v.Refused == "" {
			x := l.all[i]
			x.Check = c.FormValue("check") == "true"
			lines = append(lines, conductor.EnrolLine{Enrolment: x, Label: lineLabel(l.lines[i])})
		}
	}
	if len(lines) == 0 {
		return c.Redirect(importURL+"/"+c.Params("list"), fiber.StatusSeeOther)
	}
	if l.run, err = e.o.Enrolling.EnrolMany(web.Actor(c, node.SourceUI), "", lines); err != nil {
		return err
	}
	l.lines, l.all = nil, nil // with the passwords: the run has what it needs
	return c.Redirect(runsURL+"/"+l.run, fiber.StatusSeeOther)
}

func lineLabel(l importLine) string {
	what := l.values["name"]
	if what == "" {
		what = l.values["address"]
	}
	return strconv.Itoa(l.number) + ": " + node.Shorten(what, 80)
}
