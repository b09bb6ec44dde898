// Package e2e holds black-box tests: the real binary, built with the race detector, its real addresses, real clients and a
// real browser. It imports none of the other rooms, so that it knows no more than a user does.
package e2e
