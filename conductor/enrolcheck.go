package conductor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cagenut/node"
)

// EnrolVerdict is what is known of one line of a list before it is enrolled.
type EnrolVerdict struct {
	// Refused is why the line cannot be enrolled; "" where it can.
	Refused string
	// There is the node that it is already, beside Refused; nil for none.
	There *Twin
	// Warnings are what somebody should look at although it can be enrolled.
	Warnings []string
}

// CheckMany says of each line what enrolling it would meet: what is wrong with it, what is in the list twice, and what is
// there already. It asks no BMC and makes nothing.
func (e *Enroller) CheckMany(ctx context.Context, all []Enrolment) ([]EnrolVerdict, error) {
	list := enrolList{e: e, names: map[string]int{}, macs: map[string]int{}, endpoints: map[string][]int{}, racks: map[string][]node.Node{}, all: all}
	var err error
	if list.ports, err = e.portsOf(ctx, all); err != nil {
		return nil, err
	}
	out := make([]EnrolVerdict, len(all))
	for i, x := range all {
		if out[i], err = list.check(ctx, i, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// enrolList is what the lines before have taken.
type enrolList struct {
	e         *Enroller
	all       []Enrolment
	names     map[string]int    // name to line
	macs      map[string]int    // MAC to line
	endpoints map[string][]int  // BMC to lines
	ports     map[string]string // MAC to the node that has it
	racks     map[string][]node.Node
}

func (l *enrolList) check(ctx context.Context, i int, x Enrolment) (v EnrolVerdict, err error) {
	if v.Refused = l.wrong(x); v.Refused != "" {
		return v, nil
	}
	if v.There, err = l.e.isThere(ctx, x.Node); err != nil {
		return v, err
	}
	if v.There != nil {
		v.Refused = alreadyThere(*v.There)
		return v, nil
	}
	if v.Refused = l.twice(i, x); v.Refused != "" {
		return v, nil
	}
	v.Warnings, err = l.warn(ctx, i, x)
	return v, err
}

// wrong is what is wrong with a line by itself.
func (l *enrolList) wrong(x Enrolment) string {
	if x.Node.Name != "" {
		if err := node.ValidateName(x.Node.Name); err != nil {
			return err.Error()
		}
	}
	d, err := node.DriverNamed(x.Node.Driver)
	if err != nil {
		return fmt.Sprintf("There is no driver %q: it should be redfish or ipmi.", node.Shorten(x.Node.Driver, 60))
	}
	use := x.Node.Interfaces
	if err := d.FillInterfaces(&use); err != nil {
		return err.Error()
	}
	if err := l.e.c.BMCs.Validate(x.Node); err != nil && x.Node.Driver != node.DriverFake {
		return err.Error()
	}
	if _, err := readMACs(x.MACs); err != nil {
		return err.Error()
	}
	return ""
}

// twice is what a line has in common with one before it; otherwise it takes its name, BMC and MACs.
func (l *enrolList) twice(i int, x Enrolment) string {
	if before, taken := l.names[x.Node.Name]; taken && x.Node.Name != "" {
		return fmt.Sprintf("The name %s is in the list twice: also in entry %d.", x.Node.Name, before+1)
	}
	endpoint, _, err := l.e.Endpoints.Endpoint(x.Node)
	if err == nil && endpoint != "" {
		for _, before := range l.endpoints[endpoint] {
			if l.e.sameServer(l.all[before].Node, x.Node) {
				return fmt.Sprintf("The BMC %s is in the list twice: also in entry %d.", endpoint, before+1)
			}
		}
	}
	macs, _ := readMACs(x.MACs) // checked before
	for _, mac := range macs {
		if before, taken := l.macs[mac]; taken {
			return fmt.Sprintf("The MAC address %s is in the list twice: also in entry %d.", mac, before+1)
		}
		if owner := l.ports[mac]; owner != "" {
			return fmt.Sprintf("The MAC address %s is that of a port of node %s already.", mac, owner)
		}
	}
	l.names[x.Node.Name] = i
	if endpoint != "" {
		l.endpoints[endpoint] = append(l.endpoints[endpoint], i)
	}
	for _, mac := range macs {
		l.macs[mac] = i
	}
	return ""
}

// warn says who sits where the line's server shall sit, and takes its place.
func (l *enrolList) warn(ctx context.Context, i int, x Enrolment) (warnings []string, err error) {
	at := x.Node.Location()
	if at.Rack == "" || at.Unit == 0 {
		return nil, nil
	}
	if !at.InRack() {
		return []string{fmt.Sprintf("No rack has unit %d.", at.Top())}, nil
	}
	there, known := l.racks[at.Rack]
	if !known {
		if there, err = l.e.Neighbours.Nodes(ctx, node.Filter{Rack: at.Rack, IncludeChildren: true}); err != nil {
			return nil, err
		}
	}
	for _, n := range there {
		if overlap(at, n.Location()) {
			warnings = append(warnings, fmt.Sprintf("Its place is that of %s.", n.Label()))
			break
		}
	}
	mine := x.Node
	if mine.Name == "" {
		mine.Name = fmt.Sprintf("entry %d", i+1)
	}
	l.racks[at.Rack] = append(there, mine)
	return warnings, nil
}

// portsOf finds the owners of the MACs of all lines, some hundreds at a time.
func (e *Enroller) portsOf(ctx context.Context, all []Enrolment) (map[string]string, error) {
	owners := map[string]string{}
	var macs []string
	for _, x := range all {
		for _, one := range x.MACs {
			if mac, ok := node.ParseMAC(one); ok {
				macs = append(macs, mac)
			}
		}
	}
	for some := range slices.Chunk(macs, 400) {
		ports, err := e.c.Ports.Ports(ctx, node.PortFilter{Addresses: some})
		if err != nil {
			return nil, fmt.Errorf("look for ports with the MACs of a list: %w", err)
		}
		for _, p := range ports {
			owners[p.Address] = p.NodeUUID
		}
	}
	return owners, nil
}

// EnrolField names what of an enrolment an error is about, so that it can be said beside it: "name", "driver", "address",
// "user", "password", "fingerprint", "verify", "system", "port", "macs", "interface"; "" for the whole.
func EnrolField(err error) string {
	var (
		exists  *node.Exists
		invalid *node.Invalid
		text    string
	)
	switch {
	case errors.As(err, &exists) && exists.Name:
		return "name"
	case errors.As(err, &exists):
		text = exists.Text
	case errors.As(err, &invalid):
		text = invalid.Text
	case errors.Is(err, node.ErrCredentials):
		return "password"
	default:
		return ""
	}
	for _, sign := range [][2]string{
		{"redfish_certificate_sha256'", "fingerprint"}, {"redfish_verify_ca'", "verify"}, {"redfish_system_id'", "system"}, {"_password'", "password"}, {"_username'", "user"},
		{"ipmi_port'", "port"}, {"_address'", "address"}, {"IPMI credentials", "address"}, {"MAC address", "macs"}, {"node with invalid name", "name"}, {"as a node name", "name"},
		{"supports driver", "driver"}, {"ironic.hardware.interfaces", "interface"},
	} {
		if strings.Contains(text, sign[0]) {
			return sign[1]
		}
	}
	return ""
}
