package node

// PowerState is what a BMC says of a server's power, in the words of the wire; "" where nobody knows.
type PowerState string

// The power states.
const (
	PowerOn    PowerState = "power on"
	PowerOff   PowerState = "power off"
	PowerError PowerState = "error"
)

// PowerAction is what may be asked of a server's power (contract.md §3.6).
type PowerAction string

// The power actions, in the words of the wire.
const (
	ActionOn         PowerAction = "power on"
	ActionOff        PowerAction = "power off"
	ActionReboot     PowerAction = "rebooting"
	ActionSoftReboot PowerAction = "soft rebooting"
	ActionSoftOff    PowerAction = "soft power off"
)

// Result is the state that the action leads to, or "" for a word that is no action.
func (a PowerAction) Result() PowerState {
	switch a {
	case ActionOn, ActionReboot, ActionSoftReboot:
		return PowerOn
	case ActionOff, ActionSoftOff:
		return PowerOff
	}
	return ""
}

// BootDevice is what a server boots from, in Ironic's words.
type BootDevice string

// The boot devices that have a name on the wire; which of them a server knows, its driver says. BootNone asks a BMC to forget its override.
const (
	BootNone    BootDevice = ""
	BootPXE     BootDevice = "pxe"
	BootDisk    BootDevice = "disk"
	BootCDROM   BootDevice = "cdrom"
	BootBIOS    BootDevice = "bios"
	BootSafe    BootDevice = "safe"
	BootWANBoot BootDevice = "wanboot"
)

// Boot is a boot override: the device, and whether it stays after the next boot. Device is BootNone where there is no
// override, or none that has a name here.
type Boot struct {
	Device     BootDevice
	Persistent bool
}
