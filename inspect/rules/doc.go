// Package rules carries out inspection rules (contract.md §4.4) on what an inspection found. [Engine.Apply] is a function
// of its input: it changes nothing outside, apart from the calls that a rule itself asks for, and returns what shall be
// stored. Whatever a rule or a report holds, its work is bounded: in steps, in bytes and in time.
//
// What operators and actions there are, and which arguments they take, stands in node; a test compares the two.
package rules
