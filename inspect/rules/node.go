package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cagenut/node"
)

// nodeDocument is a document of a node that rules may change.
func nodeDocument(n *node.Node, name string) *map[string]any {
	switch name {
	case "driver_info":
		return &n.DriverInfo
	case "extra":
		return &n.Extra
	case "instance_info":
		return &n.InstanceInfo
	case "network_data":
		return &n.NetworkData
	case "properties":
		return &n.Properties
	}
	return nil
}

// nodeText is a text of a node that rules may change, and the most characters that it may have.
func nodeText(n *node.Node, name string) (at *string, limit int) {
	switch name {
	case "conductor_group":
		return &n.ConductorGroup, 255
	case "description":
		return &n.Description, 4096
	case "lessee":
		return &n.Lessee, 255
	case "maintenance_reason":
		return &n.MaintenanceReason, 255
	case "owner":
		return &n.Owner, 255
	case "protected_reason":
		return &n.ProtectedReason, 255
	case "resource_class":
		return &n.ResourceClass, 80
	case "retired_reason":
		return &n.RetiredReason, 255
	case "shard":
		return &n.Shard, 255
	}
	return nil, 0
}

// nodeFlag is a flag of a node that rules may change.
func nodeFlag(n *node.Node, name string) *bool {
	switch name {
	case "disable_power_off":
		return &n.DisablePowerOff
	case "maintenance":
		return &n.Maintenance
	case "protected":
		return &n.Protected
	case "retired":
		return &n.Retired
	}
	return nil
}

// nodeValue is what {node.NAME} is filled in with, under the names of the wire.
func nodeValue(n *node.Node, name string) (any, bool) {
	if doc := nodeDocument(n, name); doc != nil {
		return *doc, true
	}
	if text, _ := nodeText(n, name); text != nil {
		return textOrNull(*text), true
	}
	if flag := nodeFlag(n, name); flag != nil {
		return *flag, true
	}
	if kind, ok := strings.CutSuffix(name, "_interface"); ok {
		return textOrNull(n.Interfaces.Get(kind)), slices.Contains(node.InterfaceTypes(), kind)
	}
	switch name {
	case "id":
		return n.ID, true
	case "uuid":
		return n.UUID, true
	case "name":
		return textOrNull(n.Name), true
	case "driver":
		return n.Driver, true
	case "provision_state":
		return string(n.ProvisionState), true
	case "power_state":
		return textOrNull(string(n.PowerState)), true
	case "boot_mode":
		return textOrNull(n.BootMode), true
	case "secure_boot":
		return flagOrNull(n.SecureBoot), true
	case "automated_clean":
		return flagOrNull(n.AutomatedClean), true
	case "fault":
		return textOrNull(n.Fault), true
	case "instance_uuid":
		return textOrNull(n.InstanceUUID), true
	case "chassis_uuid":
		return textOrNull(n.ChassisUUID), true
	case "parent_node":
		return textOrNull(n.ParentNode), true
	case "conductor":
		return textOrNull(n.Conductor), true
	case "traits":
		return n.Traits, true
	case "driver_internal_info":
		return n.DriverInternalInfo, true
	case "created_at":
		return n.CreatedAt.UTC().Format(time.RFC3339), true
	}
	return nil, false
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func flagOrNull(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

// setNode changes an attribute of the node; null, or an absent value, unsets it.
func (r *run) setNode(path []string, v any) error {
	if err := node.CheckRulePath(path); err != nil {
		return err
	}
	name := path[0]
	r.changed[name] = true
	if doc := nodeDocument(&r.node, name); doc != nil {
		return setDocument(doc, path, v)
	}
	if text, limit := nodeText(&r.node, name); text != nil {
		return setText(text, v, limit)
	}
	if flag := nodeFlag(&r.node, name); flag != nil {
		return r.setFlag(name, flag, v)
	}
	if kind, ok := strings.CutSuffix(name, "_interface"); ok {
		s, err := readText(v, 255)
		r.node.Interfaces.Set(kind, s)
		return err
	}
	switch name {
	case "name":
		return r.setName(v)
	case "driver":
		return r.setDriver(v)
	case "automated_clean":
		if r.node.AutomatedClean = nil; v == nil {
			return nil
		}
		b, err := readFlag(v)
		r.node.AutomatedClean = &b
		return err
	}
	return fmt.Errorf("the attribute '%s' cannot be set", name)
}

func (r *run) setFlag(name string, flag *bool, v any) error {
	b, err := readFlag(v)
	if err != nil {
		return err
	}
	if *flag = b; name == "maintenance" && !b {
		// As with PATCH: reason and fault go with it.
		r.node.MaintenanceReason, r.node.Fault = "", ""
		r.changed["maintenance_reason"], r.changed["fault"] = true, true
	}
	return nil
}

func (r *run) setName(v any) error {
	s, err := readText(v, 255)
	if err != nil {
		return err
	}
	if s != "" {
		if err := node.ValidateName(s); err != nil {
			return err
		}
	}
	r.node.Name = s
	return nil
}

// setDriver changes the driver; interfaces that the new one does not have become its defaults.
func (r *run) setDriver(v any) error {
	s, err := readText(v, 255)
	if err != nil {
		return err
	}
	d, err := node.DriverNamed(s)
	if err != nil {
		return err
	}
	r.node.Driver = s
	for _, kind := range node.InterfaceTypes() {
		if !slices.Contains(d.Enabled[kind], r.node.Interfaces.Get(kind)) {
			r.node.Interfaces.Set(kind, "")
			r.changed[kind+"_interface"] = true
		}
	}
	return nil
}

// checkInterfaces completes the interfaces that a rule left open and refuses those that the driver does not have.
func (r *run) checkInterfaces() error {
	if !r.changed["driver"] && !slices.ContainsFunc(node.InterfaceTypes(), func(kind string) bool { return r.changed[kind+"_interface"] }) {
		return nil
	}
	d, err := node.DriverNamed(r.node.Driver)
	if err != nil {
		return err
	}
	return d.FillInterfaces(&r.node.Interfaces)
}

// setDocument sets a document or, with a longer path, a value in it.
func setDocument(at *map[string]any, path []string, v any) error {
	if len(path) > 1 {
		return setIn(*at, path[1:], v)
	}
	doc, ok := v.(map[string]any)
	if !ok && v != nil {
		return errors.New("the value is no object")
	}
	*at = cloneObject(doc)
	return nil
}

func setText(at *string, v any, limit int) error {
	s, err := readText(v, limit)
	if err == nil {
		*at = s
	}
	return err
}

// readText reads a text; null is the empty one.
func readText(v any, limit int) (string, error) {
	if v == nil {
		return "", nil
	}
	s, ok := node.Text(v)
	if !ok {
		return "", errors.New("the value is no text")
	}
	if len([]rune(s)) > limit {
		return "", fmt.Errorf("the value has more than %d characters", limit)
	}
	return s, nil
}

// readFlag reads a truth value, also one that became a text; null is false.
func readFlag(v any) (bool, error) {
	switch v := v.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string:
		if strings.EqualFold(v, "true") || strings.EqualFold(v, "false") {
			return strings.EqualFold(v, "true"), nil
		}
	}
	return false, errors.New("the value is neither true nor false")
}
