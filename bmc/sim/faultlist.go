package sim

import (
	"time"

	"cagenut/node"
)

// Fault names one thing that can be wrong with a BMC: a failure, or an oddity that machines on the market have.
type Fault string

// FaultInfo describes a fault.
type FaultInfo struct {
	Fault   Fault
	Drivers []string // of the BMCs that can have it
	TLS     bool     // it takes a BMC that speaks TLS (Options.TLS)
	What    string   // one sentence for people
	Like    string   // who is known for it; "" for failures that anybody has
	// Steady faults are ways of a BMC: they take no count and no percentage.
	Steady bool
	// Delay is how long it usually takes, of faults that take time.
	Delay time.Duration
}

// Failures that every BMC can have.
const (
	FaultSlow          Fault = "slow"
	FaultHang          Fault = "hang"
	FaultRefuse        Fault = "refuse"
	FaultBusy          Fault = "busy"
	FaultWrongPassword Fault = "wrong-password"
	FaultStuckPower    Fault = "stuck-power"
	FaultSlowOff       Fault = "slow-off"
	FaultPowerConflict Fault = "power-conflict"
	FaultRefuseBoot    Fault = "refuse-boot"
	FaultIgnoreBoot    Fault = "ignore-boot"
	FaultBootsDisk     Fault = "boots-disk"
	FaultPOSTBusy      Fault = "post-busy"
	FaultFailedPSU     Fault = "failed-psu"
	FaultHotInlet      Fault = "hot-inlet"
	FaultClockUnset    Fault = "clock-unset"
)

// Of Redfish: connections, sessions, answers.
const (
	FaultDrop           Fault = "drop"
	FaultDropBody       Fault = "drop-body"
	FaultNoKeepAlive    Fault = "no-keep-alive"
	FaultNoParallel     Fault = "no-parallel"
	FaultNoSessions     Fault = "no-sessions"
	FaultNoBasic        Fault = "no-basic"
	FaultSessionLimit   Fault = "session-limit"
	FaultSessionExpiry  Fault = "session-expiry"
	FaultHTML           Fault = "html"
	FaultTruncated      Fault = "truncated"
	FaultTwoDocuments   Fault = "two-documents"
	FaultExpandNulls    Fault = "expand-nulls"
	FaultETagRequired   Fault = "etag-required"
	FaultETagStale      Fault = "etag-stale"
	FaultETagSuffix     Fault = "etag-suffix"
	FaultETagWeak       Fault = "etag-weak"
	FaultETagOnAction   Fault = "etag-on-action"
	FaultNoIdentity     Fault = "no-identity"
	FaultWrongTypes     Fault = "wrong-types"
	FaultTextNumbers    Fault = "text-numbers"
	FaultMissingLinks   Fault = "missing-links"
	FaultMissingMembers Fault = "missing-members"
	FaultNoVendor       Fault = "no-vendor"
)

// Of Redfish: power and boot.
const (
	FaultPowering       Fault = "powering"
	FaultPowerUnknown   Fault = "power-unknown"
	FaultChassisOn      Fault = "chassis-on"
	FaultOnAfterOff     Fault = "on-after-off"
	FaultNotReady       Fault = "not-ready"
	FaultFewResetTypes  Fault = "few-reset-types"
	FaultNoResetList    Fault = "no-reset-list"
	FaultResetTask      Fault = "reset-task"
	FaultModeAtReboot   Fault = "mode-at-reboot"
	FaultBootSettings   Fault = "boot-settings"
	FaultBootPending    Fault = "boot-pending"
	FaultStrictBoot     Fault = "strict-boot"
	FaultNoBootMode     Fault = "no-boot-mode"
	FaultModeFallsBack  Fault = "mode-falls-back"
	FaultFullBoot       Fault = "full-boot"
	FaultShortBoot      Fault = "short-boot"
	FaultNoContinuous   Fault = "no-continuous"
	FaultUsbCd          Fault = "usb-cd"
	FaultPhysicalCd     Fault = "physical-cd"
	FaultLosesBootEntry Fault = "loses-boot-entry"
	FaultParentFirst    Fault = "parent-first"
)

// Of Redfish: virtual media, systems, inventory.
const (
	FaultNoMedia           Fault = "no-media"
	FaultMediaPatch        Fault = "media-patch"
	FaultMediaImageOnly    Fault = "media-image-only"
	FaultMediaFullBody     Fault = "media-full-body"
	FaultMediaTransfer     Fault = "media-transfer"
	FaultMediaCredentials  Fault = "media-credentials"
	FaultEjectEmpty        Fault = "eject-empty"
	FaultEjectBody         Fault = "eject-body"
	FaultMediaStale        Fault = "media-stale"
	FaultMediaConsole      Fault = "media-console"
	FaultMediaDVDOnly      Fault = "media-dvd-only"
	FaultMediaNoTypes      Fault = "media-no-types"
	FaultMediaAtSystem     Fault = "media-at-system"
	FaultMediaBoth         Fault = "media-both"
	FaultMediaImageStays   Fault = "media-image-stays"
	FaultMediaTask         Fault = "media-task"
	FaultMediaTaskFails    Fault = "media-task-fails"
	FaultMediaLate         Fault = "media-late"
	FaultMediaRefused      Fault = "media-refused"
	FaultMediaBusy         Fault = "media-busy"
	FaultLicence           Fault = "licence"
	FaultSeveralSystems    Fault = "several-systems"
	FaultNICsAtAdapters    Fault = "nics-at-adapters"
	FaultNoAdapters        Fault = "no-adapters"
	FaultEmptyMACs         Fault = "empty-macs"
	FaultPermanentMACOnly  Fault = "permanent-mac-only"
	FaultOddMACs           Fault = "odd-macs"
	FaultSmartStorage      Fault = "smart-storage"
	FaultUnknownSummaries  Fault = "unknown-summaries"
	FaultSummariesCountGPU Fault = "summaries-count-gpu"
	FaultFailedDrive       Fault = "failed-drive"
)

// Of IPMI.
const (
	FaultLoss            Fault = "loss"
	FaultDuplicate       Fault = "duplicate"
	FaultBadRAKP         Fault = "bad-rakp"
	FaultNoRAKPAfterOn   Fault = "no-rakp-after-on"
	FaultNoSuiteList     Fault = "no-suite-list"
	FaultSuite3Only      Fault = "suite-3-only"
	FaultSuite17Only     Fault = "suite-17-only"
	FaultSuite17Broken   Fault = "suite-17-broken"
	FaultPasswordCut     Fault = "password-cut"
	FaultFlagsExpire     Fault = "flags-expire"
	FaultStaleFlags      Fault = "stale-flags"
	FaultReservationLost Fault = "reservation-lost"
	FaultShortReads      Fault = "short-reads"
	FaultDeadSensor      Fault = "dead-sensor"
	FaultLANInProgress   Fault = "lan-in-progress"
	FaultChassisFan      Fault = "chassis-fan"
)

// AllFaults lists what SwitchOn takes, in the order of the documentation.
func AllFaults() []FaultInfo {
	var all []FaultInfo
	for _, group := range faultGroups {
		for _, f := range group.faults {
			f.Drivers, f.TLS = group.drivers, group.tls
			all = append(all, f)
		}
	}
	return all
}

func faultInfo(f Fault) (FaultInfo, bool) {
	for _, group := range faultGroups {
		for _, info := range group.faults {
			if info.Fault == f {
				info.Drivers, info.TLS = group.drivers, group.tls
				return info, true
			}
		}
	}
	return FaultInfo{}, false
}

var faultGroups = []struct {
	drivers []string
	tls     bool
	faults  []FaultInfo
}{
	{[]string{node.DriverRedfish, node.DriverIPMI}, false, bothFaults},
	{[]string{node.DriverRedfish}, false, redfishFaults},
	{[]string{node.DriverRedfish}, true, tlsFaults},
	{[]string{node.DriverIPMI}, false, ipmiFaults},
}

var bothFaults = []FaultInfo{
	{Fault: FaultSlow, What: "Every answer comes late.", Delay: 2 * time.Second},
	{Fault: FaultHang, What: "Takes connections and answers nothing; of IPMI, drops what it hears."},
	{Fault: FaultRefuse, Steady: true, What: "Nothing listens at its port."},
	{Fault: FaultBusy, What: "503 (IPMI: node busy) to everything."},
	{Fault: FaultWrongPassword, What: "Takes no password, and no session that it gave out before."},
	{Fault: FaultStuckPower, What: "Accepts power commands and does nothing."},
	{Fault: FaultSlowOff, What: "Switching off takes long.", Delay: 40 * time.Second},
	{Fault: FaultPowerConflict, What: "Power commands are a conflict (409; IPMI: not in this state).", Like: "Dell"},
	{Fault: FaultRefuseBoot, What: "Refuses to change the boot override."},
	{Fault: FaultIgnoreBoot, What: "Accepts a boot override and keeps what it had."},
	{Fault: FaultBootsDisk, What: "Shows the boot override, and the server boots from its disk all the same.", Like: "Dell iDRAC9, Supermicro"},
	{Fault: FaultPOSTBusy, What: "Refuses boot overrides for a while after power-on.", Like: "HPE iLO", Delay: 30 * time.Second},
	{Fault: FaultFailedPSU, Steady: true, What: "Power supply 2 has failed: health is critical."},
	{Fault: FaultHotInlet, Steady: true, What: "The air is too hot: health is a warning."},
	{Fault: FaultClockUnset, Steady: true, What: "Its clock was never set: the log is of 1970."},
}

var ipmiFaults = []FaultInfo{
	{Fault: FaultLoss, What: "Datagrams are lost, each way; with a percentage."},
	{Fault: FaultDuplicate, What: "Every answer comes twice."},
	{Fault: FaultBadRAKP, What: "The proof of the password in its answer is wrong."},
	{Fault: FaultNoRAKPAfterOn, Steady: true, What: "Nobody can log in for a while after power-on.", Like: "OpenBMC", Delay: time.Minute},
	{Fault: FaultNoSuiteList, What: "Does not answer the question for its cipher suites."},
	{Fault: FaultSuite3Only, Steady: true, What: "Knows cipher suite 3 alone.", Like: "old machines"},
	{Fault: FaultSuite17Only, Steady: true, What: "Knows cipher suite 17 alone.", Like: "OpenBMC"},
	{Fault: FaultSuite17Broken, Steady: true, What: "Offers cipher suite 17 and refuses it.", Like: "old machines"},
	{Fault: FaultPasswordCut, Steady: true, What: "Keeps the first 16 bytes of the password."},
	{Fault: FaultFlagsExpire, Steady: true, What: "Forgets boot flags after a while, unless told not to.", Delay: time.Minute},
	{Fault: FaultStaleFlags, Steady: true, What: "Shows flags of old beside valid=0.", Like: "Supermicro"},
	{Fault: FaultReservationLost, What: "Another reader takes the reservation of sensors and log."},
	{Fault: FaultShortReads, Steady: true, What: "Cannot return more than 8 bytes of a sensor's record at a time."},
	{Fault: FaultDeadSensor, Steady: true, What: "The first sensor of the list has no reading (0xCB)."},
	{Fault: FaultLANInProgress, Steady: true, What: "The LAN settings are \"in progress\" for ever."},
	{Fault: FaultChassisFan, Steady: true, What: "The chassis status tells a fault of the cooling."},
}
