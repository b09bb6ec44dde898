package ui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
)

// enrolForm is the form for one server as a person has filled it in.
type enrolForm struct {
	uuid     string            // of the node that it makes
	values   map[string]string // by field, without the password
	password node.Secret
	kept     string            // what the password is kept by; "" where it is not
	problems map[string]string // by field; "" is the whole
}

// enrolFields are the fields and how long what is typed may be, in characters.
var enrolFields = map[string]int{
	"name": 255, "driver": 40, "address": 255, "user": 255, "fingerprint": 255, "ca": 1000, "no_verify": 5, "old_tls": 5, "system": 255,
	"rack": 100, "unit": 4, "height": 4, "macs": 2000, "interface": 60, "description": 4000, "check": 5,
}

// hinted are the fields that need a sentence.
var hinted = []string{"name", "address", "fingerprint", "ca", "system", "macs", "rack", "check"}

// mostPassword is how long a password may be, in characters.
const mostPassword = 255

// emptyEnrolForm has the defaults.
func emptyEnrolForm() enrolForm {
	return enrolForm{uuid: node.NewUUID(), values: map[string]string{"driver": node.DriverRedfish, "check": "true"}, problems: map[string]string{}}
}

// fromQuery is the form as a link fills it in.
func (e *enrolPages) fromQuery(c *fiber.Ctx) enrolForm {
	f := emptyEnrolForm()
	for key, most := range enrolFields {
		if v := c.Query(key); v != "" {
			f.values[key] = cut(v, most)
		}
	}
	return f
}

// typed reads the form. A password that is not typed again is the one that is kept; one that is typed is kept from now on.
func (e *enrolPages) typed(c *fiber.Ctx) enrolForm {
	f := enrolForm{uuid: c.FormValue("uuid"), values: map[string]string{}, problems: map[string]string{}, kept: c.FormValue("kept")}
	if !node.IsUUID(f.uuid) {
		f.uuid = node.NewUUID()
	}
	for key := range enrolFields {
		f.set(key, c.FormValue(key))
	}
	f.password, f.kept = e.password(c, f.kept)
	return f
}

// password is what was typed, or else what is kept, with what it is kept by from now on.
func (e *enrolPages) password(c *fiber.Ctx, keptBy string) (node.Secret, string) {
	person := personOf(c)
	if typed := c.FormValue("password"); typed != "" {
		e.passwords.forget(keptBy)
		if scripted(c) { // the browser has it still
			return node.Secret(typed), ""
		}
		return node.Secret(typed), e.passwords.put(person, node.Secret(typed))
	}
	password, ok := e.passwords.get(person, keptBy)
	if !ok {
		return "", ""
	}
	return password, keptBy
}

func (f enrolForm) set(key, value string) {
	if value = strings.TrimSpace(value); value != "" {
		f.values[key] = value
	}
}

// check says what is wrong with what was typed, beside which field, before anybody else is asked.
func (f enrolForm) check(ctx context.Context) map[string]string {
	out := map[string]string{}
	for key, most := range enrolFields {
		if v := f.values[key]; len([]rune(v)) > most {
			out[key] = templates.T(ctx, "enrol.problem.long", most)
		} else if strings.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
			out[key] = templates.T(ctx, "enrol.problem.control")
		}
	}
	if len([]rune(string(f.password))) > mostPassword {
		out["password"] = templates.T(ctx, "enrol.problem.long", mostPassword)
	}
	if name := f.values["name"]; name != "" && out["name"] == "" {
		if err := node.ValidateName(name); err != nil {
			out["name"] = ended(err.Error())
		}
	}
	if _, err := node.DriverNamed(f.values["driver"]); err != nil {
		out["driver"] = templates.T(ctx, "enrol.problem.driver")
	}
	if f.values["address"] == "" && f.values["driver"] != node.DriverFake {
		out["address"] = templates.T(ctx, "enrol.problem.address")
	}
	for _, key := range []string{"unit", "height"} {
		if v := f.values[key]; v != "" {
			if n, err := strconv.Atoi(v); err != nil || n < 1 || n > node.TallestRack {
				out[key] = templates.T(ctx, "enrol.problem.unit", node.TallestRack)
			}
		}
	}
	if f.values["unit"] != "" && f.values["rack"] == "" {
		out["rack"] = templates.T(ctx, "enrol.problem.rack")
	}
	for _, one := range splitMACs(f.values["macs"]) {
		if _, ok := node.ParseMAC(one); !ok {
			out["macs"] = templates.T(ctx, "enrol.problem.mac", node.Shorten(one, 60))
			break
		}
	}
	return out
}

func splitMACs(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

// refused says beside its field why the conductor did not take it.
func (f *enrolForm) refused(err error, text string) { f.problems[conductor.EnrolField(err)] = text }

// enrolment is what the form asks for.
func (f enrolForm) enrolment() conductor.Enrolment {
	get := func(key string) string { return f.values[key] }
	n := node.Node{UUID: f.uuid, Name: get("name"), Driver: get("driver"), Description: get("description"), Extra: map[string]any{}}
	n.Interfaces.Inspect = get("interface")
	n.DriverInfo = bmcSettings{
		address: get("address"), user: get("user"), password: string(f.password), fingerprint: get("fingerprint"), ca: get("ca"), system: get("system"),
		noVerify: get("no_verify") == "true", oldTLS: get("old_tls") == "true",
	}.driverInfo(n.Driver)
	placeAt(n.Extra, get("rack"), get("unit"), get("height"))
	return conductor.Enrolment{Node: n, MACs: splitMACs(get("macs")), Check: get("check") == "true"}
}

// placeAt writes a place as `extra` holds it; numbers are numbers.
func placeAt(extra map[string]any, rack, unit, height string) {
	if rack != "" {
		extra["rack"] = rack
	}
	if n, err := strconv.Atoi(unit); err == nil {
		extra["rack_unit"] = n
	}
	if n, err := strconv.Atoi(height); err == nil {
		extra["rack_units"] = n
	}
}

// bmcSettings are what people say of a BMC, whatever its driver calls it.
type bmcSettings struct {
	address, user, password       string
	fingerprint, ca, system, port string
	noVerify, oldTLS              bool
}

// driverInfo is what the driver wants to know. What it has no word for is left out.
func (b bmcSettings) driverInfo(driver string) map[string]any {
	info := map[string]any{}
	put := func(key, value string) {
		if value != "" {
			info[key] = value
		}
	}
	switch driver {
	case node.DriverRedfish:
		put("redfish_address", b.address)
		put("redfish_username", b.user)
		put("redfish_password", b.password)
		put("redfish_system_id", b.system)
		put("redfish_certificate_sha256", b.fingerprint)
		put("redfish_verify_ca", b.ca)
		if b.noVerify {
			info["redfish_verify_ca"] = false
		}
		if b.oldTLS {
			info["redfish_old_tls"] = true
		}
	case node.DriverIPMI:
		put("ipmi_address", b.address)
		put("ipmi_port", b.port)
		put("ipmi_username", b.user)
		put("ipmi_password", b.password)
	}
	return info
}

// view is the form as it is drawn. The password never is.
func (f enrolForm) view(ctx context.Context) templates.EnrolForm {
	v := templates.EnrolForm{UUID: f.uuid, Kept: f.kept, Failed: f.problems[""]}
	field := func(key, kind, complete string, options ...templates.Option) {
		v.Fields = append(v.Fields, templates.EnrolField{
			Key: key, Kind: kind, Value: f.values[key], Problem: f.problems[key], Max: enrolFields[key], Complete: complete, Options: options,
			Hint: slices.Contains(hinted, key), Required: key == "address" || key == "driver",
		})
	}
	field("name", "text", "off")
	field("description", "text", "off")
	field("driver", "select", "off", driverOptions(f.values["driver"])...)
	field("address", "text", "off")
	field("user", "text", "off")
	v.Fields = append(v.Fields, templates.EnrolField{Key: "password", Kind: "password", Problem: f.problems["password"], Max: mostPassword, Complete: "new-password", Kept: f.kept != ""})
	for _, key := range []string{"fingerprint", "ca", "system"} {
		field(key, "text", "off")
	}
	field("no_verify", "check", "off")
	field("old_tls", "check", "off")
	field("rack", "text", "off")
	field("unit", "number", "off")
	field("height", "number", "off")
	field("macs", "area", "off")
	field("interface", "select", "off", interfaceOptions(ctx, f.values["interface"])...)
	field("check", "check", "off")
	for _, key := range []string{"fingerprint", "ca", "system", "no_verify", "old_tls"} {
		v.More = v.More || f.values[key] != "" || f.problems[key] != ""
	}
	return v
}

func driverOptions(chosen string) (out []templates.Option) {
	for _, name := range []string{node.DriverRedfish, node.DriverIPMI, node.DriverFake} {
		out = append(out, templates.Option{Value: name, Label: name, Selected: name == chosen})
	}
	return out
}

// interfaceOptions are the inspect interfaces of all drivers; whether the driver has it, the conductor says.
func interfaceOptions(ctx context.Context, chosen string) []templates.Option {
	out := []templates.Option{{Value: "", Label: templates.T(ctx, "enrol.interface.default"), Selected: chosen == ""}}
	var seen []string
	for _, d := range node.Drivers() {
		for _, name := range d.Enabled["inspect"] {
			if !slices.Contains(seen, name) {
				seen = append(seen, name)
			}
		}
	}
	slices.Sort(seen)
	for _, name := range seen {
		out = append(out, templates.Option{Value: name, Label: name, Selected: name == chosen})
	}
	return out
}

// listProblems are the problems in the order of the fields, for the summary.
func (f enrolForm) listProblems() (out []templates.EnrolProblem) {
	for _, field := range f.view(context.Background()).Fields {
		if p := f.problems[field.Key]; p != "" {
			out = append(out, templates.EnrolProblem{Key: field.Key, Text: p})
		}
	}
	return out
}
