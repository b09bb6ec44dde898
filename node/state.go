package node

import (
	"maps"
	"slices"
)

// State is a provision state; the value is the exact string that travels on the wire (contract.md §2.1).
type State string

// The provision states of Ironic, all of them, so that a client's list never meets one that we cannot name.
const (
	Enroll         State = "enroll"
	Verifying      State = "verifying"
	Manageable     State = "manageable"
	Inspecting     State = "inspecting"
	InspectWait    State = "inspect wait"
	InspectFailed  State = "inspect failed"
	Available      State = "available"
	Cleaning       State = "cleaning"
	CleanWait      State = "clean wait"
	CleanFailed    State = "clean failed"
	CleanHold      State = "clean hold"
	Deploying      State = "deploying"
	WaitCallback   State = "wait call-back"
	DeployFailed   State = "deploy failed"
	DeployHold     State = "deploy hold"
	Active         State = "active"
	Deleting       State = "deleting"
	ErrorState     State = "error"
	Adopting       State = "adopting"
	AdoptFailed    State = "adopt failed"
	Rescue         State = "rescue"
	Rescuing       State = "rescuing"
	RescueWait     State = "rescue wait"
	RescueFailed   State = "rescue failed"
	Unrescuing     State = "unrescuing"
	UnrescueFailed State = "unrescue failed"
	Servicing      State = "servicing"
	ServiceWait    State = "service wait"
	ServiceFailed  State = "service failed"
	ServiceHold    State = "service hold"
)

// Event moves a node from one state to another. Those that a person or a program may ask for are verbs ([Event.IsVerb]);
// the others are fired by the appliance itself.
type Event string

// Verbs, in the spelling of the wire. `active` and `deleted` are the spellings that clients use for Deploy and Delete.
const (
	Manage   Event = "manage"
	Provide  Event = "provide"
	Inspect  Event = "inspect"
	Abort    Event = "abort"
	Clean    Event = "clean"
	Adopt    Event = "adopt"
	Deploy   Event = "deploy"
	Rebuild  Event = "rebuild"
	Delete   Event = "delete"
	RescueIt Event = "rescue"
	Unrescue Event = "unrescue"
	Service  Event = "service"
	Unhold   Event = "unhold"
)

// Internal events.
const (
	Done   Event = "done"
	Fail   Event = "fail"
	Wait   Event = "wait"
	Resume Event = "resume"
	Hold   Event = "hold"
)

var verbs = []Event{Manage, Provide, Inspect, Abort, Clean, Adopt, Deploy, Rebuild, Delete, RescueIt, Unrescue, Service, Unhold}

var verbAliases = map[string]Event{"active": Deploy, "deleted": Delete, "undeploy": Delete}

// ParseVerb reads the `target` of a provision request. ok is false for a word that names no event at all; an internal
// event is returned as it is, so that the caller can refuse it in Ironic's words (contract.md §2.2).
func ParseVerb(target string) (e Event, ok bool) {
	if e, ok := verbAliases[target]; ok {
		return e, true
	}
	e = Event(target)
	return e, e.IsVerb() || slices.Contains([]Event{Done, Fail, Wait, Resume, Hold}, e)
}

// IsVerb tells whether the event may be asked for through the API.
func (e Event) IsVerb() bool { return slices.Contains(verbs, e) }

// kind says how a state is used beyond its transitions.
type kind struct {
	target      State // what a node in this state is on its way to; empty for a stable state
	lookup      bool  // a ramdisk may look the node up (contract.md §3.9)
	deletable   bool  // DELETE needs no maintenance
	interfaces  bool  // PATCH may change *_interface (contract.md §3.5)
	patchLocked bool  // a target is set, and PATCH is refused for it (contract.md §2.1)
}

// table is the whole state machine: contract.md §2.2, row for row.
var table = map[State]struct {
	kind
	events map[Event]State
}{
	Enroll:     {kind{deletable: true, interfaces: true}, map[Event]State{Manage: Verifying}},
	Verifying:  {kind{target: Manageable}, map[Event]State{Done: Manageable, Fail: Enroll}},
	Manageable: {kind{deletable: true, interfaces: true}, map[Event]State{Inspect: Inspecting, Provide: Cleaning, Clean: Cleaning, Adopt: Adopting}},

	Inspecting:    {kind{target: Manageable, lookup: true, patchLocked: true}, map[Event]State{Done: Manageable, Fail: InspectFailed, Wait: InspectWait}},
	InspectWait:   {kind{target: Manageable, lookup: true, interfaces: true}, map[Event]State{Abort: InspectFailed, Resume: Inspecting, Done: Manageable, Fail: InspectFailed}},
	InspectFailed: {kind{target: Manageable}, map[Event]State{Inspect: Inspecting, Manage: Manageable}},

	Available:   {kind{deletable: true, interfaces: true}, map[Event]State{Manage: Manageable, Deploy: Deploying}},
	Cleaning:    {kind{target: Available, lookup: true, patchLocked: true}, map[Event]State{Done: Available, Manage: Manageable, Fail: CleanFailed, Wait: CleanWait, Hold: CleanHold}},
	CleanWait:   {kind{target: Available, lookup: true, patchLocked: true}, map[Event]State{Abort: CleanFailed, Resume: Cleaning, Fail: CleanFailed, Hold: CleanHold}},
	CleanHold:   {kind{target: Available, patchLocked: true}, map[Event]State{Abort: CleanFailed, Unhold: CleanWait}},
	CleanFailed: {kind{target: Available}, map[Event]State{Manage: Manageable}},

	Deploying:    {kind{target: Active, lookup: true, patchLocked: true}, map[Event]State{Done: Active, Fail: DeployFailed, Wait: WaitCallback, Hold: DeployHold}},
	WaitCallback: {kind{target: Active, lookup: true, patchLocked: true}, map[Event]State{Abort: DeployFailed, Delete: Deleting, Resume: Deploying, Fail: DeployFailed, Hold: DeployHold}},
	DeployHold:   {kind{target: Active, patchLocked: true}, map[Event]State{Abort: DeployFailed, Unhold: WaitCallback}},
	DeployFailed: {kind{target: Active}, map[Event]State{Rebuild: Deploying, Deploy: Deploying, Delete: Deleting}},

	Active:     {kind{}, map[Event]State{Rebuild: Deploying, Delete: Deleting, RescueIt: Rescuing, Service: Servicing}},
	ErrorState: {kind{}, map[Event]State{Rebuild: Deploying, Delete: Deleting}},
	Deleting:   {kind{target: Available, patchLocked: true}, map[Event]State{Clean: Cleaning, Fail: ErrorState}},

	Adopting:    {kind{target: Active, patchLocked: true}, map[Event]State{Done: Active, Fail: AdoptFailed}},
	AdoptFailed: {kind{target: Active, deletable: true}, map[Event]State{Adopt: Adopting, Manage: Manageable}},

	Rescuing:     {kind{target: Rescue, lookup: true, patchLocked: true}, map[Event]State{Done: Rescue, Wait: RescueWait, Fail: RescueFailed}},
	RescueWait:   {kind{target: Rescue, lookup: true, patchLocked: true}, map[Event]State{Abort: RescueFailed, Resume: Rescuing, Fail: RescueFailed, Delete: Deleting}},
	Rescue:       {kind{}, map[Event]State{RescueIt: Rescuing, Unrescue: Unrescuing, Delete: Deleting}},
	RescueFailed: {kind{target: Rescue}, map[Event]State{RescueIt: Rescuing, Unrescue: Unrescuing, Delete: Deleting}},

	Unrescuing:     {kind{target: Active, patchLocked: true}, map[Event]State{Done: Active, Fail: UnrescueFailed}},
	UnrescueFailed: {kind{target: Active}, map[Event]State{RescueIt: Rescuing, Unrescue: Unrescuing, Delete: Deleting}},

	Servicing:     {kind{target: Active, patchLocked: true}, map[Event]State{Done: Active, Fail: ServiceFailed, Wait: ServiceWait, Hold: ServiceHold}},
	ServiceWait:   {kind{target: Active, lookup: true, patchLocked: true}, map[Event]State{Abort: ServiceFailed, Resume: Servicing, Fail: ServiceFailed, Hold: ServiceHold, Delete: Deleting}},
	ServiceHold:   {kind{target: Active}, map[Event]State{Abort: ServiceFailed, Unhold: ServiceWait, Delete: Deleting}},
	ServiceFailed: {kind{target: Active}, map[Event]State{Abort: Active, Service: Servicing, RescueIt: Rescuing, Delete: Deleting}},
}

// States lists every provision state, sorted by name.
func States() []State { return slices.Sorted(maps.Keys(table)) }

// Valid tells whether the state is one of Ironic's.
func (s State) Valid() bool { _, ok := table[s]; return ok }

// Next is the state that the event leads to, or an *[InvalidTransition].
func (s State) Next(e Event) (State, error) {
	if to, ok := table[s].events[e]; ok {
		return to, nil
	}
	return "", &InvalidTransition{From: s, Event: e}
}

// Events lists what may happen in the state, sorted by name.
func (s State) Events() []Event { return slices.Sorted(maps.Keys(table[s].events)) }

// Verbs lists what may be asked for in the state, sorted by name. The dashboard draws its buttons from it.
func (s State) Verbs() []Event {
	return slices.DeleteFunc(s.Events(), func(e Event) bool { return !e.IsVerb() })
}

// Target is what a node in the state is on its way to; empty for a stable state.
func (s State) Target() State { return table[s].target }

// Stable tells whether a node may stay in the state for ever.
func (s State) Stable() bool { return s.Valid() && table[s].target == "" }

// LookupAllowed tells whether a ramdisk may look up a node in this state.
func (s State) LookupAllowed() bool { return table[s].lookup }

// Deletable tells whether a node in this state can be deleted without maintenance.
func (s State) Deletable() bool { return table[s].deletable }

// DeletableStates lists the states that [State.Deletable] holds for, in Ironic's order of naming them.
func DeletableStates() []State { return []State{Manageable, Enroll, AdoptFailed, Available} }

// InterfaceChangeAllowed tells whether PATCH may change an interface of a node in this state.
func (s State) InterfaceChangeAllowed() bool { return table[s].interfaces }

// PatchAllowed tells whether PATCH may change a node in this state.
func (s State) PatchAllowed() bool { return s.Valid() && !table[s].patchLocked }
