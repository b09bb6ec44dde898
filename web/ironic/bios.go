package ironic

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cagenut/node"
	"cagenut/web/openapi"
)

// biosDetailSince is the version from which more than name and value of a setting is shown.
const biosDetailSince = 74

// The keys of a setting and of a firmware component: those that are always shown, and those that are shown in detail or
// by name.
var (
	biosKeys   = []string{"name", "value"}
	biosExtras = []string{"attribute_type", "allowable_values", "lower_bound", "max_length", "min_length", "read_only", "reset_required", "unique", "upper_bound"}

	firmwareKeys = []string{"component", "initial_version", "current_version", "last_version_flashed"}
)

func (a *api) biosOperations() []operation {
	op := func(path, does string, since int, shows func(int) *openapi.Schema, query []openapi.Parameter, do func(*request) error) operation {
		o := openapi.Operation{Method: "GET", Path: "/v1/nodes/:node" + path, Does: does, Tag: "records", Since: since, Query: query,
			Answers: []openapi.Answer{{Status: 200, Shows: shows}}, May: []int{502, 504}}
		return operation{o, nil, do}
	}
	query := func(since int, keys func(int) map[string]*openapi.Schema) []openapi.Parameter {
		return []openapi.Parameter{{Name: "detail", Does: "Show all fields.", Since: since, Kind: openapi.Flag()},
			{Name: "fields", Does: "The fields to show.", Since: since, Kind: keyList{keys}}}
	}
	settings := func(int) *openapi.Schema {
		return openapi.Record(map[string]*openapi.Schema{"bios": openapi.ListOf(biosSchema())})
	}
	return []operation{
		op("/bios", "Ask the BMC for the settings of the BIOS.", 40, settings, query(biosDetailSince, biosProperties), a.listBIOS),
		op("/bios/:setting", "Ask the BMC for one setting of the BIOS.", 40, openapi.Shows(openapi.MapOf(biosSchema())), nil, a.showBIOS),
		op("/firmware", "Ask the BMC which versions of firmware are installed.", 86,
			openapi.Shows(openapi.Record(map[string]*openapi.Schema{"firmware": openapi.ListOf(firmwareSchema())})), query(0, firmwareProperties), a.listFirmware),
	}
}

// keysShown are the keys that a list shows.
func (r *request) keysShown(usual, detailed []string) ([]string, error) {
	list := r.query.Get("fields")
	switch {
	case list != "" && r.flag("detail"):
		return nil, node.Invalidf("Can't fetch a subset of fields with 'detail' set")
	case list != "":
		return strings.Split(strings.ToLower(list), ","), nil
	case r.flag("detail"):
		return detailed, nil
	}
	return usual, nil
}

func biosProperties(int) map[string]*openapi.Schema {
	keys := map[string]*openapi.Schema{"name": openapi.Typed("string"), "value": openapi.Typed("string", "null"), "created_at": timeKind().Reads(0), "updated_at": timeKind().Reads(0), "links": openapi.Ref("Links")}
	for _, k := range biosExtras {
		keys[k] = openapi.Typed("null")
	}
	return keys
}

func biosSchema() *openapi.Schema {
	return openapi.Record(biosProperties(0), append(slices.Clone(biosKeys), biosExtras...)...)
}

// biosView shows a setting as the BMC told it at a moment. What the registry of attributes would tell of it is null.
func (a *api) biosView(r *request, n node.Node, name string, value any, at time.Time, keys []string) map[string]any {
	out := map[string]any{"created_at": timeOrNull(at), "updated_at": nil, "links": a.links(r, "nodes/"+n.UUID+"/bios/"+url.PathEscape(name))}
	for _, k := range keys {
		switch k {
		case "name":
			out[k] = name
		case "value":
			out[k] = spelt(value)
		case "created_at", "updated_at", "links": // always there
		default:
			out[k] = nil
		}
	}
	return out
}

// spelt is a value as Ironic keeps those of all types: as a text.
func spelt(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func (a *api) settingsOf(r *request) (node.Node, map[string]any, error) {
	n, err := a.node(r)
	if err != nil {
		return n, nil, err
	}
	found, err := a.Conductor.BIOS(r.UserContext(), n.UUID)
	return n, found, err
}

func (a *api) listBIOS(r *request) error {
	keys, err := r.keysShown(biosKeys, append(slices.Clone(biosKeys), biosExtras...))
	if err != nil {
		return err
	}
	n, found, err := a.settingsOf(r)
	if err != nil {
		return err
	}
	list, now := []map[string]any{}, time.Now()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, a.biosView(r, n, name, found[name], now, keys))
	}
	return r.JSON(map[string]any{"bios": list})
}

func (a *api) showBIOS(r *request) error {
	n, found, err := a.settingsOf(r)
	if err != nil {
		return err
	}
	name := r.named("setting")
	value, ok := found[name]
	if !ok {
		return &node.NotFound{Text: fmt.Sprintf("Node %s doesn't have a BIOS setting '%s'", n.UUID, name)}
	}
	keys := biosKeys
	if r.minor >= biosDetailSince {
		keys = append(slices.Clone(biosKeys), biosExtras...)
	}
	return r.JSON(map[string]any{name: a.biosView(r, n, name, value, time.Now(), keys)})
}

func firmwareProperties(int) map[string]*openapi.Schema {
	word, maybe := openapi.Typed("string"), openapi.Typed("string", "null")
	return map[string]*openapi.Schema{
		"component": word, "initial_version": word, "current_version": maybe, "last_version_flashed": maybe, "created_at": timeKind().Reads(0), "updated_at": timeKind().Reads(0),
	}
}

func firmwareSchema() *openapi.Schema {
	return openapi.Record(firmwareProperties(0), firmwareKeys...)
}

// listFirmware shows what the BMC tells now: nothing is kept from which an initial version could differ, and nothing is
// flashed here.
func (a *api) listFirmware(r *request) error {
	keys, err := r.keysShown(firmwareKeys, firmwareKeys)
	if err != nil {
		return err
	}
	n, err := a.node(r)
	if err != nil {
		return err
	}
	found, err := a.Conductor.Firmware(r.UserContext(), n.UUID)
	if err != nil {
		return err
	}
	list, now := []map[string]any{}, timeOrNull(time.Now())
	for _, f := range found {
		all := map[string]any{"component": componentName(f), "initial_version": f.Version, "current_version": f.Version, "last_version_flashed": nil}
		row := map[string]any{"created_at": now, "updated_at": nil}
		for _, k := range keys {
			if v, ok := all[k]; ok {
				row[k] = v
			}
		}
		list = append(list, row)
	}
	return r.JSON(map[string]any{"firmware": list})
}

// componentName is Ironic's name of the two components that it knows everywhere, else what the BMC calls it.
func componentName(f node.Firmware) string {
	for _, said := range []string{f.ID, f.Component} {
		if name := strings.ToLower(said); name == "bios" || name == "bmc" {
			return name
		}
	}
	if f.Component == "" {
		return f.ID
	}
	return f.Component
}
