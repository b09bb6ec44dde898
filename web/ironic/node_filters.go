package ironic

import (
	"encoding/json"
	"net/url"
	"strings"

	"cagenut/node"
	"cagenut/web/openapi"
)

// nodeFilterRow is one filter of node lists: from which version, what it may say, and what it chooses (contract.md §3.2).
type nodeFilterRow struct {
	name  string
	since int
	kind  openapi.Kind
	set   func(f *node.Filter, value string)
}

func nodeFilters() []nodeFilterRow {
	return []nodeFilterRow{
		{"instance_uuid", 1, openapi.UUID(), textFilter(func(f *node.Filter) *string { return &f.InstanceUUID })},
		{"chassis_uuid", 1, openapi.UUID(), textFilter(func(f *node.Filter) *string { return &f.ChassisUUID })},
		{"associated", 1, openapi.Flag(), flagFilter(func(f *node.Filter) **bool { return &f.Associated })},
		{"maintenance", 1, openapi.Flag(), flagFilter(func(f *node.Filter) **bool { return &f.Maintenance })},
		{"provision_state", 9, stateWords(), func(f *node.Filter, v string) { f.ProvisionStates = []node.State{node.State(v)} }},
		{"driver", 16, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.Driver })},
		{"resource_class", 21, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.ResourceClass })},
		{"fault", 42, faults(), textFilter(func(f *node.Filter) *string { return &f.Fault })},
		{"conductor_group", 46, openapi.Text(255), func(f *node.Filter, v string) { f.ConductorGroup = &v }},
		{"conductor", 49, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.Conductor })},
		{"owner", 50, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.Owner })},
		{"description_contains", 51, openapi.Text(4096), textFilter(func(f *node.Filter) *string { return &f.DescriptionContains })},
		{"retired", 61, openapi.Flag(), flagFilter(func(f *node.Filter) **bool { return &f.Retired })},
		{"lessee", 65, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.Lessee })},
		{"project", 65, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.Project })},
		{"shard", 82, openapi.Text(4096), func(f *node.Filter, v string) { f.Shards = strings.Split(v, ",") }},
		{"sharded", 82, openapi.Flag(), flagFilter(func(f *node.Filter) **bool { return &f.Sharded })},
		{"parent_node", 83, openapi.Text(255), textFilter(func(f *node.Filter) *string { return &f.ParentNode })},
		{"include_children", 83, openapi.Flag(), func(f *node.Filter, v string) { f.IncludeChildren = readFlag(quoted(v), false) }},
	}
}

// filterParameters are the filters as parameters of a list.
func filterParameters() []openapi.Parameter {
	var out []openapi.Parameter
	for _, row := range nodeFilters() {
		p := openapi.Parameter{Name: row.name, Since: row.since, Kind: row.kind}
		if row.name == "provision_state" {
			p.Older = olderFields // the oldest of those that came later, with the bare text
		}
		out = append(out, p)
	}
	return out
}

// nodeFilter is what checked parameters choose.
func nodeFilter(q url.Values) node.Filter {
	var f node.Filter
	for _, row := range nodeFilters() {
		if q.Has(row.name) {
			row.set(&f, q.Get(row.name))
		}
	}
	return f
}

func quoted(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return nil // no string fails
	}
	return b
}

func textFilter(at func(*node.Filter) *string) func(*node.Filter, string) {
	return func(f *node.Filter, v string) { *at(f) = v }
}

func flagFilter(at func(*node.Filter) **bool) func(*node.Filter, string) {
	return func(f *node.Filter, v string) {
		b := readFlag(quoted(v), false)
		*at(f) = &b
	}
}

func stateWords() openapi.Kind {
	var words []string
	for _, s := range node.States() {
		words = append(words, string(s))
	}
	return openapi.Word(func(said string) error { return node.Invalidf("Provision state %q is not valid", said) }, words...)
}

func faults() openapi.Kind {
	return openapi.Word(func(said string) error { return node.Invalidf("Unrecognized fault value: %s", said) },
		"power failure", "clean failure", "rescue abort failure", "service failure")
}
