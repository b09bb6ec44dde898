// Package outofband is the inspect interfaces that work without a ramdisk: redfish, fake and no-inspect. None of them
// waits for anything, so none can be aborted (contract.md §2.7).
//
// [Redfish] has the BMC tell what its server is made of, and makes of it the same inventory, properties and ports that a
// ramdisk's report leads to (contract.md §4.5). It boots nothing and changes nothing at the BMC, so it works on a server
// that runs.
package outofband
