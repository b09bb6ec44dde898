// Package managedboot brings a server into the ramdisk and out of it again by way of its BMC: power off, one-time PXE
// override or an ISO in a virtual drive with a one-time override to it, power on; and after the attempt, power off, no
// override and no medium of ours. In-band inspect interfaces share it.
//
// Work is done in pieces. A piece makes a few calls to the BMC and returns; what it waits for (power that goes on or
// off, an image that the BMC fetches) is looked at again by the next piece. The step that the caller keeps and the node's
// record of its medium are the only memory between them, so a restarted appliance goes on where it was, and repeating a
// piece does no harm.
package managedboot
