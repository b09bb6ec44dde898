// Package node is the domain of Cagenut: what a bare-metal node is, the states it can be in, the verbs that move it
// between them, the attempts to inspect it, its history, and the errors that other rooms decide on.
//
// It imports the standard library and uuid, carries no tags of any wire or database format, and does no I/O. The terms
// are OpenStack Ironic's; contract.md §2 and §3 say what each means on the wire.
package node
