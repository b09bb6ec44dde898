package inventory

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cagenut/node"
)

// Keys is what a report says of who it is about.
type Keys struct {
	MACs         []string // lower case, Ethernet only
	BMCAddresses []string // as KnownAddress spells them
}

// Candidate is a node that a report may be about: the owner of a port with a reported MAC, the node that was named, or
// one in `inspect wait`.
type Candidate struct {
	NodeUUID     string
	Waiting      bool // in `inspect wait`
	MACs         []string
	BMCAddresses []string // resolved when the attempt began
}

// Match decides which candidate a report is about, by the rules of contract.md §4.1 in their order; asked is a node UUID
// that the caller named, or "". It never guesses: what is ambiguous, contradicts itself or is about a node that does not
// wait is node.ErrNotReported, wrapped with the reason for the log, which the caller of the API must not see.
// *node.Invalid answers a report that says nothing of who it is about.
func Match(k Keys, asked string, all []Candidate) (string, error) {
	if asked == "" && len(k.MACs) == 0 && len(k.BMCAddresses) == 0 {
		return "", node.Invalidf("No lookup information provided")
	}
	found := ""
	if asked != "" {
		if !slices.ContainsFunc(all, func(c Candidate) bool { return c.NodeUUID == asked }) {
			return "", refuse("node %s was named and is not known", asked)
		}
		found = asked
	}
	switch owners := ownersOf(k.MACs, all); {
	case len(owners) > 1:
		return "", refuse("its MACs belong to nodes %s", strings.Join(owners, ", "))
	case len(owners) == 1 && found != "" && owners[0] != found:
		return "", refuse("node %s was named, its MACs belong to node %s", found, owners[0])
	case len(owners) == 1:
		found = owners[0]
	}
	if found != "" && !slices.ContainsFunc(all, func(c Candidate) bool { return c.NodeUUID == found && c.Waiting }) {
		return "", refuse("node %s does not wait for a report", found)
	}
	behind := waitingBehind(k.BMCAddresses, all)
	switch {
	case found != "" && len(behind) > 0 && !slices.Contains(behind, found):
		return "", refuse("node %s has its MACs, nodes %s its BMC address", found, strings.Join(behind, ", "))
	case found != "":
		return found, nil
	case len(behind) == 1:
		return behind[0], nil
	case len(behind) > 1:
		return "", refuse("no known MAC, and its BMC address fits nodes %s", strings.Join(behind, ", "))
	}
	return "", refuse("no node has one of its MACs or BMC addresses")
}

func refuse(format string, a ...any) error {
	return fmt.Errorf("%w: %s", node.ErrNotReported, fmt.Sprintf(format, a...))
}

// ownersOf lists the nodes that own one of the MACs. A MAC that several nodes have says nothing of which it is (G27).
func ownersOf(macs []string, all []Candidate) []string {
	owners := map[string]bool{}
	for _, mac := range macs {
		having := map[string]bool{}
		for _, c := range all {
			if slices.Contains(c.MACs, mac) {
				having[c.NodeUUID] = true
			}
		}
		if len(having) == 1 {
			maps.Copy(owners, having)
		}
	}
	return slices.Sorted(maps.Keys(owners))
}

// waitingBehind lists the waiting nodes whose BMC has one of the addresses.
func waitingBehind(addresses []string, all []Candidate) []string {
	nodes := map[string]bool{}
	for _, c := range all {
		if c.Waiting && slices.ContainsFunc(c.BMCAddresses, func(s string) bool {
			a, ok := KnownAddress(s)
			return ok && slices.Contains(addresses, a)
		}) {
			nodes[c.NodeUUID] = true
		}
	}
	return slices.Sorted(maps.Keys(nodes))
}
