// Package lldp reads what a switch announces on a cable (IEEE 802.1AB), as ramdisks collect it: a list of [type, "hex"]
// for each interface. [Read] takes the list apart, [Describe] names what it says as Ironic does, [LinkOf] and [LinkIn]
// take out of it where the cable ends.
//
// Whatever a switch sends is hostile until parsed: lengths and numbers are bounded, a bad value is left out and noted, and
// the rest is used (G20).
package lldp
