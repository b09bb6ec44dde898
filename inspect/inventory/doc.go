// Package inventory understands what a ramdisk reports. [Parse] takes the JSON document that the Ironic Python Agent
// posts, at either door (contract.md §4.1, §5.2), and refuses what has not the minimum shape. What the ramdisk sent is
// kept byte for byte; beside it stand typed readings, in which an odd field is skipped and noted, never an error.
//
// [Match] decides which node a report is about, and [BMCAddresses] finds the addresses that the decision uses.
// Everything here is hostile input until it has passed: sizes and depth are bounded, and nothing is trusted.
package inventory
