// Package difference compares what two inspections of a node stored. It knows parts by what stays with them (a serial
// number, a MAC, a PCI address), so that a disk that is only called otherwise is the same disk, and leaves out what changes
// by itself: addresses that a DHCP server gave, clock frequencies, the order of lists.
package difference
