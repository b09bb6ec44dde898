package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cagenut/node"
)

// Capabilities are a text in the node's properties: "boot_mode:uefi,cpu_vt:true".

func setCapability(_ context.Context, r *run, args map[string]any) error {
	name, err := textArgument(args, "name")
	if err != nil {
		return err
	}
	value, err := textOf(args["value"])
	if err != nil {
		return fmt.Errorf("value %w", err)
	}
	if strings.ContainsAny(name, ":,") || strings.Contains(value, ",") {
		return errors.New("a capability's name has neither colon nor comma, and its value no comma")
	}
	return r.changeCapabilities(func(all []string) []string {
		i := slices.IndexFunc(all, isCapability(name))
		if i < 0 {
			return append(all, name+":"+value)
		}
		all[i] = name + ":" + value
		return all
	})
}

func unsetCapability(_ context.Context, r *run, args map[string]any) error {
	name, err := textArgument(args, "name")
	if err != nil {
		return err
	}
	return r.changeCapabilities(func(all []string) []string { return slices.DeleteFunc(all, isCapability(name)) })
}

func isCapability(name string) func(string) bool {
	return func(part string) bool {
		key, _, _ := strings.Cut(part, ":")
		return strings.TrimSpace(key) == name
	}
}

func (r *run) changeCapabilities(change func([]string) []string) error {
	old := r.node.Properties["capabilities"]
	text, ok := old.(string)
	if !ok && old != nil {
		return errors.New("properties/capabilities is no text")
	}
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) != "" {
			all = append(all, part)
		}
	}
	r.changed["properties"] = true
	if all = change(all); len(all) > 0 {
		r.node.Properties["capabilities"] = strings.Join(all, ",")
	} else {
		delete(r.node.Properties, "capabilities")
	}
	return nil
}

func addTrait(_ context.Context, r *run, args map[string]any) error {
	name, err := textArgument(args, "name")
	if err != nil || slices.Contains(r.node.Traits, name) {
		return err
	}
	if err := node.ValidateTrait(name); err != nil {
		return err
	}
	if len(r.node.Traits) >= node.MaxTraits {
		return fmt.Errorf("the node has %d traits already, and no room for more", node.MaxTraits)
	}
	r.node.Traits = append(r.node.Traits, name)
	slices.Sort(r.node.Traits)
	r.changed["traits"] = true
	return nil
}

func removeTrait(_ context.Context, r *run, args map[string]any) error {
	name, err := textArgument(args, "name")
	if err != nil {
		return err
	}
	i := slices.Index(r.node.Traits, name)
	if i < 0 {
		r.note("the node has no trait %s to remove", excerpt(name))
		return nil
	}
	r.node.Traits = slices.Delete(r.node.Traits, i, i+1)
	r.changed["traits"] = true
	return nil
}
