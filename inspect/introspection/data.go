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
	n, err := s.Nodes.Node(ctx, ident)
	if missing(err) {
		return nil, notInCache(ident)
	}
	if err != nil {
		return nil, err
	}
	stored, err := s.Runs.Inventory(ctx, n.UUID)
	if missing(err) {
		return nil, &node.NotFound{Text: fmt.Sprintf("Introspection data was not found for node %s", n.UUID)}
	}
	if err != nil {
		return nil, err
	}
	return flat(stored)
}

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
