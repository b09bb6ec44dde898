package extension

import "cagenut/node"

// RefusalStatus is for tests.
func RefusalStatus(r node.Refusal) int { return refusalStatus[r] }
