package ironic

import (
	"encoding/json"

	"cagenut/node"
)

type nodeField = field[node.Node]

// nodeFields is the representation of a node, row for row of contract.md §3.3, without the links.
func nodeFields() []nodeField {
	fields := []nodeField{
		uuidField(),
		read("created_at", 1, func(n node.Node) any { return timeOrNull(n.CreatedAt) }),
		read("updated_at", 1, func(n node.Node) any { return timeOrNull(n.UpdatedAt) }),
		text("driver", 1, 255, func(n *node.Node) *string { return &n.Driver }),
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

		sorted(read("maintenance_reason", 1, func(n node.Node) any { return textOrNull(n.MaintenanceReason) })),
		sorted(read("last_error", 1, func(n node.Node) any { return textOrNull(n.LastError) })),
		sorted(read("power_state", 1, func(n node.Node) any { return textOrNull(n.PowerState) })),
		sorted(read("target_power_state", 1, func(n node.Node) any { return textOrNull(n.TargetPowerState) })),
		sorted(nodeField{name: "provision_state", since: 1, get: provisionState}),
		read("target_provision_state", 1, func(n node.Node) any { return textOrNull(n.TargetProvisionState()) }),
		sorted(read("provision_updated_at", 1, func(n node.Node) any { return timeOrNull(n.ProvisionUpdatedAt) })),
		sorted(read("reservation", 1, func(n node.Node) any { return textOrNull(n.Reservation) })),
		read("driver_internal_info", 3, func(n node.Node) any { return node.MaskSecrets(n.DriverInternalInfo) }),
		sorted(read("inspection_started_at", 6, func(n node.Node) any { return timeOrNull(n.InspectionStartedAt) })),
		sorted(read("inspection_finished_at", 6, func(n node.Node) any { return timeOrNull(n.InspectionFinishedAt) })),
		read("clean_step", 7, func(n node.Node) any { return document(n.CleanStep) }),
		read("deploy_step", 44, func(n node.Node) any { return document(n.DeployStep) }),
		read("service_step", 87, func(n node.Node) any { return document(n.ServiceStep) }),
		read("raid_config", 12, func(n node.Node) any { return document(n.RAIDConfig) }),
		read("target_raid_config", 12, func(n node.Node) any { return document(n.TargetRAIDConfig) }),
		read("traits", 37, func(n node.Node) any { return append([]string{}, n.Traits...) }),
		sorted(read("fault", 42, func(n node.Node) any { return textOrNull(n.Fault) })),
		sorted(read("conductor", 49, func(n node.Node) any { return textOrNull(n.Conductor) })),
		read("allocation_uuid", 52, func(node.Node) any { return nil }),
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

func read(name string, since int, get func(node.Node) any) nodeField {
	return nodeField{name: name, since: since, get: func(n node.Node, _ int) any { return get(n) }}
}

func sorted(f nodeField) nodeField     { f.sortable = true; return f }
func patchOnly(f nodeField) nodeField  { f.creatable = false; return f }
func createOnly(f nodeField) nodeField { f.patchable = false; return f }

func writable(f nodeField, set func(*node.Node, json.RawMessage) error) nodeField {
	f.set, f.creatable, f.patchable = set, true, true
	return f
}

func text(name string, since, limit int, at func(*node.Node) *string) nodeField {
	f := sorted(read(name, since, func(n node.Node) any { return textOrNull(*at(&n)) }))
	return writable(f, func(n *node.Node, raw json.RawMessage) error {
		s, err := readText(name, raw, limit)
		*at(n) = s
		return err
	})
}

func uuidText(name string, since int, at func(*node.Node) *string) nodeField {
	f := text(name, since, 255, at)
	inner := f.set
	f.set = func(n *node.Node, raw json.RawMessage) error {
		if err := inner(n, raw); err != nil {
			return err
		}
		if v := *at(n); v != "" && !node.IsUUID(v) {
			return node.Invalidf("Expected UUID for %s: %s", name, v)
		}
		return nil
	}
	return f
}

func uuidField() nodeField {
	return createOnly(uuidText("uuid", 1, func(n *node.Node) *string { return &n.UUID }))
}

// name cannot be the empty string, only null (G59).
func name() nodeField {
	f := text("name", 5, 255, func(n *node.Node) *string { return &n.Name })
	inner := f.set
	f.set = func(n *node.Node, raw json.RawMessage) error {
		if err := inner(n, raw); err != nil {
			return err
		}
		if isNull(raw) {
			return nil
		}
		return node.ValidateName(n.Name)
	}
	return f
}

// group is never null.
func group() nodeField {
	f := text("conductor_group", 46, 255, func(n *node.Node) *string { return &n.ConductorGroup })
	f.get = func(n node.Node, _ int) any { return n.ConductorGroup }
	return f
}

func boolean(name string, since int, at func(*node.Node) *bool) nodeField {
	f := sorted(read(name, since, func(n node.Node) any { return *at(&n) }))
	return writable(f, func(n *node.Node, raw json.RawMessage) (err error) {
		if *at(n) = false; isNull(raw) {
			return nil
		}
		*at(n), err = flag(name, raw)
		return err
	})
}

// maintenance takes its reason and the fault along when it goes.
func maintenance() nodeField {
	f := boolean("maintenance", 1, func(n *node.Node) *bool { return &n.Maintenance })
	inner := f.set
	f.set = func(n *node.Node, raw json.RawMessage) error {
		err := inner(n, raw)
		if !n.Maintenance {
			n.MaintenanceReason, n.Fault = "", ""
		}
		return err
	}
	return f
}

func optional(name string, since int, at func(*node.Node) **bool) nodeField {
	f := sorted(read(name, since, func(n node.Node) any { return flagOrNull(*at(&n)) }))
	return writable(f, func(n *node.Node, raw json.RawMessage) error {
		if *at(n) = nil; isNull(raw) {
			return nil
		}
		b, err := flag(name, raw)
		*at(n) = &b
		return err
	})
}

func docField(name string, since int, at func(*node.Node) *map[string]any) nodeField {
	f := read(name, since, func(n node.Node) any { return document(*at(&n)) })
	return writable(f, func(n *node.Node, raw json.RawMessage) error {
		d, err := readDocument(name, raw)
		if err == nil {
			*at(n) = d
		}
		return err
	})
}

// secretDocument reads masked. A mask that a client sends back stands for the secret that is there: what was read can be
// written without losing anything.
func secretDocument(name string, since int, at func(*node.Node) *map[string]any) nodeField {
	f := docField(name, since, at)
	f.get = func(n node.Node, _ int) any { return node.MaskSecrets(*at(&n)) }
	f.set = func(n *node.Node, raw json.RawMessage) error {
		d, err := readDocument(name, raw)
		if err == nil {
			keepSecrets(d, *at(n))
			*at(n) = d
		}
		return err
	}
	return f
}

// keepSecrets puts the secrets of before where now has their mask, also within lists.
func keepSecrets(now, before map[string]any) {
	for k, v := range now {
		old, ok := before[k]
		if !ok {
			continue
		}
		if !node.IsSecretKey(k) {
			keepInside(v, old)
			continue
		}
		if v == node.Mask {
			now[k] = old
		}
	}
}

// keepInside goes down two values that stand in the same place; lists are compared item by item.
func keepInside(now, before any) {
	switch now := now.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			keepSecrets(now, before)
		}
	case []any:
		before, _ := before.([]any)
		for i := range min(len(now), len(before)) {
			keepInside(now[i], before[i])
		}
	}
}

func interfaceField(kind string) nodeField {
	name := kind + "_interface"
	f := read(name, interfaceSince(kind), func(n node.Node) any { return textOrNull(n.Interfaces.Get(kind)) })
	return writable(f, func(n *node.Node, raw json.RawMessage) error {
		s, err := readText(name, raw, 255)
		n.Interfaces.Set(kind, s)
		return err
	})
}
