// Package store is everything that is kept: nodes, ports, attempts, history, audit, users, and the jobs that outlive a
// request (store/jobs). It is the only room that knows SQL.
//
// SQLite is opened twice: one connection that writes, taken in the order of asking, and a pool that can only read
// (style.md §3.2). Every change of a provision state goes through [Store.Move] or [Store.EndAttempt], whose
// compare-and-swap decides who was first.
//
// Life cycle: [Open] migrates and returns; [Store.Close] ends all watches. All methods are safe for concurrent use.
package store
