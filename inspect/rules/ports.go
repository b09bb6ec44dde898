package rules

import (
	"context"
	"fmt"

	"cagenut/node"
)

// portDocument is a document of a port that rules may change.
func portDocument(p *node.Port, name string) *map[string]any {
	switch name {
	case "extra":
		return &p.Extra
	case "local_link_connection":
		return &p.LocalLinkConnection
	}
	return nil
}

// port finds the port that an action names, by UUID or MAC, and the path in it.
func (r *run) port(args map[string]any) (*node.Port, []string, error) {
	id, err := textArgument(args, "port_id")
	if err != nil {
		return nil, nil, err
	}
	path, err := attributePath(args)
	if err != nil {
		return nil, nil, err
	}
	if err := node.CheckRulePortPath(path); err != nil {
		return nil, nil, err
	}
	mac, _ := node.ParseMAC(id)
	for i := range r.ports {
		if p := &r.ports[i]; p.UUID == id || p.Address == mac {
			r.changedPorts[p.UUID] = true
			return p, path, nil
		}
	}
	return nil, nil, fmt.Errorf("Port %s could not be found.", excerpt(id)) //nolint:staticcheck // the wire's text
}

func setPortAttribute(_ context.Context, r *run, args map[string]any) error {
	p, path, err := r.port(args)
	if err != nil {
		return err
	}
	return inPath(args, setPort(p, path, args["value"]))
}

func setPort(p *node.Port, path []string, v any) (err error) {
	if doc := portDocument(p, path[0]); doc != nil {
		return setDocument(doc, path, v)
	}
	switch path[0] {
	case "physical_network":
		return setText(&p.PhysicalNetwork, v, 64)
	case "pxe_enabled":
		p.PXEEnabled, err = readFlag(v)
	case "is_smartnic":
		p.IsSmartNIC, err = readFlag(v)
	case "name":
		if err := setText(&p.Name, v, 255); err != nil || p.Name == "" {
			return err
		}
		return node.ValidatePortName(p.Name)
	}
	return err
}

func extendPortAttribute(_ context.Context, r *run, args map[string]any) error {
	p, path, err := r.port(args)
	if err != nil {
		return err
	}
	doc := portDocument(p, path[0])
	if doc == nil || len(path) == 1 {
		return inPath(args, errNoList)
	}
	return inPath(args, r.extendIn(*doc, path[1:], args["value"], isTrue(args["unique"])))
}

func delPortAttribute(_ context.Context, r *run, args map[string]any) error {
	p, path, err := r.port(args)
	if err != nil {
		return err
	}
	if doc := portDocument(p, path[0]); doc != nil && len(path) > 1 {
		deleteIn(*doc, path[1:])
		return nil
	}
	return inPath(args, setPort(p, path, nil))
}
