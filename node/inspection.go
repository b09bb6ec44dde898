package node

import (
	"slices"
	"time"
)

// Inventory is what an inspection stored (contract.md §4.6): two JSON documents, byte for byte as they are served. In
// lists the documents are nil.
type Inventory struct {
	NodeUUID   string
	AttemptID  string
	Inventory  []byte
	PluginData []byte
	CreatedAt  time.Time
}

// Report is what a ramdisk posted for an attempt. Once its logs have been taken out it is without them.
type Report struct {
	AttemptID string
	Body      []byte // the JSON document, at most 16 MiB
	At        time.Time
}

// RamdiskLogs are the logs that came with a report.
type RamdiskLogs struct {
	AttemptID string
	NodeUUID  string
	Archive   []byte // a tar.gz, as it was sent: hostile until read
	At        time.Time
}

// LogFile is one file of a ramdisk's logs.
type LogFile struct {
	Name string // path in the archive
	Size int64  // bytes
}

// SignKind names a sign of life that the server under inspection gave on its way.
type SignKind string

// The signs, in the order in which they come.
const (
	SignPowerSent  SignKind = "power on sent"
	SignPoweredOn  SignKind = "powered on"
	SignBootScript SignKind = "boot script fetched"
	SignBootFile   SignKind = "boot file fetched"
	SignBootImage  SignKind = "boot image fetched"
	SignLookup     SignKind = "lookup"
	SignHeartbeat  SignKind = "heartbeat"
	SignReport     SignKind = "report received"
	SignHooks      SignKind = "hooks begun"
	SignDone       SignKind = "done"
)

// Sign is a sign of life in an attempt; the same sign again only moves LastAt and counts.
type Sign struct {
	AttemptID string
	Kind      SignKind
	FirstAt   time.Time
	LastAt    time.Time
	Times     int
	Detail    string // such as the address that it came from
}

// Diagnosis tells in one sentence how far the server of an in-band attempt has come that has sent no report, and what to
// look at; "" where there is nothing to explain.
func Diagnosis(a Attempt, signs []Sign) string {
	if !a.ReportAt.IsZero() || a.WaitingAt.IsZero() {
		return ""
	}
	has := func(k SignKind) bool { return slices.ContainsFunc(signs, func(s Sign) bool { return s.Kind == k }) }
	switch {
	case has(SignHeartbeat), has(SignLookup):
		return "The ramdisk runs and has called, but has not sent its report: look at the server's console."
	case has(SignBootFile):
		return "The kernel or the ramdisk was fetched, but nothing came from it: look at the server's console, and whether the ramdisk reaches this appliance."
	case has(SignBootImage):
		return "The boot image was read, but nothing came from the ramdisk in it: look at the server's console, and whether the ramdisk reaches this appliance."
	case has(SignBootScript):
		return "The boot script was fetched, but nothing came after it: check that the server can load the kernel and the ramdisk."
	}
	return "No boot file was fetched: check the cabling of the boot NIC, its network, and that the server boots from it."
}
