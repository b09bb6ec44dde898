package ironic

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cagenut/node"
)

// nodeDocument is of a node what an inspection works with.
type nodeDocument struct {
	UUID              string         `json:"uuid"`
	Name              *string        `json:"name"`
	Driver            string         `json:"driver"`
	ProvisionState    string         `json:"provision_state"`
	Inspect           *string        `json:"inspect_interface"`
	Properties        map[string]any `json:"properties"`
	DriverInfo        map[string]any `json:"driver_info"`
	InstanceInfo      map[string]any `json:"instance_info"`
	Extra             map[string]any `json:"extra"`
	NetworkData       map[string]any `json:"network_data"`
	Traits            []string       `json:"traits"`
	Maintenance       bool           `json:"maintenance"`
	MaintenanceReason *string        `json:"maintenance_reason"`
	Protected         bool           `json:"protected"`
	ProtectedReason   *string        `json:"protected_reason"`
	Retired           bool           `json:"retired"`
	RetiredReason     *string        `json:"retired_reason"`
	DisablePowerOff   bool           `json:"disable_power_off"`
	AutomatedClean    *bool          `json:"automated_clean"`
	ResourceClass     *string        `json:"resource_class"`
	ConductorGroup    *string        `json:"conductor_group"`
	Description       *string        `json:"description"`
	Owner             *string        `json:"owner"`
	Lessee            *string        `json:"lessee"`
	Shard             *string        `json:"shard"`
}

func (d nodeDocument) node() node.Node {
	n := node.Node{
		UUID: d.UUID, Name: text(d.Name), Driver: d.Driver, ProvisionState: node.State(d.ProvisionState), Properties: object(d.Properties), DriverInfo: object(d.DriverInfo),
		InstanceInfo: object(d.InstanceInfo), Extra: object(d.Extra), NetworkData: object(d.NetworkData), Traits: d.Traits,
		Maintenance: d.Maintenance, MaintenanceReason: text(d.MaintenanceReason), Protected: d.Protected, ProtectedReason: text(d.ProtectedReason),
		Retired: d.Retired, RetiredReason: text(d.RetiredReason), DisablePowerOff: d.DisablePowerOff, AutomatedClean: d.AutomatedClean,
		ResourceClass: text(d.ResourceClass), ConductorGroup: text(d.ConductorGroup), Description: text(d.Description), Owner: text(d.Owner),
		Lessee: text(d.Lessee), Shard: text(d.Shard),
	}
	n.Interfaces.Inspect = text(d.Inspect)
	return n
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func object(doc map[string]any) map[string]any {
	if doc == nil {
		return map[string]any{}
	}
	return doc
}

type portDocument struct {
	UUID                string         `json:"uuid"`
	Address             string         `json:"address"`
	Name                *string        `json:"name,omitempty"`
	NodeUUID            string         `json:"node_uuid"`
	PXEEnabled          *bool          `json:"pxe_enabled,omitempty"`
	Extra               map[string]any `json:"extra,omitempty"`
	LocalLinkConnection map[string]any `json:"local_link_connection,omitempty"`
	PhysicalNetwork     *string        `json:"physical_network,omitempty"`
	IsSmartNIC          *bool          `json:"is_smartnic,omitempty"`
}

func (d portDocument) port() node.Port {
	return node.Port{
		UUID: d.UUID, NodeUUID: d.NodeUUID, Address: d.Address, Name: text(d.Name), PXEEnabled: d.PXEEnabled == nil || *d.PXEEnabled, Extra: object(d.Extra),
		InternalInfo: map[string]any{}, LocalLinkConnection: object(d.LocalLinkConnection), PhysicalNetwork: text(d.PhysicalNetwork),
		IsSmartNIC: d.IsSmartNIC != nil && *d.IsSmartNIC,
	}
}

// Node finds a node by UUID or name, with its ports. Of its interfaces only that for inspection is told, and secrets are masked.
func (c *Client) Node(ctx context.Context, ident string) (node.Node, []node.Port, error) {
	var doc nodeDocument
	if err := c.call(ctx, http.MethodGet, "/nodes/"+url.PathEscape(ident), nil, &doc); err != nil {
		return node.Node{}, nil, err
	}
	if !node.IsUUID(doc.UUID) {
		return node.Node{}, nil, c.unreachable(errors.New("it answers something else than a node"))
	}
	ports := []node.Port{}
	err := c.pages(ctx, "/ports/detail?node="+doc.UUID, func(p page) {
		for _, d := range p.Ports {
			ports = append(ports, d.port())
		}
	})
	return doc.node(), ports, err
}

// NodeUUIDs lists the nodes that Ironic has.
func (c *Client) NodeUUIDs(ctx context.Context) ([]string, error) {
	all := []string{}
	err := c.pages(ctx, "/nodes?fields=uuid", func(p page) {
		for _, d := range p.Nodes {
			all = append(all, d.UUID)
		}
	})
	return all, err
}

type page struct {
	Nodes []nodeDocument `json:"nodes"`
	Ports []portDocument `json:"ports"`
}

// pages reads a list to its end. The next page is asked for by a marker, not by the address in the answer, which may not be one
// that we can reach.
func (c *Client) pages(ctx context.Context, path string, take func(page)) error {
	const size = "&limit=1000"
	marker := ""
	for {
		var p page
		if err := c.call(ctx, http.MethodGet, path+size+marker, nil, &p); err != nil {
			return err
		}
		take(p)
		last := ""
		if n := len(p.Nodes); n > 0 {
			last = p.Nodes[n-1].UUID
		} else if n := len(p.Ports); n > 0 {
			last = p.Ports[n-1].UUID
		}
		next := "&marker=" + url.QueryEscape(last)
		if last == "" || next == marker {
			return nil
		}
		marker = next
	}
}

// Inspect asks for the verb `inspect`.
func (c *Client) Inspect(ctx context.Context, uuid string) error {
	return c.call(ctx, http.MethodPut, "/nodes/"+uuid+"/states/provision", map[string]string{"target": string(node.Inspect)}, nil)
}

// Operation is one of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// PatchNode changes a node; without operations it asks nothing.
func (c *Client) PatchNode(ctx context.Context, uuid string, ops []Operation) error {
	return c.patch(ctx, "/nodes/"+uuid, ops)
}

// PatchPort changes a port.
func (c *Client) PatchPort(ctx context.Context, uuid string, ops []Operation) error {
	return c.patch(ctx, "/ports/"+uuid, ops)
}

func (c *Client) patch(ctx context.Context, path string, ops []Operation) error {
	if len(ops) == 0 {
		return nil
	}
	return c.call(ctx, http.MethodPatch, path, ops, nil)
}

// SetTraits sets all traits of a node.
func (c *Client) SetTraits(ctx context.Context, uuid string, traits []string) error {
	return c.call(ctx, http.MethodPut, "/nodes/"+uuid+"/traits", map[string][]string{"traits": append([]string{}, traits...)}, nil)
}

// CreatePort makes a port; *node.Exists where its MAC has one.
func (c *Client) CreatePort(ctx context.Context, p node.Port) error {
	d := portDocument{UUID: p.UUID, Address: p.Address, NodeUUID: p.NodeUUID, PXEEnabled: &p.PXEEnabled, Extra: p.Extra, LocalLinkConnection: p.LocalLinkConnection}
	if p.Name != "" {
		d.Name = &p.Name
	}
	if p.PhysicalNetwork != "" {
		d.PhysicalNetwork = &p.PhysicalNetwork
	}
	if p.IsSmartNIC {
		d.IsSmartNIC = &p.IsSmartNIC
	}
	return c.call(ctx, http.MethodPost, "/ports", d, nil)
}

// Difference is the patch that makes one document of the other, value by value at the first level below path.
func Difference(path string, before, after map[string]any, same func(a, b any) bool) (ops []Operation) {
	for _, k := range slices.Sorted(maps.Keys(after)) {
		if old, there := before[k]; !there || !same(old, after[k]) {
			ops = append(ops, Operation{Op: "add", Path: path + "/" + escaped(k), Value: after[k]})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[k]; !there {
			ops = append(ops, Operation{Op: "remove", Path: path + "/" + escaped(k)})
		}
	}
	return ops
}

// escaped is a key as a part of a path of a JSON patch.
func escaped(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
