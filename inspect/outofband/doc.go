// Package outofband is the inspect interfaces that work without a ramdisk: redfish, fake and no-inspect. None of them
// waits for anything, so none can be aborted (contract.md §2.7).
package outofband
