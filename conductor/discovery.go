package conductor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"cagenut/node"
)

// Discovered is what is kept of machines that report although no node is them.
type Discovered interface {
	// Discover keeps a report, or only counts it for a machine that people have decided about, and tells what is known of the
	// machine then. node.ErrLost when a node has a port with one of its MACs, *node.Conflict when there is no room.
	Discover(ctx context.Context, d node.Discovery) (node.Discovered, error)
	// NodesBehind lists the nodes whose BMC has one of the addresses.
	NodesBehind(ctx context.Context, addresses []string) ([]node.Node, error)
	// DiscoveredMachine is one of them; *node.NotFound without it.
	DiscoveredMachine(ctx context.Context, uuid string) (node.Discovered, error)
	// DiscoveredReport is its report that is kept.
	DiscoveredReport(ctx context.Context, uuid string) (node.DiscoveredReport, error)
	// SetDiscoveredState keeps what was decided about a machine; *node.NotFound without it.
	SetDiscoveredState(ctx context.Context, uuid string, state node.DiscoveredState, a node.Audit) error
	// ForgetDiscovered removes a machine; *node.NotFound without it.
	ForgetDiscovered(ctx context.Context, uuid string, a node.Audit) error
	// AcceptDiscovered makes a node of a machine. node.ErrLost when it has reported again since, or was blocked; *node.Exists
	// when a name, MAC or the UUID is taken.
	AcceptDiscovered(ctx context.Context, a node.Acceptance) (node.Node, error)
}

// Describer tells in short what hardware a report comes from.
type Describer interface {
	Machine(body []byte) (node.Machine, error)
}

// errUnknownMachine says that a report is of a machine which no node is.
var errUnknownMachine = fmt.Errorf("the report of an unknown machine: %w", node.ErrNotReported)

// unknown tells whether a report that found no node is of a machine that none is: no MAC has a port, no waiting node's BMC has
// a reported address, and it says of whom it is by its MACs alone.
func unknown(r ReportRequest, k Keys, all []Candidate) bool {
	if r.Token != "" || r.NodeUUID != "" || len(k.MACs) == 0 {
		return false
	}
	return !slices.ContainsFunc(all, func(c Candidate) bool {
		return len(c.MACs) > 0 || slices.ContainsFunc(c.BMCAddresses, func(a string) bool { return slices.Contains(k.BMCAddresses, a) })
	})
}

// discover lets an unknown machine into the waiting room. The node that it tells of is the one that the machine would become.
// One after the other: those who are inspected want to report too.
func (c *Conductor) discover(ctx context.Context, actor node.Actor, r ReportRequest) (node.Node, error) {
	leave, err := c.enterWaitingRoom(ctx)
	if err != nil {
		return node.Node{}, err
	}
	defer leave()
	m, err := c.Describer.Machine(r.Body)
	if err != nil {
		return node.Node{}, err
	}
	if err := c.knownByBMC(ctx, m); err != nil {
		return node.Node{}, err
	}
	logs, rest, err := c.Logs.Split(r.Body)
	if err != nil {
		logs, rest = nil, r.Body
	}
	d, err := c.Discovered.Discover(ctx, node.Discovery{Address: actor.Address, At: c.Clock.Now(), Machine: m, Report: rest, Logs: logs})
	switch {
	case errors.Is(err, node.ErrLost):
		return node.Node{}, fmt.Errorf("a node was made of the machine meanwhile: %w", node.ErrNotReported)
	case err != nil:
		c.Log.Warn("unknown machine turned away", "from", actor.Address, "macs", m.MACs, "err", err)
		return node.Node{}, err
	case d.State == node.DiscoveredBlocked:
		return node.Node{}, fmt.Errorf("machine %s is blocked: %w", d.UUID, node.ErrNotReported)
	case d.Times == 1:
		c.Log.Info("unknown machine discovered", "machine", d.UUID, "from", actor.Address, "macs", m.MACs, "serial", m.Serial)
	}
	return node.Node{UUID: d.UUID, ProvisionState: node.Enroll, Properties: map[string]any{}, InstanceInfo: map[string]any{}, DriverInternalInfo: map[string]any{}}, nil
}

// knownByBMC turns away the machine of a node that has no ports and is known by its BMC alone: its report comes too late or
// too early, and does not make a second node of it.
func (c *Conductor) knownByBMC(ctx context.Context, m node.Machine) error {
	behind, err := c.Discovered.NodesBehind(ctx, m.BMCAddresses)
	if err != nil {
		return err
	}
	for _, n := range behind {
		ports, err := c.Ports.Ports(ctx, node.PortFilter{NodeUUID: n.UUID})
		if err != nil {
			return err
		}
		if len(ports) == 0 {
			return fmt.Errorf("node %s has the BMC of this machine, and no ports: %w", n.UUID, node.ErrNotReported)
		}
	}
	return nil
}

// enterWaitingRoom waits for one's turn; whoever waits for too long shall try again.
func (c *Conductor) enterWaitingRoom(ctx context.Context) (leave func(), err error) {
	leave = func() { <-c.waitingRoom }
	select {
	case c.waitingRoom <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case c.waitingRoom <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.Clock.After(c.LockPatience):
		return nil, &node.Conflict{Text: "Too many unknown machines report at once, please retry later."}
	}
}

// DecideOnMachine keeps what somebody has decided about a discovered machine: to hide it, to refuse it, or neither.
func (c *Conductor) DecideOnMachine(ctx context.Context, actor node.Actor, uuid string, state node.DiscoveredState) error {
	action := map[node.DiscoveredState]string{node.DiscoveredIgnored: "ignore", node.DiscoveredBlocked: "block", node.DiscoveredNew: "restore"}[state]
	return c.Discovered.SetDiscoveredState(ctx, uuid, state, c.about(actor, action+" discovered machine", uuid))
}

// ForgetMachine removes a discovered machine; when it reports again it is a new one.
func (c *Conductor) ForgetMachine(ctx context.Context, actor node.Actor, uuid string) error {
	return c.Discovered.ForgetDiscovered(ctx, uuid, c.about(actor, "forget discovered machine", uuid))
}

// AcceptRequest says as what a discovered machine is enrolled.
type AcceptRequest struct {
	Name   string
	Driver string // "": as the report suggests
	// DriverInfo goes beside what the report tells, before which it counts.
	DriverInfo map[string]any
	// ReportAt is the report that was decided on; the zero time is the newest.
	ReportAt time.Time
}

const acceptMachine = "accept discovered machine"

// AcceptMachine makes a node in `enroll` of a discovered machine, with what hooks and inspection rules make of its report
// (contract.md §4.2). Its BMC is not touched. The attempt that stands for the report tells what was noted.
//
// *node.Conflict is a refusal: by a hook or a rule with its text, of a blocked machine, or because the machine has reported
// again since.
func (c *Conductor) AcceptMachine(ctx context.Context, actor node.Actor, uuid string, req AcceptRequest) (node.Node, error) {
	var n node.Node
	err := c.inPatience(ctx, func() (err error) {
		n, err = c.acceptMachine(ctx, actor, uuid, req)
		return err
	})
	if err != nil && !missing(err) {
		c.auditRefusal(ctx, actor, acceptMachine, node.Node{UUID: uuid}, "", err)
	}
	return n, err
}

func (c *Conductor) acceptMachine(ctx context.Context, actor node.Actor, uuid string, req AcceptRequest) (node.Node, error) {
	d, err := c.Discovered.DiscoveredMachine(ctx, uuid)
	if err != nil {
		return node.Node{}, err
	}
	switch {
	case d.State == node.DiscoveredBlocked:
		return node.Node{}, &node.Conflict{Text: fmt.Sprintf("Machine %s is blocked. Restore it first.", uuid)}
	case !req.ReportAt.IsZero() && !req.ReportAt.Equal(d.ReportAt):
		return node.Node{}, &node.Conflict{Text: fmt.Sprintf("Machine %s has reported again since you looked. Look at it once more.", uuid)}
	}
	r, err := c.Discovered.DiscoveredReport(ctx, uuid)
	if err != nil {
		return node.Node{}, err
	}
	n, err := c.enrolment(ctx, d, req)
	if err != nil {
		return node.Node{}, err
	}
	now := c.Clock.Now()
	a := node.Attempt{
		ID: node.NewUUID(), NodeUUID: uuid, Interface: "agent", Token: newToken(), State: node.RunFinished, Outcome: node.Succeeded, Proof: node.NotProven,
		Started: node.Actor{Source: node.SourceRamdisk}, StartedAt: d.ReportAt, ReportAt: d.ReportAt, Ended: actor, EndedAt: now,
	}
	w, err := c.workUpDiscovered(ctx, n, &a, r.Report)
	if err != nil {
		return node.Node{}, err
	}
	a.Notes = once(a.Notes)
	return c.Discovered.AcceptDiscovered(ctx, node.Acceptance{
		Node: w.node, Ports: w.move.NewPorts, Attempt: a, Logs: r.Logs, Inventory: *w.move.Inventory,
		Report: node.Report{AttemptID: a.ID, Body: r.Report, At: d.ReportAt},
		History: node.History{
			NodeUUID: uuid, AttemptID: a.ID, At: now, LastAt: now, Severity: node.SeverityInfo, Type: node.TypeNode, Actor: actor, State: node.Enroll,
			Event: fmt.Sprintf("This machine was discovered when it reported from %s, and was accepted.", d.Address),
		},
		Audit: c.about(actor, acceptMachine, uuid),
	})
}

// enrolment is the node that a machine becomes, before its report is worked up.
func (c *Conductor) enrolment(ctx context.Context, d node.Discovered, req AcceptRequest) (node.Node, error) {
	driver, info := d.Machine.DriverInfo(req.Driver)
	maps.Copy(info, req.DriverInfo)
	n := node.Node{
		UUID: d.UUID, Name: req.Name, Driver: driver, DriverInfo: info, ProvisionState: node.Enroll, Conductor: c.Host,
		Properties: map[string]any{}, DriverInternalInfo: map[string]any{}, InstanceInfo: map[string]any{}, Extra: map[string]any{},
	}
	err := c.checkNode(ctx, &n)
	return n, err
}

// workUpDiscovered runs the hooks and then the rules on the report of a discovered machine.
func (c *Conductor) workUpDiscovered(ctx context.Context, n node.Node, a *node.Attempt, body []byte) (workedUp, error) {
	refused := func(err error) error { return &node.Conflict{Text: "The machine was not accepted: " + err.Error()} }
	_, owners, err := c.portsFor(ctx, n, body)
	if err != nil {
		return workedUp{}, err
	}
	f, err := c.Reports.Process(ctx, n, nil, owners, body)
	if ctx.Err() != nil {
		return workedUp{}, ctx.Err()
	}
	a.Notes = append(a.Notes, f.Notes...)
	if err != nil {
		return workedUp{}, refused(err)
	}
	if len(f.NewPorts) == 0 && len(owners) > 0 {
		return workedUp{}, refused(fmt.Errorf("its MACs have ports of node %s by now", slices.Sorted(maps.Values(owners))[0]))
	}
	if f.PluginData, err = markDiscovered(f.PluginData); err != nil {
		return workedUp{}, err
	}
	w, err := c.workUp(ctx, n, a, nil, f)
	if ctx.Err() != nil {
		return workedUp{}, ctx.Err()
	}
	if byRule := (*refusedByRule)(nil); errors.As(err, &byRule) {
		return workedUp{}, refused(err)
	}
	if err == nil {
		err = c.checkNode(ctx, &w.node)
	}
	return w, err
}

// markDiscovered says in the plugin data that nobody asked for this report: rules look for it (contract.md §4.2).
func markDiscovered(pluginData []byte) ([]byte, error) {
	doc := map[string]json.RawMessage{}
	if err := json.Unmarshal(pluginData, &doc); err != nil {
		return nil, fmt.Errorf("read the plugin data of a discovered machine: %w", err)
	}
	doc["auto_discovered"] = json.RawMessage("true")
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("write the plugin data of a discovered machine: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
