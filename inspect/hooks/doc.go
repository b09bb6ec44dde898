// Package hooks turns a ramdisk's report into properties, ports and plugin data. Each hook is one small type in a file of
// its own; [Default] is the list that runs. First every hook checks and prepares, and all failures are told together;
// then every hook does its work, and the first failure stops (contract.md §4.3).
//
// Hooks write nothing outside: [Run] takes what is known of the node and returns what should become true of it. A value
// that is missing or odd is skipped and noted; only a reported ramdisk error, no usable interface, and root-device hints
// that no disk fits fail a run (design.md §7).
package hooks
