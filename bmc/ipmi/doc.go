// Package ipmi is the driver for BMCs that speak IPMI 2.0 over the network (lanplus), over go-ipmi.
//
// go-ipmi wants care, and this package is that care: a client is used by one goroutine for one short session and closed once,
// never while a call runs; cipher suites are tried one by one, 17 and then 3, so that a wrong password is one failed login; a try
// is never shorter than a slow BMC's answer, hence a ladder of fresh clients with growing time-outs; what worked is remembered
// per BMC (G39). Of the answers to a login only those to the step that was sent last are let through, and a refusal after a
// repeated message counts as slowness, not as a wrong password. What takes hundreds of commands, sensors and the event log, is
// read in several sessions, each of which ends before the library would keep it alive from a goroutine of its own. Records of
// sensors, events and FRUs are decoded here, as the library trusts their lengths.
//
// Quirk numbers in comments are those of the BMC handbook, paragraphs (§) those of the IPMI 2.0 specification.
package ipmi
