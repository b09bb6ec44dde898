package ironic

import (
	"net/url"
	"slices"
	"strings"

	"cagenut/node"
)

// nodeFilterRow is one filter of node lists: from which version, and what it chooses (contract.md §3.2).
type nodeFilterRow struct {
	name  string
	since int
	set   func(f *node.Filter, value string) error
}

func nodeFilters() []nodeFilterRow {
	return []nodeFilterRow{
		{"instance_uuid", 1, uuidFilter("instance_uuid", func(f *node.Filter) *string { return &f.InstanceUUID })},
		{"chassis_uuid", 1, uuidFilter("chassis_uuid", func(f *node.Filter) *string { return &f.ChassisUUID })},
		{"associated", 1, flagFilter("associated", func(f *node.Filter) **bool { return &f.Associated })},
		{"maintenance", 1, flagFilter("maintenance", func(f *node.Filter) **bool { return &f.Maintenance })},
		{"provision_state", 9, stateFilter},
		{"driver", 16, textFilter(func(f *node.Filter) *string { return &f.Driver })},
		{"resource_class", 21, textFilter(func(f *node.Filter) *string { return &f.ResourceClass })},
		{"fault", 42, faultFilter},
		{"conductor_group", 46, func(f *node.Filter, v string) error { f.ConductorGroup = &v; return nil }},
		{"conductor", 49, textFilter(func(f *node.Filter) *string { return &f.Conductor })},
		{"owner", 50, textFilter(func(f *node.Filter) *string { return &f.Owner })},
		{"description_contains", 51, textFilter(func(f *node.Filter) *string { return &f.DescriptionContains })},
		{"retired", 61, flagFilter("retired", func(f *node.Filter) **bool { return &f.Retired })},
		{"lessee", 65, textFilter(func(f *node.Filter) *string { return &f.Lessee })},
		{"project", 65, textFilter(func(f *node.Filter) *string { return &f.Project })},
		{"shard", 82, func(f *node.Filter, v string) error { f.Shards = strings.Split(v, ","); return nil }},
		{"sharded", 82, flagFilter("sharded", func(f *node.Filter) **bool { return &f.Sharded })},
		{"parent_node", 83, textFilter(func(f *node.Filter) *string { return &f.ParentNode })},
		{"include_children", 83, childrenFilter},
	}
}

func filterNames() []string {
	var names []string
	for _, row := range nodeFilters() {
		names = append(names, row.name)
	}
	return names
}

func nodeFilter(q url.Values, minor int) (node.Filter, error) {
	var f node.Filter
	for _, row := range nodeFilters() {
		if !q.Has(row.name) {
			continue
		}
		if minor < row.since && row.name == "provision_state" {
			return f, node.ErrNotAcceptable
		}
		if minor < row.since {
			return f, notAcceptable(row.since)
		}
		if err := row.set(&f, q.Get(row.name)); err != nil {
			return f, err
		}
	}
	return f, nil
}

func textFilter(at func(*node.Filter) *string) func(*node.Filter, string) error {
	return func(f *node.Filter, v string) error { *at(f) = v; return nil }
}

func uuidFilter(name string, at func(*node.Filter) *string) func(*node.Filter, string) error {
	return func(f *node.Filter, v string) error {
		if !node.IsUUID(v) {
			return node.Invalidf("Expected UUID for %s: %s", name, v)
		}
		*at(f) = v
		return nil
	}
}

func flagFilter(name string, at func(*node.Filter) **bool) func(*node.Filter, string) error {
	return func(f *node.Filter, v string) error {
		b, err := flagWord(name, v)
		*at(f) = &b
		return err
	}
}

func stateFilter(f *node.Filter, v string) error {
	if !node.State(v).Valid() {
		return node.Invalidf("Provision state %q is not valid", v)
	}
	f.ProvisionStates = []node.State{node.State(v)}
	return nil
}

func faultFilter(f *node.Filter, v string) error {
	if !slices.Contains([]string{"power failure", "clean failure", "rescue abort failure", "service failure"}, v) {
		return node.Invalidf("Unrecognized fault value: %s", v)
	}
	f.Fault = v
	return nil
}

func childrenFilter(f *node.Filter, v string) (err error) {
	f.IncludeChildren, err = flagWord("include_children", v)
	return err
}
