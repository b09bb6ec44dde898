package conductor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cagenut/node"
)

// Enrolment is a server as people describe it when they enrol it.
type Enrolment struct {
	Node node.Node
	MACs []string // of its ports
	// Check asks its BMC at once (the verb manage).
	Check bool
}

// Enrolled is what came of an [Enrolment].
type Enrolled struct {
	Node node.Node
	// Notes are what did not work although the node is there, as sentences.
	Notes []string
}

// Enrol makes a node and its ports, and has its BMC checked if that is wished: the same as one request of the API for each.
// What can be refused beforehand is, so that an error means that there is no node.
func (e *Enroller) Enrol(ctx context.Context, actor node.Actor, x Enrolment) (Enrolled, error) {
	if err := e.c.BMCs.Validate(x.Node); err != nil && x.Node.Driver != node.DriverFake {
		return Enrolled{}, err
	}
	macs, err := readMACs(x.MACs)
	if err != nil {
		return Enrolled{}, err
	}
	if err := e.macsFree(ctx, macs); err != nil {
		return Enrolled{}, err
	}
	n, err := e.c.CreateNode(ctx, actor, x.Node)
	if err != nil {
		return Enrolled{}, err
	}
	out := Enrolled{Node: n}
	// From here on the node is there: whoever asked may go away, the rest is done all the same.
	ctx = context.WithoutCancel(ctx)
	for _, mac := range macs {
		if _, err := e.c.CreatePort(ctx, actor, node.Port{NodeUUID: n.UUID, Address: mac, PXEEnabled: true}); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("The port %s was not made: %s", mac, err))
		}
	}
	if x.Check {
		if err := e.c.SetProvisionState(ctx, actor, n.UUID, ProvisionRequest{Target: string(node.Manage)}); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("Its BMC is not being checked: %s", err))
		}
	}
	return out, nil
}

// readMACs reads addresses in any usual spelling; *node.Invalid names the one that is none.
func readMACs(all []string) (macs []string, err error) {
	for _, one := range all {
		mac, ok := node.ParseMAC(one)
		if !ok {
			return nil, node.Invalidf("%q is no MAC address: it should have six pairs of hexadecimal digits, such as 52:54:00:12:34:56.", node.Shorten(one, 60))
		}
		if slices.Contains(macs, mac) {
			return nil, node.Invalidf("The MAC address %s is given twice.", mac)
		}
		macs = append(macs, mac)
	}
	return macs, nil
}

func (e *Enroller) macsFree(ctx context.Context, macs []string) error {
	if len(macs) == 0 {
		return nil
	}
	taken, err := e.c.Ports.Ports(ctx, node.PortFilter{Addresses: macs})
	if err != nil || len(taken) == 0 {
		return err
	}
	return &node.Exists{Text: fmt.Sprintf("The MAC address %s is that of a port of node %s already.", taken[0].Address, taken[0].NodeUUID)}
}

// Likeness is why a server that is to be enrolled may be one that is there already, or stand in its way.
type Likeness string

// The kinds of likeness.
const (
	SameBMC    Likeness = "bmc"
	SamePlace  Likeness = "place"
	SameSerial Likeness = "serial"
)

// Twin is a node that is like one that is to be enrolled.
type Twin struct {
	Kind       Likeness
	UUID, Name string // Name is the node's label
}

// twinsTold is how many twins of a kind are told: a warning is no list.
const twinsTold = 20

// Twins lists the nodes that a server may be already. serial is what its BMC said; "" where nobody has asked.
func (e *Enroller) Twins(ctx context.Context, x Enrolment, serial string) ([]Twin, error) {
	var out []Twin
	add := func(kind Likeness, n node.Node) { out = append(out, Twin{Kind: kind, UUID: n.UUID, Name: n.Label()}) }
	same, err := e.behind(ctx, x.Node)
	if err != nil {
		return nil, err
	}
	for _, n := range same[:min(len(same), twinsTold)] {
		add(SameBMC, n)
	}
	if at := x.Node.Location(); at.InRack() {
		there, err := e.Neighbours.Nodes(ctx, node.Filter{Rack: at.Rack, IncludeChildren: true})
		if err != nil {
			return nil, err
		}
		for _, n := range there {
			if overlap(at, n.Location()) {
				add(SamePlace, n)
			}
		}
	}
	if serial = node.Known(serial); serial == "" {
		return out, nil
	}
	l := node.List{Filter: node.Filter{Search: serial, IncludeChildren: true}, Order: node.ByName}
	l.Limit = twinsTold
	alike, err := e.Neighbours.Summaries(ctx, l)
	if err != nil {
		return nil, err
	}
	for _, n := range alike.All {
		if strings.EqualFold(n.Serial, serial) {
			add(SameSerial, n.Node)
		}
	}
	return out, nil
}

func overlap(a, b node.Location) bool {
	return a.Rack == b.Rack && b.Unit > 0 && a.Unit <= b.Top() && b.Unit <= a.Top()
}

// behind lists the nodes that have the same BMC, and not another of its systems.
func (e *Enroller) behind(ctx context.Context, n node.Node) ([]node.Node, error) {
	_, host, err := e.Endpoints.Endpoint(n)
	if err != nil || host == "" {
		return nil, nil // a mistake in driver_info is told elsewhere
	}
	candidates, err := e.Neighbours.NodesBehind(ctx, []string{host})
	if err != nil {
		return nil, fmt.Errorf("look for nodes behind %s: %w", host, err)
	}
	return slices.DeleteFunc(candidates, func(other node.Node) bool { return !e.sameServer(n, other) }), nil
}

// sameServer tells whether two descriptions lead to the same server. One that is reached by Redfish and by IPMI, both at their
// usual ports, is one.
func (e *Enroller) sameServer(a, b node.Node) bool {
	first, host, err := e.Endpoints.Endpoint(a)
	second, other, err2 := e.Endpoints.Endpoint(b)
	if errors.Join(err, err2) != nil || host == "" || host != other {
		return false
	}
	if a.Driver != b.Driver {
		return usualPort(a.Driver, first) && usualPort(b.Driver, second)
	}
	one, two := systemID(a), systemID(b)
	return first == second && (one == "" || two == "" || one == two)
}

func usualPort(driver, endpoint string) bool {
	if driver == node.DriverIPMI {
		return strings.HasSuffix(endpoint, ":623")
	}
	_, hostport, _ := strings.Cut(endpoint, "://")
	after := hostport[strings.LastIndex(hostport, "]")+1:] // of an IPv6 address
	return !strings.Contains(after, ":")
}

func systemID(n node.Node) string {
	id, _ := node.Text(n.DriverInfo["redfish_system_id"])
	return strings.TrimRight(id, "/")
}
