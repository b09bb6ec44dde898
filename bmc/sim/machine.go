package sim

import (
	"context"
	"sync"
	"time"

	"cagenut/node"
)

// Phase is what a server is doing.
type Phase string

// The phases. A server that is on and has no network override, or could not boot over the network, is in PhaseDisk.
const (
	PhaseOff     Phase = "off"
	PhaseDisk    Phase = "disk"    // running what is on its disk
	PhaseNetboot Phase = "netboot" // fetching boot files or a virtual CD's image; a silent server stays here
	PhaseRamdisk Phase = "ramdisk" // the ramdisk runs and has not reported
	PhaseDone    Phase = "done"    // the ramdisk has reported, or was refused, and idles
)

// machine is the server itself: power, boot override, what runs.
type machine struct {
	server *Server
	delay  time.Duration

	mu        sync.Mutex
	on        bool
	since     time.Time // of the last change of power
	boot      override
	nextBoot  *override // waits for the next boot
	lostEntry bool      // the network's entry is gone from the boot order
	phase     Phase
	pending   context.CancelFunc // ends the power change that is on its way
	goal      bool               // where it leads
	shown     bool               // whether the BMC shows that it is on its way
	stopBoot  context.CancelFunc // ends what runs
	light     node.Indicator
	lightEnds time.Time // zero: it stays as it is
	nmis      int
	drives    []drive
}

// override is the boot override with the details that the BMCs show.
type override struct {
	node.Boot
	Legacy bool   // boot mode; UEFI otherwise
	Target string // in Redfish's words, where they say more than the device
}

func powerState(on bool) node.PowerState {
	if on {
		return node.PowerOn
	}
	return node.PowerOff
}

// power is the state, and whether a change is on its way.
func (m *machine) power() (on, changing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on, m.pending != nil
}

// shownPower is the state in Redfish's words.
func (m *machine) shownPower() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.pending != nil && m.shown && m.goal:
		return "PoweringOn"
	case m.pending != nil && m.shown:
		return "PoweringOff"
	case m.on:
		return "On"
	}
	return "Off"
}

// within tells whether the machine has been on, or off, for less than a time.
func (m *machine) within(on bool, d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on == on && !m.since.IsZero() && time.Since(m.since) < d
}

func (m *machine) override() override {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

// pendingOverride is the override that the next boot finds.
func (m *machine) pendingOverride() override {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nextBoot != nil {
		return *m.nextBoot
	}
	return m.boot
}

func (m *machine) setOverride(o override) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot, m.nextBoot = o, nil
	m.server.news.tell()
}

// setPending sets what becomes the override at the next boot.
func (m *machine) setPending(o override) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nextBoot = &o
	m.server.news.tell()
}

// forget lets an override expire that nobody has changed since.
func (m *machine) forget(o override) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.boot == o {
		m.boot.Boot = node.Boot{}
		m.server.news.tell()
	}
}

func (m *machine) currentPhase() Phase {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		return PhaseOff
	}
	return m.phase
}

// command is a power command of the BMC: it takes effect after the delay. A later command replaces one on its way.
func (m *machine) command(to, restart bool) {
	s := m.server
	if s.strikes(FaultStuckPower) {
		return
	}
	delay := m.delay
	if !to && s.has(FaultSlowOff) {
		delay = max(delay, s.delayOf(FaultSlowOff))
		s.strikes(FaultSlowOff)
	}
	shown := s.has(FaultPowering)
	if shown {
		delay = max(delay, s.delayOf(FaultPowering))
		s.strikes(FaultPowering)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancelPending()
	if delay == 0 {
		m.switchTo(to, restart)
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	m.pending, m.goal, m.shown = cancel, to, shown
	s.rack.start(func() {
		defer cancel()
		if !pause(ctx, delay) {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if ctx.Err() == nil {
			m.pending = nil
			m.switchTo(to, restart)
		}
	})
}

// cancelPending is for callers that hold the lock.
func (m *machine) cancelPending() {
	if m.pending != nil {
		m.pending()
		m.pending = nil
	}
}

// press switches by hand, at once.
func (m *machine) press(to bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancelPending()
	m.switchTo(to, false)
}

// interrupt is the NMI; false where nothing runs that could be interrupted.
func (m *machine) interrupt() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		return false
	}
	m.nmis++
	m.server.events.add(eventNMI)
	m.server.news.tell()
	return true
}

func (m *machine) interrupts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nmis
}

// setLight sets the indicator; for a time, or with 0 until it is set again.
func (m *machine) setLight(to node.Indicator, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.light, m.lightEnds = to, time.Time{}
	if d > 0 {
		m.lightEnds = time.Now().Add(d)
	}
	m.server.news.tell()
}

func (m *machine) currentLight() node.Indicator {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.light == "" || (!m.lightEnds.IsZero() && time.Now().After(m.lightEnds)) {
		return node.IndicatorOff
	}
	return m.light
}

// switchTo is the change itself; the caller holds the lock.
func (m *machine) switchTo(to, restart bool) {
	if to == m.on && !restart {
		return
	}
	defer m.server.news.tell()
	if m.stopBoot != nil {
		m.stopBoot()
		m.stopBoot = nil
	}
	if to != m.on {
		m.server.events.add(map[bool]event{true: eventOn, false: eventOff}[to])
	}
	m.on, m.since = to, time.Now()
	if to && m.server.ctx.Err() == nil {
		m.start()
	}
}

// start boots what the override says and uses up an override for one boot; the caller holds the lock.
func (m *machine) start() {
	if m.nextBoot != nil {
		m.boot, m.nextBoot = *m.nextBoot, nil
	}
	run := m.bootable(m.boot)
	if !m.boot.Persistent {
		m.boot.Boot, m.boot.Target = node.Boot{}, ""
	}
	if run == nil {
		m.phase = PhaseDisk
		return
	}
	m.phase = PhaseNetboot
	if m.server.Silent {
		return
	}
	ctx, cancel := context.WithCancel(m.server.ctx)
	m.stopBoot = cancel
	m.server.rack.start(func() {
		defer cancel()
		m.server.bootRamdisk(ctx, run, func(p Phase) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if ctx.Err() == nil {
				m.phase = p
				m.server.news.tell()
			}
		})
	})
}

// bootable is how to load what an override points at; nil for the disk. The caller holds the lock.
func (m *machine) bootable(o override) loader {
	s := m.server
	switch {
	case o.Device == node.BootNone || s.strikes(FaultBootsDisk):
		return nil
	case o.Device == node.BootPXE:
		m.lostEntry = s.has(FaultLosesBootEntry)
		return s.loadBoot
	case o.Device == node.BootCDROM && !s.has(FaultPhysicalCd) && (o.Target == "UsbCd" || !s.has(FaultUsbCd)):
		for _, d := range m.drives {
			if d.inserted && d.boots() {
				return s.loadImage(d)
			}
		}
	}
	return nil
}

// pause waits; false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
