// Package introspection serves the API of OpenStack's inspector (contract.md §5) on a port of its own. It translates
// between HTTP and the service in inspect/introspection, which decides.
//
// Not served, and answered with 404: data/unprocessed, and rules of its own, of which the list is empty.
package introspection
