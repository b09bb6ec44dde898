package node

import (
	"errors"
	"fmt"
)

// The kinds of error that cross rooms. Adapters wrap them with what they were doing; web maps them to status codes in
// one place. Anything else is an internal error.
var (
	// ErrLost says that a compare-and-swap found another state of the node than its caller had read: somebody else was
	// first. The caller reads again and answers for what is there; it never reaches a client.
	ErrLost = errors.New("the node changed in the meantime")
	// ErrNotAcceptable says that the caller's microversion is too old for what it asks (406).
	ErrNotAcceptable = errors.New("Request not acceptable.") //nolint:staticcheck // the wire's text, contract.md §2.4
	// ErrCredentials says that a BMC refused user or password. It is wrapped with the address, never with the secret.
	ErrCredentials = errors.New("the BMC refused the credentials")
	// ErrNotReported says that nobody may learn why a ramdisk was turned away (contract.md §4.1: always the same 404).
	ErrNotReported = errors.New("no inspection is waiting for this report")
)

// NotFound says that a thing which was asked for by name is not there.
type NotFound struct {
	What  string // "Node", "Port", …: the first word of Ironic's sentence
	Ident string // as the caller gave it
	// Text replaces the sentence where Ironic has another one.
	Text string
}

func (e *NotFound) Error() string {
	if e.Text != "" {
		return e.Text
	}
	return fmt.Sprintf("%s %s could not be found.", e.What, e.Ident)
}

// Exists says that a name, UUID or MAC is taken (409).
type Exists struct {
	Text string
	Name bool // it is a name that is taken
}

func (e *Exists) Error() string { return e.Text }

// Conflict says that what was asked for cannot be done to the node as it is now, and may be possible later (409).
type Conflict struct{ Text string }

func (e *Conflict) Error() string { return e.Text }

// Forbidden says that the thing is protected against what was asked for (403).
type Forbidden struct{ Text string }

func (e *Forbidden) Error() string { return e.Text }

// Invalid says that a value which the caller sent cannot be taken (400).
type Invalid struct{ Text string }

func (e *Invalid) Error() string { return e.Text }

// Invalidf makes an *[Invalid].
func Invalidf(format string, a ...any) error { return &Invalid{Text: fmt.Sprintf(format, a...)} }

// InvalidTransition says that the table has no such event in the state. Node is empty until somebody knows it.
type InvalidTransition struct {
	Node  string // UUID
	From  State
	Event Event
	Asked string // the verb as the caller spelt it, where it differs from Event
}

func (e *InvalidTransition) Error() string {
	asked := e.Asked
	if asked == "" {
		asked = string(e.Event)
	}
	return fmt.Sprintf("The requested action %q can not be performed on node %q while it is in state %q.", short(asked), e.Node, e.From)
}

// Locked says that a worker holds the node's reservation (409).
type Locked struct {
	Node   string // UUID
	Holder string // host, as `reservation` shows it
}

func (e *Locked) Error() string {
	return fmt.Sprintf("Node %s is locked by host %s, please retry after the current operation is completed.", e.Node, e.Holder)
}

// Unsupported says that a driver or interface cannot do what was asked (400).
type Unsupported struct {
	Driver    string
	Extension string // "abort", "power on", …
}

func (e *Unsupported) Error() string {
	return fmt.Sprintf("Driver %s does not support %s (disabled or not implemented).", e.Driver, e.Extension)
}

// Unreachable says that something outside did not answer, or not usefully: a BMC, an external inspector.
type Unreachable struct {
	What    string // who was asked, with its address
	Timeout bool   // the deadline passed (504); otherwise it answered badly or refused (502)
	// Answered: the other side is there and did answer, but not usefully: a 500, a refusal, nonsense. False: silence, a refused
	// or cut connection, no such name, a certificate that is not trusted.
	Answered bool
	// Unasked: nobody asked it. Either the deadline passed in our own queue, or it is left alone for a while after failures, of
	// which Err tells. Nothing new is known of it.
	Unasked bool
	// Read: time ran out in the middle of reading something long. So many parts of it are kept, more than before: asking again
	// soon goes on from there. 0 otherwise.
	Read    int
	Trouble Trouble // the kind, where it is known
	Hint    string  // what an operator may do about it
	Err     error
}

// Trouble is the kind of an [Unreachable], for programs; people read its sentence.
type Trouble string

// The kinds of trouble with a BMC. Refused credentials are [ErrCredentials], a system that is not there is an *[Invalid], what a
// BMC cannot do an *[Unsupported].
const (
	TroubleName        Trouble = "name"        // its name does not resolve
	TroubleRoute       Trouble = "route"       // nothing leads to its address
	TroubleRefused     Trouble = "refused"     // nobody listens at its port
	TroubleSilence     Trouble = "silence"     // it does not answer in time
	TroubleSlow        Trouble = "slow"        // it answers, but not all in the time that there was
	TroubleCut         Trouble = "cut"         // it closes the connection instead of answering
	TroubleCertificate Trouble = "certificate" // its certificate is not trusted
	TroublePin         Trouble = "pin"         // its certificate is not the pinned one
	TroubleOldTLS      Trouble = "old TLS"     // it speaks nothing newer than what is refused
	TroubleScheme      Trouble = "scheme"      // it speaks plain HTTP where TLS was expected, or the other way round
	TroubleForeign     Trouble = "foreign"     // something answers that is no BMC of this kind
	TroubleBusy        Trouble = "busy"        // it stays busy, or refuses because of the state that the server is in
	TroubleLicence     Trouble = "licence"     // it lacks a licence for what was asked
	TroubleTask        Trouble = "task"        // what it had accepted has come to nothing, as its task says
	TroubleInside      Trouble = "inside"      // something went wrong inside of it (a 500): nobody knows what it has done
)

func (e *Unreachable) Error() string {
	s := e.What + ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Unreachable) Unwrap() error { return e.Err }

// Stale says that the caller decided on a page that showed an earlier attempt: nothing was done (409).
type Stale struct {
	Node     string
	Seen     string // attempt id that the page carried; "" where there had been none
	Now      State
	EndedBy  string // who ended the attempt that was seen, when that is known
	EndedHow Outcome
}

func (e *Stale) Error() string {
	if e.Seen == "" {
		return fmt.Sprintf("An inspection of node %s has begun since; it is in state %q.", e.Node, e.Now)
	}
	return fmt.Sprintf("Node %s is no longer in inspection attempt %s; it is in state %q.", e.Node, e.Seen, e.Now)
}
