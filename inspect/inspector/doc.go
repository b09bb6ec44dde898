// Package inspector is the inspect interface `inspector`: the run belongs to an inspector service. With the embedded one
// that is a view of the same database, and the interface does what `agent` does. With an external one the service is
// told of the start, asked to abort, and polled for the outcome (contract.md §5); the appliance still boots the server
// itself, with that service's callback.
//
// Every call has a deadline, and no answer is read beyond a bound.
package inspector
