// Package ipmi is the driver for BMCs that speak IPMI 2.0 over the network (lanplus), over go-ipmi.
//
// go-ipmi wants care, and this package is that care: a client is used by one goroutine for one short session and closed once,
// never while a call runs; cipher suites are tried one by one, 17 and then 3, so that a wrong password is one failed login; a try
// is never shorter than a slow BMC's answer, hence a ladder of fresh clients with growing time-outs; what worked is remembered
// per BMC (G39). Quirk numbers in comments are those of the BMC handbook.
package ipmi
