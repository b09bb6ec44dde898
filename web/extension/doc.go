// Package extension serves /cagenut/v1: what Ironic's API does not have (design.md §7). Errors are
// {"error":{"code":409,"message":"…"}}, encoded once; the code is the HTTP status.
//
//	GET  events                  server-sent events: every state change (events.go)
//	POST aborts                  abort many inspections, one transaction and one result per node (aborts.go)
//	GET  nodes/{ident}/attempts  the inspections of a node, newest first (attempts.go)
package extension
