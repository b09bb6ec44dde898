// Package web is what everything that is served has in common: the fiber application with its limits and headers, the one
// map from node's errors to status codes, and who is asking.
//
// The doors themselves are its sub-packages (web/ironic, web/introspection, web/extension, web/ui, web/boot); cmd joins
// them. It may import conductor, node and templates. [NewApp] starts nothing; the caller listens and shuts down.
package web
