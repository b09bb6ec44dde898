// Package fake is the driver of fake-hardware: a BMC in memory that does everything at once, for trying things out and for API
// tests that need a node without a server. It touches no network.
package fake
