// Package introspection is the embedded inspector service: what the inspector's API (contract.md §5) means on this
// appliance. It keeps nothing of its own. The record of a run is the attempt's row, so a node and its introspection can
// never disagree, neither after an abort through either door (G08) nor after a restart (G32).
//
// It shows the latest attempt of each node, if a ramdisk was to carry it out. What it needs of nodes it declares as
// small interfaces; cmd joins them to the store and the conductor. It starts nothing and is safe for concurrent use.
package introspection
