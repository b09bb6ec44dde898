package node

import "time"

// AuditAccepted is the result of what was done; any other is why it was not.
const AuditAccepted = "accepted"

// AuditFilter chooses lines of the audit, the newest first. Zero fields choose all.
type AuditFilter struct {
	User   string // the whole name
	Source Source
	Action string // as it is written, or how it begins
	Node   string // UUID, or the name of a node that is there
	// Refused chooses by the result: what was accepted, or what was not; nil chooses both.
	Refused  *bool
	From, To time.Time // from From on, and before To
	Search   string    // part of anything that a line tells
	// Before is the id of the last line that was seen; 0 for none.
	Before int64
	Limit  int
}

// AuditLine is a line of the audit with what is known of its node now.
type AuditLine struct {
	Audit
	NodeName  string
	NodeKnown bool // false for one that is gone, and for what never was a node
}
