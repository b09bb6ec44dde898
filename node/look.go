package node

import (
	"errors"
	"time"
)

// Turns is into how many parts the interval of the power sync is cut. Each node has one of them as its turn.
const Turns = 1 << 16

// Look is what a look at a node's BMC found that nobody asked for. The store records it only if, since it began, the
// appliance itself has not touched the node: else what was seen may have been our own work half done.
type Look struct {
	Node string // UUID

	// What the node was when the look began. Moved and Version are compared; the rest was true as long as those are.
	Moved   int64
	Version int64
	Was     PowerState
	Since   time.Time // Node.BMCUnreachableSince

	At    time.Time
	Power PowerState // "" where none was read
	// Outside says that somebody else has changed the power: our last power action has no more to do with it.
	Outside bool
	// Answered says that the BMC can be used: a mark of the node ends, and its history tells that.
	Answered bool
	// Unreachable, where set, is why the BMC cannot be used. SilentAt is when that was noticed first; it marks the node, or
	// gives the mark that it has another reason.
	Unreachable string
	SilentAt    time.Time
	// Health, where set, is another one than was known; HealthSeen, where set, is another one than looks saw before.
	Health, HealthSeen Health
	// History is what the look adds to the node's.
	History []History
}

// Glance is what one answer of a BMC tells of its server.
type Glance struct {
	Power  PowerState // "" is "the BMC does not know"
	Health Health     // as far as this answer tells; "" where it does not
	Why    string     // what is not well, where the answer says
}

// BeginLook is a look at the BMC of a node as it was read.
func BeginLook(n Node) Look {
	return Look{Node: n.UUID, Moved: n.Moved, Version: n.Version, Was: n.PowerState, Since: n.BMCUnreachableSince}
}

// Silent tells whether an error says that a BMC cannot be used at all: it does not answer, or it refuses the credentials.
// One that answers, if only with a complaint, is not silent; nor is one that nobody has asked.
func Silent(err error) bool {
	var u *Unreachable
	if errors.As(err, &u) && u.Unasked {
		return false // whatever it remembers of the last time
	}
	return errors.Is(err, ErrCredentials) || u != nil && !u.Answered
}

// ReachableAgain is the history entry at the end of a silence.
func ReachableAgain(nodeUUID string, since, now time.Time) History {
	return History{
		NodeUUID: nodeUUID, At: now, Severity: SeverityInfo, Type: TypePower, Actor: System(), Duration: now.Sub(since),
		Event: "The BMC is reachable again after " + now.Sub(since).Round(time.Second).String() + ".",
	}
}
