// Package boot serves what an inspected server boots: the iPXE script at /boot.ipxe and the files below /boot. Both are
// public; the script names the attempt's token to the one server that is expected to boot, and to nobody else.
package boot
