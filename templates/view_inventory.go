package templates

// Inventory is what the last inspection found.
type Inventory struct {
	At     Time
	System []Fact
	Memory []ModuleLine
	Disks  []DiskLine
	NICs   []NICLine
	More   string // that there is more than is shown
	// NoDisks says why there are none.
	NoDisks string
}

// ModuleLine is a memory module.
type ModuleLine struct {
	Slot, Size, Product, Serial string
}

// DiskLine is a disk that an inspection found.
type DiskLine struct {
	Name, Model, Size, Kind, Serial string
}

// NICLine is a network interface that an inspection found.
type NICLine struct {
	Name, MAC, Address, Speed, Link, Product string
	Down                                     bool   // no link
	Switch                                   string // the switch and the port that its cable leads to
}
