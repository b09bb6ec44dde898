// Package redfish is the driver for BMCs that speak Redfish, over gofish.
//
// gofish makes the requests and decodes errors. What it lacks is here: an http.RoundTripper per BMC that logs in once, renews
// the session when the BMC forgot it, bounds every try and every body and repeats reads (never writes), and a lenient decoder,
// because real BMCs send fields of odd types. Quirk numbers in comments are those of the BMC handbook.
//
// The client has all of bmc.Abilities. What it reads of many resources it reads by a walk: one request after the other, each
// resource once, bounded in requests, pages, members and time; what is missing or broken is left out and the rest is used. What it
// changes it sends by a change: ETags where they are wanted, tasks followed to their end, and nothing sent twice unless the BMC
// has refused it or a look has shown that it was not done. A BMC that lacks an ability gets *node.Unsupported, one that cannot
// answer now *node.Unreachable, with the kind of trouble: the two are told apart.
//
// Two things outlive a call. Login sessions are kept through Sessions beyond the process, so that none stays at a BMC: the next
// run uses or ends them (kept.go, strays.go). And what a long walk has read when its time ran out is kept for the call that goes
// on with it (reading.go).
package redfish
