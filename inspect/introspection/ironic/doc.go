// Package ironic is what an inspector service that runs alone asks of its Ironic, over REST: of this appliance, or of another
// service that speaks that API (contract.md §3).
package ironic
