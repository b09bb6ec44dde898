// Package openapi describes the operations of an HTTP API, once: requests are checked by the same descriptions from which
// the OpenAPI 3.1 document is written, so that the two cannot differ.
package openapi
