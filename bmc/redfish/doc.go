// Package redfish is the driver for BMCs that speak Redfish, over gofish.
//
// gofish makes the requests and decodes errors. What it lacks is here: an http.RoundTripper per BMC that logs in once, renews
// the session when the BMC forgot it, bounds every try and every body and repeats reads (never writes), and a lenient decoder for
// the one resource we read, because real BMCs send fields of odd types. Quirk numbers in comments are those of the BMC handbook.
package redfish
