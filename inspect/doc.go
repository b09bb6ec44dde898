// Package inspect is the ways to inspect a node. It holds [Base], on which every inspect interface is built; each
// interface has a package of its own below it: agent and inspector (in-band, with a ramdisk), outofband (all others).
// What they share stands beside them: managedboot brings a server into the ramdisk and out of it again, inventory
// understands what the ramdisk reports, and hooks turn that into properties and ports.
//
// The conductor declares what an inspect interface must do. An implementation decides and talks outward; it writes
// nothing. It imports node and, inside this room, its siblings; what it needs of a BMC it declares itself.
package inspect
