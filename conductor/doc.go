// Package conductor is what happens to nodes: verbs, reservations, attempts, time-outs, power, and recovery after a
// crash. Every door (REST, dashboard, inspector API, ramdisk) calls the same methods of [Conductor].
//
// Of our own rooms it imports node alone; what it needs of the database, of BMCs, of inspect interfaces and of ramdisk
// reports it declares in needs.go, and cmd joins them.
//
// Life cycle: [New], then [Conductor.Recover] once, then [Conductor.Run] until its context ends. Methods are safe for
// concurrent use at any time; what they promise is committed when they return (design.md §5).
package conductor
