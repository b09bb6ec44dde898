// Package ironic serves OpenStack Ironic's Bare Metal API, below /v1 and in the unprefixed bookmark forms (contract.md
// §1 and §3). It translates: requests into calls of the conductor, domain types into the JSON of the caller's
// microversion. Checks of states, verbs and reservations are the conductor's.
//
// Not served yet: lookup and heartbeat, inspection rules. Port groups, volumes, allocations, deploy templates and runbooks
// are lists that are always empty.
package ironic
