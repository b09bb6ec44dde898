package node

import "time"

// Progress is how far one piece of an inspect interface's work has brought it: of the start of an attempt, or of the
// clean-up after one. The conductor keeps Step in the attempt and calls again after After, until Ready or Finished.
type Progress struct {
	// Ready says that nothing is left to do: after a start, the server is on its way into the ramdisk and the node
	// waits for its report; after a clean-up, that is complete.
	Ready bool
	// Finished says that the inspection is over and successful without any report: the node becomes `manageable`.
	Finished bool
	// Step is what has been reached, for people to read. It is handed back in [Attempt.Step] at the next call, and is all
	// that a restarted appliance knows of how far the work had come.
	Step string
	// After is how long to wait before the next call; zero: at once.
	After time.Duration
	// LookupAddresses are the BMC addresses by which a report may find the node (contract.md §4.1); nil: as they were,
	// empty: there are none.
	LookupAddresses []string
	// BootMedium is what is to be known from now on of the medium in the server's virtual drive, as [MediumRecord] spells it:
	// nil as it was, "" that nothing of ours is in. It counts also beside an error.
	BootMedium *string
	// Notes are things to know that failed nothing; they are added to those of the attempt.
	Notes []string
	// Signs are the signs of life that this piece of a start has seen.
	Signs []SignKind
	// Power is the power state that was last confirmed; "" where none was read.
	Power PowerState
}
