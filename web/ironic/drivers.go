package ironic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cagenut/node"
	"cagenut/web/openapi"
)

func (a *api) driverOperations() []operation {
	op := func(path, does string, since int, older error, shows func(int) *openapi.Schema, do func(*request) error, query ...openapi.Parameter) operation {
		o := openapi.Operation{Method: "GET", Path: path, Does: does, Tag: "drivers", Since: since, Query: query, Answers: []openapi.Answer{{Status: 200, Shows: shows}}}
		return operation{o, older, do}
	}
	sentences := openapi.Shows(openapi.MapOf(openapi.Typed("string")))
	detail := openapi.Parameter{Name: "detail", Does: "Show all fields.", Since: 30, Kind: openapi.Flag()}
	fields := openapi.Parameter{Name: "fields", Does: "The fields to show.", Since: 77, Older: olderFields, Kind: keyList{driverKeys}}
	conductors := []openapi.Parameter{{Name: "detail", Does: "Show all fields.", Kind: openapi.Flag()}, {Name: "fields", Does: "The fields to show.", Kind: keyList{conductorKeys}}}
	host := openapi.Typed("string")
	lists := op("/v1/conductors", "List the conductors: this appliance.", 49, tooOldForIt, openapi.Shows(openapi.Record(map[string]*openapi.Schema{"conductors": openapi.ListOf(openapi.Ref("Conductor")), "next": host, "conductors_links": openapi.Ref("Links")}, "next", "conductors_links")),
		a.listConductors, append(conductors, conductorPaging()...)...)
	lists.May = []int{404}
	return []operation{
		op("/v1/drivers", "List the drivers.", 1, nil, func(minor int) *openapi.Schema {
			return openapi.Record(map[string]*openapi.Schema{"drivers": openapi.ListOf(openapi.Ref("Driver"))})
		}, a.listDrivers, openapi.Parameter{Name: "type", Since: 30, Kind: driverTypes()}, detail, fields),
		op("/v1/drivers/:driver", "Show a driver.", 1, nil, openapi.Shows(openapi.Ref("Driver")), a.showDriver, fields),
		op("/v1/drivers/:driver/properties", "Explain the keys of driver_info that a driver reads.", 1, nil, sentences, a.driverProperties),
		op("/v1/drivers/:driver/raid/logical_disk_properties", "Explain the keys of a logical disk in a RAID configuration.", 12, node.ErrNotAcceptable, sentences, a.logicalDiskProperties),
		lists,
		op("/v1/conductors/:hostname", "Show a conductor.", 49, tooOldForIt, openapi.Shows(openapi.Ref("Conductor")), a.showConductor, conductors[1]),
		op("/v1/shards", "Count the nodes of each shard.", 82, &fault{404, "The API version does not allow shards"},
			openapi.Shows(openapi.Record(map[string]*openapi.Schema{"shards": openapi.ListOf(openapi.Record(map[string]*openapi.Schema{"name": host, "count": openapi.Typed("integer")}))})), a.listShards),
	}
}

// driverKeys are the keys of a driver at a version (contract.md §3.8), with their schemas.
func driverKeys(minor int) map[string]*openapi.Schema {
	keys := map[string]*openapi.Schema{"name": openapi.Typed("string"), "hosts": openapi.ListOf(openapi.Typed("string")), "links": openapi.Ref("Links")}
	if minor >= 14 {
		keys["properties"] = openapi.Ref("Links")
	}
	if minor < 30 {
		return keys
	}
	keys["type"] = openapi.Typed("string")
	for _, kind := range node.InterfaceTypes() {
		if driverInterfaceSince(kind) <= minor {
			keys["default_"+kind+"_interface"] = openapi.Typed("string")
			keys["enabled_"+kind+"_interfaces"] = openapi.ListOf(openapi.Typed("string"))
		}
	}
	return keys
}

// driverInterfaceSince is the version in which drivers name their interfaces of a type.
func driverInterfaceSince(kind string) int {
	return max(30, map[string]int{"storage": 33, "rescue": 38, "bios": 40, "firmware": 86}[kind])
}

func conductorKeys(int) map[string]*openapi.Schema {
	word := openapi.Typed("string")
	return map[string]*openapi.Schema{
		"hostname": word, "conductor_group": word, "alive": openapi.Typed("boolean"), "links": openapi.Ref("Links"), "drivers": openapi.ListOf(word),
		"created_at": timeKind().Reads(0), "updated_at": timeKind().Reads(0),
	}
}

// keyed is the schema of an answer that may show any of the keys.
func keyed(keys map[string]*openapi.Schema) *openapi.Schema {
	s := openapi.Record(keys)
	s.Required = []string{"links"}
	return s
}

// keyList is the kind of `fields=` for what is no stored resource.
type keyList struct {
	keys func(minor int) map[string]*openapi.Schema
}

func (l keyList) Reads(minor int) *openapi.Schema { return l.Takes(minor) }

func (l keyList) Takes(minor int) *openapi.Schema {
	return openapi.ListOf(openapi.Caseless(slices.Sorted(maps.Keys(l.keys(minor)))...))
}

func (l keyList) Check(_ string, raw json.RawMessage, minor int) error {
	list := readText(raw)
	if list == "" {
		return nil
	}
	for _, name := range strings.Split(strings.ToLower(list), ",") {
		if _, ok := l.keys(minor)[name]; ok {
			continue
		}
		if _, newer := l.keys(newest)[name]; newer {
			return node.ErrNotAcceptable
		}
		return unknownField(name)
	}
	return nil
}

// picked keeps the keys that are asked for, and the links.
func picked(view map[string]any, list string) map[string]any {
	if list == "" {
		return view
	}
	out := map[string]any{"links": view["links"]}
	for _, f := range strings.Split(strings.ToLower(list), ",") {
		if v, ok := view[f]; ok {
			out[f] = v
		}
	}
	return out
}

func driverTypes() openapi.Kind {
	return openapi.Word(func(string) error { return node.Invalidf("Driver type must be one of \"classic\" or \"dynamic\".") }, "classic", "dynamic")
}

func (a *api) driverView(r *request, d node.Driver, detail bool) map[string]any {
	out := map[string]any{"name": d.Name, "hosts": []string{a.Host}, "links": a.links(r, "drivers/"+d.Name)}
	if r.minor >= 14 {
		out["properties"] = a.links(r, "drivers/"+d.Name+"/properties")
	}
	if r.minor < 30 {
		return out
	}
	out["type"] = "dynamic"
	for kind, names := range d.Enabled {
		if detail && driverInterfaceSince(kind) <= r.minor {
			out["default_"+kind+"_interface"] = names[0]
			out["enabled_"+kind+"_interfaces"] = names
		}
	}
	return out
}

func (a *api) listDrivers(r *request) error {
	fields := r.query.Get("fields")
	if r.flag("detail") && fields != "" {
		return errDetailAndFields
	}
	out := []map[string]any{}
	for _, d := range node.Drivers() {
		if r.query.Get("type") != "classic" {
			out = append(out, picked(a.driverView(r, d, r.flag("detail") || fields != ""), fields))
		}
	}
	return r.JSON(map[string]any{"drivers": out})
}

// namedDriver is the driver that the path names.
func namedDriver(r *request) (node.Driver, error) {
	name := r.named("driver")
	d, err := node.DriverNamed(name)
	if err != nil {
		return d, &node.NotFound{Text: fmt.Sprintf("Could not find the following driver(s) or hardware type(s): %s.", name)}
	}
	return d, nil
}

func (a *api) showDriver(r *request) error {
	d, err := namedDriver(r)
	if err != nil {
		return err
	}
	return r.JSON(picked(a.driverView(r, d, true), r.query.Get("fields")))
}

func (a *api) driverProperties(r *request) error {
	d, err := namedDriver(r)
	if err != nil {
		return err
	}
	return r.JSON(d.Properties)
}

func (a *api) logicalDiskProperties(r *request) error {
	d, err := namedDriver(r)
	if err != nil {
		return err
	}
	if d.LogicalDiskProperties == nil {
		return &node.Unsupported{Driver: d.Name, Extension: "get_raid_logical_disk_properties"}
	}
	return r.JSON(d.LogicalDiskProperties)
}

func (a *api) conductorView(r *request, detail bool) map[string]any {
	out := map[string]any{"hostname": a.Host, "conductor_group": "", "alive": true, "links": a.links(r, "conductors/"+a.Host)}
	if detail {
		names := []string{}
		for _, d := range node.Drivers() {
			names = append(names, d.Name)
		}
		out["drivers"], out["created_at"], out["updated_at"] = names, timeOrNull(a.since), timeOrNull(a.since)
	}
	return out
}

// conductorPaging: the marker of a list of conductors is a host name.
func conductorPaging() []openapi.Parameter {
	return []openapi.Parameter{
		paging()[0], {Name: "marker", Kind: openapi.Text(255)}, {Name: "sort_key", Kind: openapi.Word(func(said string) error {
			return node.Invalidf("The sort_key value %q is an invalid field for sorting", said)
		}, "id", "hostname", "conductor_group", "created_at", "updated_at")}, directionParameter(),
	}
}

func (a *api) listConductors(r *request) error {
	fields := r.query.Get("fields")
	if r.flag("detail") && fields != "" {
		return errDetailAndFields
	}
	if marker := r.query.Get("marker"); marker != "" {
		if marker != a.Host {
			return &node.NotFound{What: "Conductor", Ident: marker}
		}
		return r.JSON(map[string]any{"conductors": []any{}})
	}
	return r.JSON(map[string]any{"conductors": []any{picked(a.conductorView(r, r.flag("detail") || fields != ""), fields)}})
}

func (a *api) showConductor(r *request) error {
	if name := r.named("hostname"); name != a.Host {
		return &node.NotFound{What: "Conductor", Ident: name}
	}
	return r.JSON(picked(a.conductorView(r, true), r.query.Get("fields")))
}

func (a *api) listShards(r *request) error {
	counts, err := a.Store.ShardCounts(r.UserContext())
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, shard := range slices.Sorted(maps.Keys(counts)) {
		name := shard
		if name == "" {
			name = "None"
		}
		out = append(out, map[string]any{"name": name, "count": counts[shard]})
	}
	return r.JSON(map[string]any{"shards": out})
}
