// Package ramdisklogs reads the logs that a ramdisk sends with its report: base64 of a tar.gz (contract.md §6.2). Nothing
// in them is trusted: names, sizes and contents are whatever the other side likes, so everything is bounded and nothing
// is ever unpacked to a disk.
package ramdisklogs
