package conductor

import (
	"context"
	"slices"
	"time"

	"cagenut/node"
)

// Signs is what is kept of the signs of life that a server gives while it is inspected.
type Signs interface {
	// AddSign notes a sign of an attempt that runs; of one that is over it comes to nothing.
	AddSign(ctx context.Context, nodeUUID string, s node.Sign) error
	// Signs lists the signs of an attempt in the order in which they came first.
	Signs(ctx context.Context, attempt string) ([]node.Sign, error)
}

// signPause is how soon the same sign is worth noting again: a BMC reads an image in thousands of pieces.
const signPause = 5 * time.Second

// Sign notes a sign of life of an attempt's server. It fails nothing: a server must get its boot file although nobody can
// write down that it came for it.
func (c *Conductor) Sign(ctx context.Context, nodeUUID, attempt string, kind node.SignKind, detail string) {
	now := c.Clock.Now()
	known, err := c.Signs.Signs(ctx, attempt)
	if i := slices.IndexFunc(known, func(s node.Sign) bool { return s.Kind == kind }); i >= 0 && now.Sub(known[i].LastAt) < signPause {
		return
	}
	if err == nil {
		err = c.Signs.AddSign(ctx, nodeUUID, node.Sign{AttemptID: attempt, Kind: kind, FirstAt: now, LastAt: now, Detail: detail})
	}
	if err != nil {
		c.Log.Warn("a sign of life could not be noted", "node", nodeUUID, "attempt", attempt, "sign", kind, "err", err)
	}
}

// signOf notes a sign of the node's running attempt, if it waits for its ramdisk.
func (c *Conductor) signOf(ctx context.Context, n node.Node, kind node.SignKind, detail string) {
	if n.ProvisionState == node.InspectWait && n.AttemptID != "" {
		c.Sign(ctx, n.UUID, n.AttemptID, kind, detail)
	}
}

// HowFar are the signs of life of an attempt with what became of it, in their order, and what they tell of one that does
// not report.
func (c *Conductor) HowFar(ctx context.Context, a node.Attempt) ([]node.Sign, string, error) {
	signs, err := c.Signs.Signs(ctx, a.ID)
	if err != nil {
		return nil, "", err
	}
	advice := node.Diagnosis(a, signs)
	for _, s := range []node.Sign{{Kind: node.SignReport, FirstAt: a.ReportAt}, {Kind: node.SignDone, FirstAt: a.EndedAt, Detail: string(a.Outcome)}} {
		if !s.FirstAt.IsZero() {
			s.AttemptID, s.LastAt, s.Times = a.ID, s.FirstAt, 1
			signs = append(signs, s)
		}
	}
	slices.SortStableFunc(signs, func(a, b node.Sign) int { return a.FirstAt.Compare(b.FirstAt) })
	return signs, advice, nil
}
