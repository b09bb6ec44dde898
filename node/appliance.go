package node

import "time"

// Appliance is how the appliance itself is.
type Appliance struct {
	At        time.Time // when it was looked at
	StartedAt time.Time
	Host      string // as conductor, too
	Build     Build
	Settings  []Setting
	Database  DatabaseLoad
	Jobs      JobLoad
	BMCs      BMCLoad
	Inspector InspectorContact
	Streams   StreamLoad
	// NoRamdiskURL says that nobody has said where servers reach the appliance. MissingBoot names the boot files that are not
	// there.
	NoRamdiskURL bool
	MissingBoot  []string
}

// Build is what runs.
type Build struct {
	Version  string // of the module; "(devel)" for one that was built from a work tree
	Commit   string // "" where the build knows none
	Time     time.Time
	Modified bool // the work tree had changes
	Go       string
}

// Setting is a setting by its flag. Secrets are none of them.
type Setting struct{ Name, Value string }

// DatabaseLoad is how much is kept, and whether more can be.
type DatabaseLoad struct {
	Kind      string // "SQLite"
	Path      string
	Size      int64  // bytes
	WAL       int64  // bytes that wait to be taken into the file
	Schema    int64  // number of the newest migration
	Unwritten string // why nothing can be written; "" where it can
	// DiskFree and DiskSize are of the file system, for who is not its superuser; both 0 where nobody can tell.
	DiskFree, DiskSize int64
	Kept               []Kept
}

// Kept is how many there are of something: "nodes", "attempts", …
type Kept struct {
	What  string
	Count int64
}

// JobLoad is the work that is waiting and going on.
type JobLoad struct {
	Counts []JobCount
	// Late is the job that could have begun for the longest time and has not; the zero value for none.
	Late     JobKind
	LateFrom time.Time
}

// JobCount is how many jobs of a kind are in a state, in the queue's words: "available", "running", "scheduled", "retryable".
type JobCount struct {
	Kind  JobKind
	State string
	Count int
}

// BMCLoad is which BMCs can be used, and what the appliance has to do with them just now.
type BMCLoad struct {
	Answering, Silent, Unasked int // nodes
	Worst                      []SilentBMC
	Calls                      CallLoad
}

// SilentBMC is a node whose BMC cannot be used.
type SilentBMC struct {
	Node    string // UUID
	Name    string
	Place   Location
	Address string
	Since   time.Time
	Error   string
}

// CallLoad is how many calls to BMCs run and wait.
type CallLoad struct {
	Running, Waiting int
	Limit            int // of those that run with a place
	LeftAlone        int // BMCs that are not asked for a while, because they failed
}

// InspectorContact is which inspector there is, and whether it answers.
type InspectorContact struct {
	External bool
	Address  string    // of the embedded one's API, "" where it is not served; or of the external one
	Answered time.Time // when an external one answered last; zero for never
	Failed   time.Time // when a question to it failed last, if that was after; zero otherwise
	Error    string
}

// StreamLoad is how many event streams are open, of how many.
type StreamLoad struct{ Open, Limit int }

// Defect is something that is wrong with the appliance and that somebody can mend.
type Defect struct {
	Kind   string // "disk", "database", …
	Grave  bool   // something does not work; otherwise something will not, soon
	Detail string
	A, B   int64 // numbers that go with it
}

// Limits of what is no defect yet.
const (
	leastDisk  = 512 << 20       // bytes
	leastShare = 20              // a twentieth of the disk
	lateJob    = 5 * time.Minute // has something that it waits for
	fewBMCs    = 3               // silent ones that are bad luck
)

// Defects are what is wrong, the worst first.
func (a Appliance) Defects() (all []Defect) {
	add := func(is, grave bool, t Defect) {
		if t.Grave = grave; is {
			all = append(all, t)
		}
	}
	d := a.Database
	full := d.DiskSize > 0 && d.DiskFree < min(leastDisk, d.DiskSize/leastShare)
	late := a.Jobs.LateFrom
	add(d.Unwritten != "", true, Defect{Kind: "database", Detail: d.Unwritten})
	add(full, d.DiskFree < leastDisk/8, Defect{Kind: "disk", A: d.DiskFree, B: d.DiskSize})
	add(a.Inspector.External && !a.Inspector.Failed.IsZero(), true, Defect{Kind: "inspector", Detail: a.Inspector.Error})
	add(a.BMCs.Silent >= fewBMCs && a.BMCs.Silent >= a.BMCs.Answering, true, Defect{Kind: "bmcs", A: int64(a.BMCs.Silent), B: int64(a.BMCs.Silent + a.BMCs.Answering)})
	add(!late.IsZero() && a.At.Sub(late) > lateJob, true, Defect{Kind: "jobs", Detail: string(a.Jobs.Late)})
	add(a.NoRamdiskURL, false, Defect{Kind: "ramdisk"})
	for _, file := range a.MissingBoot {
		add(!a.NoRamdiskURL, false, Defect{Kind: "bootfile", Detail: file})
	}
	add(a.Streams.Limit > 0 && a.Streams.Open >= a.Streams.Limit*9/10, false, Defect{Kind: "streams", A: int64(a.Streams.Open), B: int64(a.Streams.Limit)})
	return all
}
