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
	PhaseNetboot Phase = "netboot" // fetching boot files; a silent server stays here
	PhaseRamdisk Phase = "ramdisk" // the ramdisk runs and has not reported
	PhaseDone    Phase = "done"    // the ramdisk has reported, or was refused, and idles
)

// machine is the server itself: power, boot override, what runs.
type machine struct {
	server *Server
	delay  time.Duration

	mu       sync.Mutex
	on       bool
	boot     override
	phase    Phase
	pending  context.CancelFunc // ends the power change that is on its way
	stopBoot context.CancelFunc // ends what runs
}

// override is the boot override with the details that the BMCs show.
type override struct {
	node.Boot
	Legacy bool // boot mode; UEFI otherwise
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

func (m *machine) override() override {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

func (m *machine) setOverride(o override) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot = o
	m.server.news.tell()
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
	if m.server.currentFaults().StuckPower {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending != nil {
		m.pending()
		m.pending = nil
	}
	if m.delay == 0 {
		m.switchTo(to, restart)
		return
	}
	ctx, cancel := context.WithCancel(m.server.ctx)
	m.pending = cancel
	m.server.rack.start(func() {
		defer cancel()
		if !pause(ctx, m.delay) {
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

// press switches by hand, at once.
func (m *machine) press(to bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending != nil {
		m.pending()
		m.pending = nil
	}
	m.switchTo(to, false)
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
	m.on = to
	if to && m.server.ctx.Err() == nil {
		m.start()
	}
}

// start boots what the override says and uses up an override for one boot; the caller holds the lock.
func (m *machine) start() {
	device := m.boot.Device
	if !m.boot.Persistent {
		m.boot.Boot = node.Boot{}
	}
	if device != node.BootPXE {
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
		m.server.netboot(ctx, func(p Phase) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if ctx.Err() == nil {
				m.phase = p
				m.server.news.tell()
			}
		})
	})
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
