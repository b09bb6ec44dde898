package node

import "time"

// Difference is what changed in a server's hardware between two inspections.
type Difference struct {
	NodeUUID string
	From, To Inspected
	// Identity says what tells that it is another machine than before, one sentence each; empty for the same machine.
	Identity []string
	Parts    []PartChange
}

// Inspected is one side of a difference.
type Inspected struct {
	AttemptID string
	At        time.Time
}

// PartChange is one part that came, went or is not what it was.
type PartChange struct {
	Kind   string // "disk", "network interface", …
	Name   string // by which it is known: a serial number, a MAC, an address
	Change ChangeKind
	// Fields are those that differ; of a part that came or went, all that are known of it.
	Fields []FieldChange
}

// ChangeKind is what happened to a part.
type ChangeKind string

// What may happen to a part.
const (
	PartAdded   ChangeKind = "added"
	PartRemoved ChangeKind = "removed"
	PartChanged ChangeKind = "changed"
)

// FieldChange is one value that differs; "" is one that was not told.
type FieldChange struct{ Name, Before, After string }
