package conductor

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cagenut/node"
)

// tokenSince is the microversion that brought the agent's token.
const tokenSince = 62

// LookupRequest is what a ramdisk asks to learn which node it runs on (contract.md §3.9).
type LookupRequest struct {
	MACs     []string // as they were sent; what is no MAC is ignored
	NodeUUID string   // decides alone where it is given
	Minor    int
}

// Lookup finds the node that a ramdisk runs on. Any miss is node.ErrNotReported, so that nobody can find out by asking
// which nodes there are. From 1.62 a token is made, which the ramdisk shows with every heartbeat: it is disclosed once
// per boot and reads as node.Mask afterwards; "" where there is none. Making it needs a free node: *node.Locked.
func (c *Conductor) Lookup(ctx context.Context, actor node.Actor, req LookupRequest) (node.Node, node.Secret, error) {
	n, err := c.lookedUp(ctx, req)
	if err != nil {
		return node.Node{}, "", err
	}
	c.signOf(ctx, n, node.SignLookup, actor.Address)
	if !tooOld(req.Minor, tokenSince) {
		return c.withToken(ctx, actor, n)
	}
	if agentToken(n) != "" {
		return n, node.Mask, nil
	}
	return n, "", nil
}

func (c *Conductor) lookedUp(ctx context.Context, req LookupRequest) (node.Node, error) {
	macs := validMACs(req.MACs)
	if len(macs) == 0 && req.NodeUUID == "" {
		return node.Node{}, node.Invalidf("At least one of 'addresses' and 'node_uuid' parameters is required")
	}
	uuid := req.NodeUUID
	if uuid == "" {
		var err error
		if uuid, err = c.ownerOf(ctx, macs); err != nil {
			return node.Node{}, err
		}
	}
	if !node.IsUUID(uuid) {
		return node.Node{}, fmt.Errorf("%q is no UUID: %w", uuid, node.ErrNotReported)
	}
	n, err := c.Nodes.Node(ctx, uuid)
	if err == nil && !n.ProvisionState.LookupAllowed() {
		err = fmt.Errorf("node %s is in %s: %w", n.UUID, n.ProvisionState, node.ErrNotReported)
	}
	return n, unsaid(err)
}

func validMACs(sent []string) []string {
	var macs []string
	for _, s := range sent {
		if mac, ok := node.ParseMAC(s); ok && !slices.Contains(macs, mac) {
			macs = append(macs, mac)
		}
	}
	return macs
}

// ownerOf is the one node that has all of the MACs that are known.
func (c *Conductor) ownerOf(ctx context.Context, macs []string) (string, error) {
	ports, err := c.Ports.Ports(ctx, node.PortFilter{Addresses: macs})
	if err != nil {
		return "", err
	}
	owner := ""
	for _, p := range ports {
		if owner != "" && owner != p.NodeUUID {
			return "", fmt.Errorf("the MACs %v belong to several nodes: %w", macs, node.ErrNotReported)
		}
		owner = p.NodeUUID
	}
	if owner == "" {
		return "", fmt.Errorf("the MACs %v are unknown: %w", macs, node.ErrNotReported)
	}
	return owner, nil
}

// Keys of driver_internal_info that belong to the ramdisk of one boot; the store forgets them with Move.ForgetAgent.
const (
	agentTokenKey     = "agent_secret_token"
	agentURLKey       = "agent_url"
	agentCAKey        = "agent_verify_ca"
	agentVersionKey   = "agent_version"
	agentHeartbeatKey = "agent_last_heartbeat"
	agentStatusKey    = "agent_status"
	agentMessageKey   = "agent_status_message"
)

func agentToken(n node.Node) string {
	t, _ := node.Text(n.DriverInternalInfo[agentTokenKey])
	return t
}

// withToken gives the node's ramdisk a token, or says that it has one. Of several who ask at once, one is told it.
func (c *Conductor) withToken(ctx context.Context, actor node.Actor, n node.Node) (node.Node, node.Secret, error) {
	for {
		if !n.ProvisionState.LookupAllowed() {
			return node.Node{}, "", fmt.Errorf("node %s is in %s: %w", n.UUID, n.ProvisionState, node.ErrNotReported)
		}
		if agentToken(n) != "" {
			return n, node.Mask, nil
		}
		if n.Reserved() {
			return node.Node{}, "", &node.Locked{Node: n.UUID, Holder: n.Reservation}
		}
		token := newToken()
		after, err := c.Moves.Move(ctx, node.Move{
			Node: n.UUID, From: n.ProvisionState, Attempt: n.AttemptID, Actor: actor, At: c.Clock.Now(),
			Unset: agentTokenKey, Internal: map[string]any{agentTokenKey: token},
		})
		if err == nil {
			return after, token, nil
		}
		if !errors.Is(err, node.ErrLost) {
			return node.Node{}, "", err
		}
		if n, err = c.Nodes.Node(ctx, n.UUID); err != nil {
			return node.Node{}, "", unsaid(err)
		}
	}
}

// HeartbeatRequest is a ramdisk's sign of life (contract.md §3.9). Absent values are "".
type HeartbeatRequest struct {
	NodeUUID      string // or the node's name
	CallbackURL   string // where the ramdisk listens
	AgentVersion  string
	Token         node.Secret // of [Conductor.Lookup]
	VerifyCA      string      // PEM, to verify the ramdisk's own certificate
	Status        string
	StatusMessage string
	Minor         int
}

// maxAgentText bounds what a ramdisk may say of itself, in bytes; a certificate is the longest of it.
const maxAgentText = 64 << 10

var agentStatuses = []string{"start", "end", "error"}

// Heartbeat notes where a node's ramdisk listens and when it was last heard of. It moves nothing. What is wrong with the
// request is an *node.Invalid in Ironic's words, a held node *node.Locked: ramdisks try again on that. A heartbeat in a
// state without a ramdisk of ours is accepted and comes to nothing.
func (c *Conductor) Heartbeat(ctx context.Context, actor node.Actor, req HeartbeatRequest) error {
	if err := heartbeatVersion(req); err != nil {
		return err
	}
	n, err := c.Nodes.Node(ctx, req.NodeUUID)
	if err != nil {
		return err
	}
	for {
		if err := believable(n, req); err != nil {
			return err
		}
		if n.Reserved() {
			return &node.Locked{Node: n.UUID, Holder: n.Reservation}
		}
		if !n.ProvisionState.LookupAllowed() {
			c.Log.Info("heartbeat of a node that runs no ramdisk of ours", "node", n.UUID, "state", n.ProvisionState)
			return nil
		}
		if err := c.noteHeartbeat(ctx, actor, n, req); !errors.Is(err, node.ErrLost) {
			return err
		}
		if n, err = c.Nodes.Node(ctx, n.UUID); err != nil {
			return err
		}
	}
}

// heartbeatVersion refuses what is newer than the caller's version.
func heartbeatVersion(req HeartbeatRequest) error {
	switch {
	case req.AgentVersion != "" && tooOld(req.Minor, 36):
		return node.Invalidf(`Field "agent_version" not recognised`)
	case req.Status+req.StatusMessage != "" && tooOld(req.Minor, 72):
		return node.Invalidf(`Fields "agent_status" and "agent_status_message" not recognised.`)
	case req.VerifyCA != "" && tooOld(req.Minor, 68):
		return node.Invalidf(`Field "agent_verify_ca" not recognised in this version`)
	case len(req.CallbackURL)+len(req.AgentVersion)+len(req.VerifyCA)+len(req.StatusMessage) > maxAgentText:
		return node.Invalidf("A heartbeat may have %d bytes at most.", maxAgentText)
	}
	return nil
}

// believable tells whether the heartbeat is the node's own ramdisk's, in the order of Ironic's checks.
func believable(n node.Node, req HeartbeatRequest) error {
	if u, err := url.Parse(req.CallbackURL); req.CallbackURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return node.Invalidf(`An issue with the supplied "callback_url" has been detected.`)
	}
	known, _ := node.Text(n.DriverInternalInfo[agentURLKey])
	ca, _ := node.Text(n.DriverInternalInfo[agentCAKey])
	switch {
	case known != "" && known != req.CallbackURL:
		return node.Invalidf(`Detected change in ramdisk provided "callback_url"`)
	case req.Token == "":
		return node.Invalidf("Agent token is required for heartbeat processing.")
	case req.Status != "" && !slices.Contains(agentStatuses, req.Status):
		return node.Invalidf("Agent status is invalid. Valid states are %s.", strings.Join(agentStatuses, ","))
	case req.AgentVersion == "" && req.Status == "":
		return node.Invalidf("Agent did not transmit a version, and a version is required. Please update the agent being used.")
	case agentToken(n) == "" || subtle.ConstantTimeCompare([]byte(agentToken(n)), []byte(req.Token)) != 1:
		return node.Invalidf("Invalid or missing agent token received.")
	case req.CallbackURL != "" && !strings.HasPrefix(req.CallbackURL, "https://"):
		return node.Invalidf("TLS is required by configuration")
	case req.VerifyCA != "" && ca != "" && strings.TrimSpace(ca) != strings.TrimSpace(req.VerifyCA):
		return node.Invalidf(`Detected change in ramdisk provided "agent_verify_ca"`)
	}
	return nil
}

// noteHeartbeat writes down what was said, if the node is still the one whose token was compared.
func (c *Conductor) noteHeartbeat(ctx context.Context, actor node.Actor, n node.Node, req HeartbeatRequest) error {
	now := c.Clock.Now()
	said := map[string]any{agentHeartbeatKey: now.UTC().Format(time.RFC3339Nano)}
	for key, v := range map[string]string{
		agentURLKey: req.CallbackURL, agentVersionKey: req.AgentVersion, agentCAKey: req.VerifyCA, agentStatusKey: req.Status, agentMessageKey: req.StatusMessage,
	} {
		if v != "" {
			said[key] = v
		}
	}
	m := node.Move{Node: n.UUID, From: n.ProvisionState, Attempt: n.AttemptID, Actor: actor, At: now, Internal: said}
	if n.DriverInternalInfo[agentURLKey] == nil {
		m.Unset = agentURLKey
	}
	_, err := c.Moves.Move(ctx, m)
	if err == nil {
		c.signOf(ctx, n, node.SignHeartbeat, actor.Address)
	}
	return err
}
