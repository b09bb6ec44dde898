package templates

import (
	"context"

	"cagenut/node"
)

// DiscoveredLabel is the word for a state of a discovered machine.
func DiscoveredLabel(ctx context.Context, s node.DiscoveredState) string {
	return T(ctx, "discovered.state."+string(s))
}

// DiscoveredSentence says what a state means for who looks at a machine.
func DiscoveredSentence(ctx context.Context, s node.DiscoveredState) string {
	return T(ctx, "discovered.sentence."+string(s))
}

// DiscoveredEmpty says that no machine is in a state.
func DiscoveredEmpty(ctx context.Context, s node.DiscoveredState) string {
	return T(ctx, "discovered.empty."+string(s))
}

// DiscoveredChip is a state with its icon.
func DiscoveredChip(ctx context.Context, s node.DiscoveredState) State {
	look := map[node.DiscoveredState]string{node.DiscoveredNew: GroupWaiting, node.DiscoveredIgnored: "held", node.DiscoveredBlocked: GroupFailed}[s]
	return State{Name: DiscoveredLabel(ctx, s), Look: look, Icon: Icon(look)}
}

// ReportTimes says how often a machine has reported.
func ReportTimes(ctx context.Context, n int) string { return N(ctx, "discovered.reports", n) }
