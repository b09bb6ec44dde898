package introspection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cagenut/node"
)

// Data is what the last successful introspection of a node stored: one flat JSON object, `inventory` beside the keys of
// the plugins; *node.NotFound where nothing is stored.
func (s *Service) Data(ctx context.Context, ident string) ([]byte, error) {
	n, err := s.owner(ctx, ident, true)
	if err != nil {
		return nil, err
	}
	stored, err := s.Runs.Inventory(ctx, n.UUID)
	if missing(err) {
		return nil, noData(n.UUID, true)
	}
	if err != nil {
		return nil, err
	}
	return flat(stored)
}

// owner is the node whose data are asked for.
func (s *Service) owner(ctx context.Context, ident string, processed bool) (node.Node, error) {
	n, err := s.Nodes.Node(ctx, ident)
	if missing(err) && !node.IsUUID(ident) {
		return n, unknownNode(ident)
	}
	if missing(err) {
		return n, noData(ident, processed)
	}
	return n, err
}

// noData is the inspector's sentence for a node without stored data.
func noData(uuid string, processed bool) error {
	word := "False"
	if processed {
		word = "True"
	}
	return &node.NotFound{Text: fmt.Sprintf("Introspection data not found for node %s, processed=%s", uuid, word)}
}

// Unprocessed is what the ramdisk of a node reported last, without its logs; *node.NotFound where nothing is stored.
func (s *Service) Unprocessed(ctx context.Context, ident string) ([]byte, error) {
	n, err := s.owner(ctx, ident, false)
	if err != nil {
		return nil, err
	}
	r, err := s.Stored.LastReport(ctx, n.UUID)
	if missing(err) {
		return nil, noData(n.UUID, false)
	}
	return r.Body, err
}

// Reapply works the stored report of a node up once more, or data instead where that is not nil: hooks and rules run on it as they
// are now, and the server is left alone. It returns once that is certain to happen. *node.Conflict while an introspection runs,
// *node.NotFound without one, or without data.
func (s *Service) Reapply(ctx context.Context, actor node.Actor, ident string, data []byte) error {
	if _, err := s.owner(ctx, ident, false); err != nil {
		return err
	}
	n, a, err := s.latest(ctx, ident)
	if missing(err) {
		return noData(n.UUID, false)
	}
	if err != nil {
		return err
	}
	if !a.State.Ended() {
		return errLocked
	}
	err = s.Stored.Reapply(ctx, actor, n.UUID, data)
	held := (*node.Locked)(nil)
	switch {
	case missing(err):
		return noData(n.UUID, false)
	case overtaken(err), errors.As(err, &held):
		return errLocked
	}
	return err
}

// errLocked is the inspector's answer to a reapply that cannot be now (contract.md §5.2).
var errLocked = &node.Conflict{Text: "Node locked, please, try again later"}

func flat(i node.Inventory) ([]byte, error) {
	doc := map[string]json.RawMessage{}
	if len(i.PluginData) > 0 {
		if err := json.Unmarshal(i.PluginData, &doc); err != nil {
			return nil, fmt.Errorf("introspection: plugin data of node %s: %w", i.NodeUUID, err)
		}
	}
	if doc == nil { // a stored null
		doc = map[string]json.RawMessage{}
	}
	doc["inventory"] = i.Inventory
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("introspection: data of node %s: %w", i.NodeUUID, err)
	}
	return b, nil
}

// Report takes what a ramdisk posted and names its node; work follows after the answer. A report that comes too late
// changes nothing (G01, G19). With the token of a run that is over it is a *node.Invalid that says so; without, nobody
// learns which it was: *node.NotFound.
func (s *Service) Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (nodeUUID string, err error) {
	nodeUUID, err = s.Reports.Report(ctx, actor, body, token)
	if !errors.Is(err, node.ErrNotReported) {
		return nodeUUID, busy(err)
	}
	if token != "" {
		if a, found := s.Runs.AttemptByToken(ctx, token); found == nil && a.State.Ended() {
			return "", node.Invalidf("Look up error: %s", over(a))
		}
	}
	return "", &node.NotFound{Text: "Look up error: no introspection waits for this report; if there was one, it is already over."}
}

// over says that a run has ended, and when.
func over(a node.Attempt) string {
	return fmt.Sprintf("Introspection for node %s already finished on %s", a.NodeUUID, a.EndedAt.UTC().Format(time.DateTime))
}
