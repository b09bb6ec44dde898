package conductor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cagenut/node"
)

// Report takes what a ramdisk posted: it finds the node (contract.md §4.1), stores the report and moves the node to
// `inspecting` in one transaction; the hooks run afterwards, in a job. Refusals are node.ErrNotReported, whatever their
// reason (but *node.Locked for a server that was faster than its start job), and are counted in the history of the attempt that they came too late for.
// With [Settings.Discovery] the report of a machine that no node is goes to the waiting room, and the answer is the node that
// it would become.
func (c *Conductor) Report(ctx context.Context, actor node.Actor, r ReportRequest) (node.Node, error) {
	n, proof, err := c.addressee(ctx, actor, r)
	if errors.Is(err, errUnknownMachine) {
		return c.discover(ctx, actor, r)
	}
	if err != nil {
		return node.Node{}, err
	}
	n, err = c.accept(ctx, actor, n, proof, r)
	return n, unsaid(err)
}

// ReportAndLookup is [Conductor.Report] for the ramdisks that get the answer of a lookup (contract.md §4.1): the token is
// as [Conductor.Lookup] says, made before the report is taken, because it needs the free node.
func (c *Conductor) ReportAndLookup(ctx context.Context, actor node.Actor, r ReportRequest) (node.Node, node.Secret, error) {
	n, proof, err := c.addressee(ctx, actor, r)
	if errors.Is(err, errUnknownMachine) { // there is no node that a token could be of
		n, err = c.discover(ctx, actor, r)
		return n, "", err
	}
	if err != nil {
		return node.Node{}, "", err
	}
	n, token, err := c.withToken(ctx, actor, n)
	if err != nil {
		return node.Node{}, "", err
	}
	n, err = c.accept(ctx, actor, n, proof, r)
	return n, token, unsaid(err)
}

// unsaid keeps from a ramdisk that its node has been deleted under it: nobody learns which nodes there are.
func unsaid(err error) error {
	if missing(err) {
		return fmt.Errorf("%s: %w", err.Error(), node.ErrNotReported)
	}
	return err
}

// addressee finds the node that a report is for, or turns the report away.
func (c *Conductor) addressee(ctx context.Context, actor node.Actor, r ReportRequest) (node.Node, node.Proof, error) {
	keys, err := c.Reports.Keys(r.Body)
	if err != nil {
		return node.Node{}, "", err
	}
	var proven node.Attempt
	if r.Token != "" {
		proven, err = c.Attempts.AttemptByToken(ctx, r.Token)
		if missing(err) {
			return node.Node{}, "", fmt.Errorf("unknown attempt token: %w", node.ErrNotReported)
		}
		if err != nil {
			return node.Node{}, "", err
		}
		if r.NodeUUID != "" && r.NodeUUID != proven.NodeUUID {
			return node.Node{}, "", c.stranger(ctx, actor, proven, keys, fmt.Errorf("the token belongs to another node than the one named: %w", node.ErrNotReported))
		}
		switch {
		case proven.State == node.RunStarting:
			// The server was faster than the start job, which still holds the node: the ramdisk tries again on 409.
			return node.Node{}, "", &node.Locked{Node: proven.NodeUUID, Holder: c.Host}
		case proven.State.Ended():
			c.keepLateLogs(ctx, proven, r.Body)
			return node.Node{}, "", c.tooLate(ctx, actor, proven)
		case proven.State != node.RunWaiting:
			return node.Node{}, "", fmt.Errorf("attempt %s has its report: %w", proven.ID, node.ErrNotReported)
		}
		r.NodeUUID = proven.NodeUUID
	}
	all, err := c.candidates(ctx, keys, r.NodeUUID)
	if err != nil {
		return node.Node{}, "", err
	}
	if proven.ID != "" {
		all = ofTheToken(all, proven.NodeUUID)
	}
	uuid, err := c.Reports.Match(keys, r.NodeUUID, all)
	switch {
	case errors.Is(err, node.ErrNotReported) && proven.ID != "":
		return node.Node{}, "", c.stranger(ctx, actor, proven, keys, err)
	case errors.Is(err, node.ErrNotReported) && c.Discovery && unknown(r, keys, all):
		return node.Node{}, "", errUnknownMachine
	case errors.Is(err, node.ErrNotReported):
		return node.Node{}, "", c.refuse(ctx, actor, keys, all, err)
	case err != nil:
		return node.Node{}, "", err
	}
	n, err := c.Nodes.Node(ctx, uuid)
	if err != nil {
		return node.Node{}, "", unsaid(err)
	}
	if proven.ID == "" {
		return n, node.NotProven, nil
	}
	if n.AttemptID != proven.ID {
		return node.Node{}, "", fmt.Errorf("attempt %s is not the node's any more: %w", proven.ID, node.ErrNotReported)
	}
	return n, node.Proven, nil
}

// candidates are the nodes that own a reported MAC, the one that is asked for, and all that wait.
func (c *Conductor) candidates(ctx context.Context, k Keys, asked string) ([]Candidate, error) {
	waiting, err := c.Watched.LookupAddresses(ctx)
	if err != nil {
		return nil, err
	}
	byUUID := map[string]*Candidate{}
	for uuid, addresses := range waiting {
		byUUID[uuid] = &Candidate{NodeUUID: uuid, Waiting: true, BMCAddresses: addresses}
	}
	ports, err := c.Ports.Ports(ctx, node.PortFilter{Addresses: append([]string{}, k.MACs...)})
	if err != nil {
		return nil, err
	}
	for _, p := range ports {
		if byUUID[p.NodeUUID] == nil {
			byUUID[p.NodeUUID] = &Candidate{NodeUUID: p.NodeUUID}
		}
		byUUID[p.NodeUUID].MACs = append(byUUID[p.NodeUUID].MACs, p.Address)
	}
	if asked != "" && byUUID[asked] == nil {
		if _, err := c.Nodes.Node(ctx, asked); err == nil {
			byUUID[asked] = &Candidate{NodeUUID: asked}
		} else if !missing(err) {
			return nil, err
		}
	}
	all := make([]Candidate, 0, len(byUUID))
	for _, cand := range byUUID {
		all = append(all, *cand)
	}
	return all, nil
}

// ofTheToken takes the word of a token that fits one of the reported MACs: that the port of another reported MAC is another
// node's tells of a card that was moved, not of whose report it is. The hooks say so and leave that port alone (G28).
func ofTheToken(all []Candidate, proven string) []Candidate {
	if !slices.ContainsFunc(all, func(c Candidate) bool { return c.NodeUUID == proven && len(c.MACs) > 0 }) {
		return all
	}
	for i := range all {
		if all[i].NodeUUID != proven {
			all[i].MACs = nil
		}
	}
	return all
}

// accept stores a report that has found its node, for the attempt that the node had when the report was found to be its.
func (c *Conductor) accept(ctx context.Context, actor node.Actor, n node.Node, proof node.Proof, r ReportRequest) (node.Node, error) {
	uuid := n.UUID
	err := c.whenFree(ctx, n, func(now node.Node) error {
		if now.ProvisionState != node.InspectWait || now.AttemptID != n.AttemptID {
			return fmt.Errorf("node %s does not wait for a report: %w", uuid, node.ErrNotReported)
		}
		at, hold := c.Clock.Now(), node.NewUUID()
		_, err := c.Moves.Move(ctx, node.Move{
			Node: uuid, From: node.InspectWait, Attempt: now.AttemptID, Event: node.Resume, Hold: hold, Host: c.Host, Actor: actor, At: at,
			AttemptState: node.RunProcessing, Proof: proof, Report: &node.Report{AttemptID: now.AttemptID, Body: r.Body, At: at},
			Jobs: []node.Job{{Kind: node.JobFinish, Node: uuid, Attempt: now.AttemptID, Hold: hold, Actor: actor}},
		})
		return err
	})
	return n, err
}

// refuse turns a report away, and counts it where it is plain which attempt it came too late for.
func (c *Conductor) refuse(ctx context.Context, actor node.Actor, k Keys, all []Candidate, why error) error {
	c.Log.Info("report refused", "from", actor.Address, "macs", k.MACs, "why", why.Error())
	for _, cand := range all {
		if cand.Waiting || len(cand.MACs) == 0 {
			continue
		}
		n, err := c.Nodes.Node(ctx, cand.NodeUUID)
		if err != nil || n.AttemptID == "" {
			continue
		}
		a, err := c.Attempts.Attempt(ctx, n.AttemptID)
		switch {
		case err != nil:
			continue
		case a.State == node.RunStarting:
			return &node.Locked{Node: n.UUID, Holder: c.Host}
		case a.State.Ended():
			return c.tooLate(ctx, actor, a)
		}
	}
	return why
}

// tooLate counts a report of an attempt that is over: one history entry per attempt, with first, last and how often.
func (c *Conductor) tooLate(ctx context.Context, actor node.Actor, a node.Attempt) error {
	now := c.Clock.Now()
	h := node.History{
		NodeUUID: a.NodeUUID, AttemptID: a.ID, At: now, LastAt: now, Severity: node.SeverityInfo, Type: node.TypeInspection,
		Event: "A report of an inspection that is over was refused.", Actor: actor, Key: "late:" + a.ID,
	}
	return c.note(ctx, h, fmt.Errorf("a late report of attempt %s: %w", a.ID, node.ErrNotReported))
}

// stranger turns away a report that shows the token of a running attempt and is another server's: an image or a boot script
// of one attempt that another server got hold of. One history entry per attempt counts them.
func (c *Conductor) stranger(ctx context.Context, actor node.Actor, a node.Attempt, k Keys, why error) error {
	if a.State.Ended() {
		return c.tooLate(ctx, actor, a)
	}
	now := c.Clock.Now()
	h := node.History{
		NodeUUID: a.NodeUUID, AttemptID: a.ID, At: now, LastAt: now, Severity: node.SeverityError, Type: node.TypeInspection, Actor: actor, Key: "stranger:" + a.ID,
		Event: "A report with the token of this inspection came from another server and was refused" + withMACs(k) + ".",
	}
	return c.note(ctx, h, why)
}

// note writes down a refusal, unless too many like it were written down just now, and returns it.
func (c *Conductor) note(ctx context.Context, h node.History, refused error) error {
	if !c.refused.noted(h.Key, h.At) {
		return refused
	}
	if err := c.Moves.Note(ctx, &h, nil); err != nil {
		return err
	}
	return refused
}

// withMACs names a server by the first of its MACs.
func withMACs(k Keys) string {
	if len(k.MACs) == 0 {
		return ""
	}
	return " (" + strings.Join(k.MACs[:min(len(k.MACs), 4)], ", ") + ")"
}

// finishPatience is how long a stored report may take to be worked up, tries that failed and time switched off included.
const finishPatience = 2 * time.Hour

// workFinish runs the hooks on a stored report and ends the attempt.
func (c *Conductor) workFinish(ctx context.Context, j node.Job) (time.Duration, error) {
	n, a, wanted, err := c.heldAttempt(ctx, j)
	if err != nil || !wanted {
		return done, err
	}
	r, err := c.Attempts.Report(ctx, a.ID)
	if err != nil {
		return done, err
	}
	r = c.keepLogs(ctx, n.UUID, r)
	if c.Clock.Now().Sub(r.At) > finishPatience {
		// Whatever goes wrong again and again, it must not hold the node for ever.
		return done, c.failAttempt(ctx, n, a, j.Hold, fmt.Sprintf("%sthe report could not be worked up within %s", failedToFinish, finishPatience))
	}
	c.Sign(ctx, n.UUID, a.ID, node.SignHooks, "")
	ports, owners, err := c.portsFor(ctx, n, r.Body)
	if invalid := (*node.Invalid)(nil); errors.As(err, &invalid) {
		// Only what a foreign inspector stored comes here unread.
		return done, c.failAttempt(ctx, n, a, j.Hold, failedToFinish+invalid.Text)
	}
	if err != nil {
		return done, err
	}
	f, err := c.Reports.Process(ctx, n, ports, owners, r.Body)
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	a.Notes = append(a.Notes, f.Notes...)
	if err != nil {
		return done, c.failAttempt(ctx, n, a, j.Hold, failedToFinish+err.Error())
	}
	return done, c.finish(ctx, j, n, a, ports, f)
}

// portsFor lists the node's ports, and who owns the reported MACs that have one.
func (c *Conductor) portsFor(ctx context.Context, n node.Node, body []byte) (ports []node.Port, owners map[string]string, err error) {
	keys, err := c.Reports.Keys(body)
	if err != nil {
		return nil, nil, err
	}
	return c.portsAndOwners(ctx, n, keys.MACs)
}

func (c *Conductor) portsAndOwners(ctx context.Context, n node.Node, macs []string) (ports []node.Port, owners map[string]string, err error) {
	if ports, err = c.Ports.Ports(ctx, node.PortFilter{NodeUUID: n.UUID}); err != nil {
		return nil, nil, err
	}
	owned, err := c.Ports.Ports(ctx, node.PortFilter{Addresses: append([]string{}, macs...)})
	if err != nil {
		return nil, nil, err
	}
	owners = map[string]string{}
	for _, p := range owned {
		owners[p.Address] = p.NodeUUID
	}
	return ports, owners, nil
}

// Booting finds whose network boot a MAC is: the node and its running attempt, or *node.NotFound for everybody who is not
// being inspected. It is noted as a sign of life.
func (c *Conductor) Booting(ctx context.Context, mac string) (node.Node, node.Attempt, error) {
	nobody := &node.NotFound{What: "Booting node", Ident: mac}
	ports, err := c.Ports.Ports(ctx, node.PortFilter{Addresses: []string{mac}})
	if err != nil || len(ports) == 0 {
		return node.Node{}, node.Attempt{}, errors.Join(err, nobody)
	}
	n, err := c.Nodes.Node(ctx, ports[0].NodeUUID)
	if err != nil {
		return node.Node{}, node.Attempt{}, err
	}
	if n.ProvisionState != node.Inspecting && n.ProvisionState != node.InspectWait {
		return node.Node{}, node.Attempt{}, nobody
	}
	a, err := c.Attempts.Attempt(ctx, n.AttemptID)
	if err != nil {
		return node.Node{}, node.Attempt{}, err
	}
	if a.State != node.RunStarting && a.State != node.RunWaiting || c.outOfBand(a.Interface) {
		return node.Node{}, node.Attempt{}, nobody
	}
	c.Sign(ctx, n.UUID, a.ID, node.SignBootScript, mac)
	return n, a, nil
}

// BootingAttempt is a running attempt by its id, with its node: *node.NotFound once it is over, and for one that boots
// nothing. While its report is worked up the ramdisk still runs.
func (c *Conductor) BootingAttempt(ctx context.Context, id string) (node.Node, node.Attempt, error) {
	nobody := &node.NotFound{What: "Booting attempt", Ident: id}
	a, err := c.Attempts.Attempt(ctx, id)
	if err != nil {
		return node.Node{}, node.Attempt{}, err
	}
	if a.State.Ended() || c.outOfBand(a.Interface) {
		return node.Node{}, node.Attempt{}, nobody
	}
	n, err := c.Nodes.Node(ctx, a.NodeUUID)
	if err != nil {
		return node.Node{}, node.Attempt{}, err
	}
	if n.AttemptID != a.ID {
		return node.Node{}, node.Attempt{}, nobody
	}
	return n, a, nil
}
