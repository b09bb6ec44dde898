package ui_test

import (
	"context"
	"sync"
	"time"

	"cagenut/node"
)

// bmc is what the one BMC of a rack tells and was told. The zero value has no ability at all.
type bmc struct {
	mu       sync.Mutex
	asked    int      // how often it was asked for something
	done     []string // what it was told to do
	silent   error    // what comes instead of every answer
	lacks    bool     // nothing can be told
	health   node.HealthReport
	sensors  []node.Sensor
	log      []node.LogEntry
	light    node.Indicator
	boot     node.Boot
	drives   []node.VirtualDrive
	identity node.BMCIdentity
	firmware []node.Firmware
	bios     map[string]any
	// hold, when not nil, keeps answers back until it is closed.
	hold chan struct{}
}

func tell[T any](ctx context.Context, b *bmc, what func() T) (none T, err error) {
	b.mu.Lock()
	b.asked++
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.silent != nil:
		return none, b.silent
	case b.lacks:
		return none, &node.Unsupported{Driver: node.DriverRedfish, Extension: "this"}
	}
	return what(), nil
}

func (b *bmc) edit(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *bmc) questions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

func (b *bmc) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.done...)
}

func (r *rack) Health(ctx context.Context, _ string) (node.HealthReport, error) {
	return tell(ctx, &r.bmc, func() node.HealthReport { return r.bmc.health })
}

func (r *rack) Sensors(ctx context.Context, _ string) ([]node.Sensor, error) {
	return tell(ctx, &r.bmc, func() []node.Sensor { return r.bmc.sensors })
}

func (r *rack) EventLog(ctx context.Context, _ string, entries int) ([]node.LogEntry, error) {
	return tell(ctx, &r.bmc, func() []node.LogEntry { return r.bmc.log[:min(entries, len(r.bmc.log))] })
}

func (r *rack) Indicator(ctx context.Context, _ string) (node.Indicator, error) {
	return tell(ctx, &r.bmc, func() node.Indicator { return r.bmc.light })
}

func (r *rack) BootDevice(ctx context.Context, _ string) (node.Boot, error) {
	return tell(ctx, &r.bmc, func() node.Boot { return r.bmc.boot })
}

func (r *rack) VirtualMedia(ctx context.Context, _ string) ([]node.VirtualDrive, error) {
	return tell(ctx, &r.bmc, func() []node.VirtualDrive { return r.bmc.drives })
}

func (r *rack) Identity(ctx context.Context, _ string) (node.BMCIdentity, error) {
	return tell(ctx, &r.bmc, func() node.BMCIdentity { return r.bmc.identity })
}

func (r *rack) Firmware(ctx context.Context, _ string) ([]node.Firmware, error) {
	return tell(ctx, &r.bmc, func() []node.Firmware { return r.bmc.firmware })
}

func (r *rack) BIOS(ctx context.Context, _ string) (map[string]any, error) {
	return tell(ctx, &r.bmc, func() map[string]any { return r.bmc.bios })
}

// order is something that the BMC is told to do, unless the conductor refuses.
func (r *rack) order(actor node.Actor, what string, change func()) error {
	r.mu.Lock()
	refuse := r.refuse
	r.actors = append(r.actors, actor)
	r.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	r.bmc.edit(func() {
		r.bmc.done = append(r.bmc.done, what)
		change()
	})
	return nil
}

func (r *rack) SetIndicator(_ context.Context, actor node.Actor, _ string, to node.Indicator) error {
	return r.order(actor, "light "+string(to), func() { r.bmc.light = to })
}

func (r *rack) ClearEventLog(_ context.Context, actor node.Actor, _ string) error {
	return r.order(actor, "clear log", func() { r.bmc.log = nil })
}

func (r *rack) DetachVirtualMedia(_ context.Context, actor node.Actor, _ string, kinds []node.MediumKind) error {
	return r.order(actor, "eject", func() {
		if len(kinds) == 0 {
			r.bmc.drives = []node.VirtualDrive{{ID: "1", Kinds: []node.MediumKind{node.MediumCD}}}
		}
	})
}

func (r *rack) InjectNMI(_ context.Context, actor node.Actor, _ string) error {
	return r.order(actor, "nmi", func() {})
}

func number(v float64) *float64 { return &v }

// sickRack has one server that is on, with a BMC that tells everything and is not content.
func sickRack(change ...func(*node.Node)) (*rack, node.Node) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable, append([]func(*node.Node){func(n *node.Node) {
		n.Interfaces.Firmware, n.Interfaces.BIOS = node.DriverRedfish, node.DriverRedfish
	}}, change...)...)
	yes := true
	r.bmc.health = node.HealthReport{Overall: node.HealthCritical, Parts: []node.PartHealth{
		{Part: "PSU 2", Health: node.HealthCritical, Message: "No input voltage."}, {Part: "Fan 3", Health: node.HealthWarning},
	}}
	r.bmc.sensors = []node.Sensor{
		{Name: "CPU 1", Kind: node.SensorTemperature, Unit: "Cel", Reading: number(54.5), Health: node.HealthOK, UpperCritical: number(95)},
		{Name: "Fan 1", Kind: node.SensorFan, Unit: "RPM", Reading: number(8000), Health: node.HealthOK, LowerCritical: number(1000)},
		{Name: "Inlet", Kind: node.SensorTemperature, Unit: "Cel", Reading: number(47), LowerWarning: number(5), UpperWarning: number(38), UpperCritical: number(42)},
		{Name: "P12V", Kind: node.SensorVoltage, Unit: "V", Reading: number(11.25), LowerWarning: number(11.4), UpperWarning: number(12.6)},
		{Name: "PSU 2", Kind: node.SensorPower, State: "Failure detected", Health: node.HealthCritical},
		{Name: "Exhaust", Kind: node.SensorTemperature, Unit: "Cel"},
		{Name: "Lid", Kind: node.SensorOther, State: "Closed"},
	}
	for i := range 30 {
		r.bmc.log = append(r.bmc.log, node.LogEntry{ID: "e", At: noon.Add(-time.Duration(i) * time.Minute), Severity: node.HealthOK, Message: "Something happened."})
	}
	r.bmc.log[0] = node.LogEntry{ID: "31", At: noon.Add(-time.Minute), Severity: node.HealthCritical, Message: "Power supply 2 failed.", Sensor: "PSU 2"}
	r.bmc.log[1] = node.LogEntry{ID: "entry 30", Severity: node.HealthWarning}
	r.bmc.light, r.bmc.boot = node.IndicatorOff, node.Boot{Device: node.BootPXE}
	r.bmc.drives = []node.VirtualDrive{
		{ID: "1", Kinds: []node.MediumKind{node.MediumCD, node.MediumDisk}, Inserted: true, URL: "http://192.0.2.1/a.iso", ReadOnly: true}, {ID: "2", Kinds: []node.MediumKind{node.MediumFloppy}},
	}
	r.bmc.identity = node.BMCIdentity{Manufacturer: "Example Corp", Model: "BMC 4", Firmware: "4.11", Protocol: "Redfish 1.17.0", Time: noon.Add(-12 * time.Minute)}
	r.bmc.firmware = []node.Firmware{{Component: "BIOS", Version: "2.19.1", Released: "2026-03-01", Updateable: &yes}, {ID: "nic-1", Version: "22.5"}}
	r.bmc.bios = map[string]any{"NumLock": "On", "Cores": float64(16), "SecureBoot": false}
	return r, n
}
