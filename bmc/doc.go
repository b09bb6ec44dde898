// Package bmc talks to the BMCs of servers: power, and what a server boots from next.
//
// A [Driver] knows one protocol and makes a [Client] for a node; bmc/redfish, bmc/ipmi and bmc/fake are drivers, bmc/sim is a
// simulated rack to talk to. [Pool] stands in front of the drivers: it gives each BMC to one caller at a time, in the order in
// which they asked, bounds how many BMCs are spoken to at once, and leaves those alone that do not answer. No BMC, however
// dead, delays another.
//
// The package and the drivers import node, their own libraries and nothing else of the house. Life cycle: NewPool, Do and Look
// as often as needed from any goroutine, Close once.
package bmc
