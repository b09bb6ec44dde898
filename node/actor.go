package node

// Source says through which door a request came.
type Source string

// The doors (design.md §2).
const (
	SourceAPI     Source = "api"
	SourceUI      Source = "ui"
	SourceRamdisk Source = "ramdisk"
	SourceSystem  Source = "system"
)

// Actor is who asked for something.
type Actor struct {
	User      string // "" where nobody signs in, and for the system
	Source    Source
	Address   string // remote address, for the audit
	RequestID string
}

// System is the appliance itself.
func System() Actor { return Actor{Source: SourceSystem} }

// Name is what people read: the user, or the door for those without a name.
func (a Actor) Name() string {
	if a.User != "" {
		return a.User
	}
	switch a.Source {
	case SourceUI:
		return "somebody at the dashboard"
	case SourceAPI:
		return "an API client"
	case SourceRamdisk:
		return "the ramdisk"
	}
	return "the appliance"
}
