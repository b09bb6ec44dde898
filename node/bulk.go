package node

import (
	"context"
	"errors"
	"slices"
	"time"
)

// BulkAction is what a [BulkRun] does to each of its nodes: a verb, a power action, or maintenance.
type BulkAction string

// The actions, in the words of the wire.
const (
	BulkInspect        BulkAction = "inspect"
	BulkAbort          BulkAction = "abort"
	BulkManage         BulkAction = "manage"
	BulkProvide        BulkAction = "provide"
	BulkPowerOn                   = BulkAction(ActionOn)
	BulkPowerOff                  = BulkAction(ActionOff)
	BulkReboot                    = BulkAction(ActionReboot)
	BulkSoftOff                   = BulkAction(ActionSoftOff)
	BulkSoftReboot                = BulkAction(ActionSoftReboot)
	BulkMaintenanceOn  BulkAction = "maintenance on"
	BulkMaintenanceOff BulkAction = "maintenance off"
)

// BulkActions lists them.
func BulkActions() []BulkAction {
	return []BulkAction{
		BulkInspect, BulkAbort, BulkManage, BulkProvide, BulkPowerOn, BulkPowerOff, BulkReboot, BulkSoftOff, BulkSoftReboot, BulkMaintenanceOn, BulkMaintenanceOff,
	}
}

// Valid tells whether it is an action.
func (a BulkAction) Valid() bool { return slices.Contains(BulkActions(), a) }

// Verb is the verb that it stands for, "" if it is none.
func (a BulkAction) Verb() Event {
	switch a {
	case BulkInspect, BulkAbort, BulkManage, BulkProvide:
		return Event(a)
	}
	return ""
}

// Power is the power action that it stands for, "" if it is none.
func (a BulkAction) Power() PowerAction {
	if p := PowerAction(a); p.Result() != "" {
		return p
	}
	return ""
}

// What a run may hold, and how many runs are kept.
const (
	BulkMost = 10_000 // nodes of one run
	BulkKept = 100    // runs, the newest
)

// BulkRun is one action on many nodes, carried out by the appliance in the background: each node for itself, as if it had
// been asked for alone.
type BulkRun struct {
	ID          string // UUID, chosen by who asks: asking again with it is the same run
	Action      BulkAction
	Actor       Actor
	Reason      string
	KeepPowerOn bool // of abort
	StartedAt   time.Time
	EndedAt     time.Time // zero while it runs
	RetryOf     string    // the run whose refused nodes these are; ""
	Counts      BulkCounts
}

// Ended tells whether every node has its result.
func (r BulkRun) Ended() bool { return !r.EndedAt.IsZero() }

// BulkCounts are how many results are in which state.
type BulkCounts struct{ Pending, Done, Refused int }

// Total is how many nodes the run has.
func (c BulkCounts) Total() int { return c.Pending + c.Done + c.Refused }

// BulkState is how far one node of a run has come.
type BulkState string

// The states of a result.
const (
	BulkPending BulkState = "pending"
	BulkDone    BulkState = "done"
	BulkRefused BulkState = "refused"
)

// BulkStates lists them.
func BulkStates() []BulkState { return []BulkState{BulkPending, BulkDone, BulkRefused} }

// BulkResult is one node of a run, and what came of it.
type BulkResult struct {
	Position int    // in the order of the choice, from 1
	Node     string // UUID; "" for a name that no node had
	Name     string // as it was when it was chosen; likewise Place, "R07 · U21"
	Place    string
	Attempt  string // of an abort: the attempt that was seen; no other is aborted
	State    BulkState
	Refusal  Refusal // with BulkRefused
	Why      string  // likewise, the sentence
	At       time.Time
}

// BulkResultFilter chooses results of a run, in their order.
type BulkResultFilter struct {
	State BulkState // "": all
	After int       // the position of the last one that was seen
	Limit int       // 0: all
}

// BulkChoice chooses the nodes of a run: by UUIDs and names, or by a filter.
type BulkChoice struct {
	Idents []string
	Filter *Filter
}

// Refusal is the kind of the reason why something was not done.
type Refusal string

// The kinds of refusals.
const (
	RefusedMissing     Refusal = "not found"
	RefusedState       Refusal = "state"       // not possible in the state that the node is in
	RefusedStale       Refusal = "stale"       // the attempt that was seen is over
	RefusedLocked      Refusal = "locked"      // a worker holds the node
	RefusedConflict    Refusal = "conflict"    // not possible now
	RefusedInvalid     Refusal = "invalid"     // something about the node has to be put right first
	RefusedUnsupported Refusal = "unsupported" // its driver or interface cannot do it
	RefusedForbidden   Refusal = "forbidden"   // it is protected
	RefusedUnreachable Refusal = "unreachable" // a BMC or an inspector did not answer usefully
	RefusedTimeout     Refusal = "timeout"     // likewise, in time
	RefusedInternal    Refusal = "internal"    // a fault of the appliance; its log says which
)

// Refusals lists them.
func Refusals() []Refusal {
	return []Refusal{
		RefusedMissing, RefusedState, RefusedStale, RefusedLocked, RefusedConflict, RefusedInvalid, RefusedUnsupported, RefusedForbidden, RefusedUnreachable,
		RefusedTimeout, RefusedInternal,
	}
}

// RefusalOf is the kind of an error and the sentence that people may read. An internal one has none: it is for the log.
func RefusalOf(err error) (Refusal, string) {
	var (
		missing     *NotFound
		transition  *InvalidTransition
		stale       *Stale
		locked      *Locked
		conflict    *Conflict
		exists      *Exists
		invalid     *Invalid
		unsupported *Unsupported
		forbidden   *Forbidden
		unreachable *Unreachable
	)
	switch {
	case errors.As(err, &missing):
		return RefusedMissing, missing.Error()
	case errors.As(err, &transition):
		return RefusedState, transition.Error()
	case errors.As(err, &stale):
		return RefusedStale, stale.Error()
	case errors.As(err, &locked):
		return RefusedLocked, locked.Error()
	case errors.As(err, &conflict):
		return RefusedConflict, conflict.Error()
	case errors.As(err, &exists):
		return RefusedConflict, exists.Error()
	case errors.As(err, &invalid):
		return RefusedInvalid, invalid.Error()
	case errors.As(err, &unsupported):
		return RefusedUnsupported, unsupported.Error()
	case errors.As(err, &forbidden):
		return RefusedForbidden, forbidden.Error()
	case errors.As(err, &unreachable) && unreachable.Timeout:
		return RefusedTimeout, unreachable.Error()
	case errors.As(err, &unreachable):
		return RefusedUnreachable, unreachable.Error()
	case errors.Is(err, ErrCredentials):
		return RefusedUnreachable, err.Error() // says which BMC, never the secret
	case errors.Is(err, ErrLost):
		return RefusedConflict, "The node changed in the meantime; please try again."
	case errors.Is(err, context.DeadlineExceeded):
		return RefusedTimeout, "It took too long and was given up."
	}
	return RefusedInternal, ""
}
