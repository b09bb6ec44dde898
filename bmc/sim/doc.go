// Package sim is a simulated rack that is real on the wire: BMCs that speak Redfish over HTTP and IPMI over UDP, each on an
// address of its own on loopback, in front of pretended servers that boot over the network when told to, run a pretended ramdisk
// and post a report of their own hardware as the Ironic Python Agent does (contract.md §6).
//
// It serves the demo and the tests. No Go call and no database leads from it into the appliance: it knows the base URL of the
// boot files, as a DHCP server would, and everything else comes over HTTP. It writes the ramdisk's report with structs of its own,
// so that it and the reader of reports check each other.
//
// What is wrong with a BMC is a [Fault], switched on for one server with a strength; AllFaults lists them. Everything that a BMC
// was asked is kept (Requests). Rack.Control is both over HTTP, for tests in any language (docs/simulator.md).
//
// Life cycle: Start, then Close, which ends all listeners and goroutines. All methods are safe for concurrent use.
package sim
