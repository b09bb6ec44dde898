package ironic

import (
	"bytes"
	"encoding/json"

	"cagenut/node"
	"cagenut/web/openapi"
)

type nodeField = field[node.Node]

// nodeResource is a node on the wire (contract.md §3.3).
func nodeResource() *resource[node.Node] {
	return &resource[node.Node]{
		what: "node", title: "Node", fields: nodeFields(), required: []string{"driver"},
		short:   []string{"uuid", "instance_uuid", "maintenance", "power_state", "provision_state", "name"},
		linked:  map[string]int{"ports": 1, "states": 14, "portgroups": 24, "volume": 32},
		hidden:  []string{"created_at", "updated_at"},
		unknown: func(name string) error { return node.Invalidf("Field %s is not a valid field.", name) },
	}
}

// nodeFields is the representation of a node, row for row of contract.md §3.3, without the links.
func nodeFields() []nodeField {
	fields := []nodeField{
		createOnly(uuidText("uuid", 1, func(n *node.Node) *string { return &n.UUID })),
		at("created_at", 1, func(n node.Node) any { return timeOrNull(n.CreatedAt) }),
		at("updated_at", 1, func(n node.Node) any { return timeOrNull(n.UpdatedAt) }),
		driverName(),
		name(),
		secretDocument("driver_info", 1, func(n *node.Node) *map[string]any { return &n.DriverInfo }),
		secretDocument("instance_info", 1, func(n *node.Node) *map[string]any { return &n.InstanceInfo }),
		docField("extra", 1, func(n *node.Node) *map[string]any { return &n.Extra }),
		docField("properties", 1, func(n *node.Node) *map[string]any { return &n.Properties }),
		docField("network_data", 66, func(n *node.Node) *map[string]any { return &n.NetworkData }),
		uuidText("chassis_uuid", 1, func(n *node.Node) *string { return &n.ChassisUUID }),
		uuidText("instance_uuid", 1, func(n *node.Node) *string { return &n.InstanceUUID }),
		maintenance(),
		text("resource_class", 21, 80, func(n *node.Node) *string { return &n.ResourceClass }),
		group(),
		text("owner", 50, 255, func(n *node.Node) *string { return &n.Owner }),
		text("lessee", 65, 255, func(n *node.Node) *string { return &n.Lessee }),
		text("description", 51, 4096, func(n *node.Node) *string { return &n.Description }),
		text("retired_reason", 61, 255, func(n *node.Node) *string { return &n.RetiredReason }),
		text("shard", 82, 255, func(n *node.Node) *string { return &n.Shard }),
		text("parent_node", 83, 255, func(n *node.Node) *string { return &n.ParentNode }),
		patchOnly(text("protected_reason", 48, 255, func(n *node.Node) *string { return &n.ProtectedReason })),
		patchOnly(boolean("protected", 48, func(n *node.Node) *bool { return &n.Protected })),
		boolean("retired", 61, func(n *node.Node) *bool { return &n.Retired }),
		boolean("disable_power_off", 95, func(n *node.Node) *bool { return &n.DisablePowerOff }),
		createOnly(boolean("console_enabled", 1, func(n *node.Node) *bool { return &n.ConsoleEnabled })),
		optional("automated_clean", 47, func(n *node.Node) **bool { return &n.AutomatedClean }),
		createOnly(optional("secure_boot", 75, func(n *node.Node) **bool { return &n.SecureBoot })),
		createOnly(text("boot_mode", 75, 16, func(n *node.Node) *string { return &n.BootMode })),

		sorted(word("maintenance_reason", 1, func(n node.Node) string { return n.MaintenanceReason })),
		sorted(word("last_error", 1, func(n node.Node) string { return n.LastError })),
		sorted(word("power_state", 1, func(n node.Node) string { return string(n.PowerState) })),
		sorted(word("target_power_state", 1, func(n node.Node) string { return string(n.TargetPowerState) })),
		sorted(nodeField{name: "provision_state", since: 1, kind: stateKind(), get: provisionState}),
		nodeField{name: "target_provision_state", since: 1, kind: stateKind(), get: func(n node.Node, _ int) any { return textOrNull(n.TargetProvisionState()) }},
		sorted(at("provision_updated_at", 1, func(n node.Node) any { return timeOrNull(n.ProvisionUpdatedAt) })),
		sorted(word("reservation", 1, func(n node.Node) string { return n.Reservation })),
		shownDocument("driver_internal_info", 3, func(n node.Node) map[string]any { return node.MaskSecrets(n.DriverInternalInfo) }),
		sorted(at("inspection_started_at", 6, func(n node.Node) any { return timeOrNull(n.InspectionStartedAt) })),
		sorted(at("inspection_finished_at", 6, func(n node.Node) any { return timeOrNull(n.InspectionFinishedAt) })),
		shownDocument("clean_step", 7, func(n node.Node) map[string]any { return n.CleanStep }),
		shownDocument("deploy_step", 44, func(n node.Node) map[string]any { return n.DeployStep }),
		shownDocument("service_step", 87, func(n node.Node) map[string]any { return n.ServiceStep }),
		shownDocument("raid_config", 12, func(n node.Node) map[string]any { return n.RAIDConfig }),
		shownDocument("target_raid_config", 12, func(n node.Node) map[string]any { return n.TargetRAIDConfig }),
		{name: "traits", since: 37, kind: openapi.Shown(openapi.ListOf(openapi.Typed("string"))), get: func(n node.Node, _ int) any { return append([]string{}, n.Traits...) }},
		sorted(word("fault", 42, func(n node.Node) string { return n.Fault })),
		sorted(word("conductor", 49, func(n node.Node) string { return n.Conductor })),
		word("allocation_uuid", 52, func(node.Node) string { return "" }),
	}
	for _, kind := range node.InterfaceTypes() {
		fields = append(fields, interfaceField(kind))
	}
	return fields
}

// interfaceSince is the version of those interfaces that did not come with 1.31.
func interfaceSince(kind string) int {
	since := map[string]int{"network": 20, "storage": 33, "rescue": 38, "bios": 40, "firmware": 86}
	if v, ok := since[kind]; ok {
		return v
	}
	return 31
}

// provisionState is shown to old clients in words that they know (contract.md §2.1).
func provisionState(n node.Node, minor int) any {
	switch {
	case n.ProvisionState == node.InspectWait && minor < 39:
		return node.Inspecting
	case n.ProvisionState == node.Available && minor < 2:
		return nil
	}
	return n.ProvisionState
}

// stateKind is the kind of provision states.
func stateKind() openapi.Kind {
	return openapi.Shown(openapi.OrNull(openapi.OneOf(node.States()...)))
}

func sorted(f nodeField) nodeField     { f.sortable = true; return f }
func patchOnly(f nodeField) nodeField  { f.creatable = false; return f }
func createOnly(f nodeField) nodeField { f.patchable = false; return f }

// at is a time that clients read.
func at(name string, since int, get func(node.Node) any) nodeField {
	return nodeField{name: name, since: since, kind: timeKind(), get: func(n node.Node, _ int) any { return get(n) }}
}

// word is a text that clients read.
func word(name string, since int, get func(node.Node) string) nodeField {
	return nodeField{name: name, since: since, kind: openapi.Shown(openapi.Typed("string", "null")), get: func(n node.Node, _ int) any { return textOrNull(get(n)) }}
}

// shownDocument is an object that clients read.
func shownDocument(name string, since int, get func(node.Node) map[string]any) nodeField {
	return nodeField{name: name, since: since, kind: openapi.Object(), get: func(n node.Node, _ int) any { return document(get(n)) }}
}

// writable is a field that POST and PATCH may set.
func writable(name string, since int, kind openapi.Kind, get func(node.Node) any, set func(*node.Node, json.RawMessage)) nodeField {
	return nodeField{name: name, since: since, kind: kind, creatable: true, patchable: true, get: func(n node.Node, _ int) any { return get(n) }, set: set}
}

func text(name string, since, limit int, at func(*node.Node) *string) nodeField {
	return sorted(writable(name, since, openapi.Text(limit),
		func(n node.Node) any { return textOrNull(*at(&n)) },
		func(n *node.Node, raw json.RawMessage) { *at(n) = readText(raw) }))
}

func uuidText(name string, since int, at func(*node.Node) *string) nodeField {
	f := text(name, since, 255, at)
	f.kind = openapi.UUID()
	return f
}

// driverName is never null.
func driverName() nodeField {
	f := text("driver", 1, 255, func(n *node.Node) *string { return &n.Driver })
	most := 255
	s := &openapi.Schema{Type: "string", MaxLength: &most}
	f.kind = openapi.Custom(s, s, func(name string, raw json.RawMessage) error { return openapi.Text(255).Check(name, raw, 0) })
	return f
}

// name cannot be the empty string, only null (G59).
func name() nodeField {
	f := text("name", 5, 255, func(n *node.Node) *string { return &n.Name })
	f.kind = openapi.Custom(openapi.Typed("string", "null"), &openapi.Schema{Types: []string{"string", "null"}, Pattern: logicalName.String()},
		func(name string, raw json.RawMessage) error {
			if err := openapi.Text(4096).Check(name, raw, 0); err != nil || openapi.IsNull(raw) {
				return err
			}
			return node.ValidateName(readText(raw))
		})
	return f
}

// group is never null.
func group() nodeField {
	f := text("conductor_group", 46, 255, func(n *node.Node) *string { return &n.ConductorGroup })
	f.kind = openapi.Custom(openapi.Typed("string"), openapi.Text(255).Takes(0), func(name string, raw json.RawMessage) error { return openapi.Text(255).Check(name, raw, 0) })
	f.get = func(n node.Node, _ int) any { return n.ConductorGroup }
	return f
}

func boolean(name string, since int, at func(*node.Node) *bool) nodeField {
	return sorted(writable(name, since, openapi.Flag(),
		func(n node.Node) any { return *at(&n) },
		func(n *node.Node, raw json.RawMessage) { *at(n) = readFlag(raw, false) }))
}

// maintenance takes its reason and the fault along when it goes.
func maintenance() nodeField {
	f := boolean("maintenance", 1, func(n *node.Node) *bool { return &n.Maintenance })
	inner := f.set
	f.set = func(n *node.Node, raw json.RawMessage) {
		if inner(n, raw); !n.Maintenance {
			n.MaintenanceReason, n.Fault = "", ""
		}
	}
	return f
}

func optional(name string, since int, at func(*node.Node) **bool) nodeField {
	return sorted(writable(name, since, openapi.Choice(),
		func(n node.Node) any { return flagOrNull(*at(&n)) },
		func(n *node.Node, raw json.RawMessage) {
			if *at(n) = nil; openapi.IsNull(raw) {
				return
			}
			b := readFlag(raw, false)
			*at(n) = &b
		}))
}

func docField(name string, since int, at func(*node.Node) *map[string]any) nodeField {
	return writable(name, since, openapi.Object(),
		func(n node.Node) any { return document(*at(&n)) },
		func(n *node.Node, raw json.RawMessage) { *at(n) = readDocument(raw) })
}

// secretDocument reads masked. A mask that a client sends back stands for the secret that is there: what was read can be
// written without losing anything.
func secretDocument(name string, since int, at func(*node.Node) *map[string]any) nodeField {
	f := writable(name, since, openapi.Object(),
		func(n node.Node) any { return node.MaskSecrets(*at(&n)) },
		func(n *node.Node, raw json.RawMessage) {
			doc := readDocument(raw)
			keepSecrets(doc, *at(n))
			*at(n) = doc
		})
	f.secret = func(n node.Node) any { return document(*at(&n)) }
	return f
}

// keepSecrets puts the secrets of before where now has their mask.
func keepSecrets(now, before map[string]any) {
	for k, v := range now {
		old, ok := before[k]
		switch {
		case !ok:
		case !node.IsSecretKey(k):
			keepInside(v, old)
		case v == node.Mask:
			now[k] = old
		}
	}
}

// keepInside goes down two values that stand in the same place. An item of a list is the one that reads like it, wherever
// it stood before: clients also sort lists and take items out.
func keepInside(now, before any) {
	switch now := now.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			keepSecrets(now, before)
		}
	case []any:
		before, _ := before.([]any)
		for _, item := range now {
			for _, old := range before {
				if readsLike(item, old) {
					keepInside(item, old)
					break
				}
			}
		}
	}
}

// readsLike tells whether a client sees no difference between two values.
func readsLike(a, b any) bool {
	left, err1 := json.Marshal(node.MaskSecrets(map[string]any{"": a}))
	right, err2 := json.Marshal(node.MaskSecrets(map[string]any{"": b}))
	return err1 == nil && err2 == nil && bytes.Equal(left, right)
}

func interfaceField(kind string) nodeField {
	return writable(kind+"_interface", interfaceSince(kind), openapi.Text(255),
		func(n node.Node) any { return textOrNull(n.Interfaces.Get(kind)) },
		func(n *node.Node, raw json.RawMessage) { n.Interfaces.Set(kind, readText(raw)) })
}
