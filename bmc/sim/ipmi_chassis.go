package sim

import (
	"context"
	"time"

	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// chassis ties the IPMI chassis commands to the simulated machine.
type chassis struct {
	mock.Chassis
	s *Server
}

// PowerState is the machine's.
func (c *chassis) PowerState(context.Context) (bool, error) {
	on, _ := c.s.machine.power()
	return on, nil
}

// SetPower switches on or off.
func (c *chassis) SetPower(_ context.Context, on bool) error {
	detail := "Power Down"
	if on {
		detail = "Power Up"
	}
	return c.control(detail, on, false)
}

// PowerCycle restarts a machine that is on.
func (c *chassis) PowerCycle(context.Context) error { return c.control("Power Cycle", true, true) }

// ColdReset is the hard reset.
func (c *chassis) ColdReset(context.Context) error { return c.control("Hard Reset", true, true) }

// WarmReset is where the library sends the soft shutdown.
func (c *chassis) WarmReset(context.Context) error { return c.control("Soft Shutdown", false, false) }

func (c *chassis) control(detail string, to, restart bool) error {
	c.s.requests.answered(c.s.note("IPMI", "Chassis Control", detail, ""), 0)
	if c.s.strikes(FaultPowerConflict) {
		return types.CodeNotSupported
	}
	if on, _ := c.s.machine.power(); restart && !on {
		return types.CodeNotSupported
	}
	c.s.machine.command(to, restart)
	return nil
}

var selectorDevices = map[types.BootDeviceSelector]node.BootDevice{
	types.BootDeviceSelectorForcePXE: node.BootPXE, types.BootDeviceSelectorForceHardDrive: node.BootDisk,
	types.BootDeviceSelectorForceHardDriveSafe: node.BootSafe, types.BootDeviceSelectorForceCDROM: node.BootCDROM,
	types.BootDeviceSelectorForceBIOSSetup: node.BootBIOS,
}

// SetBootFlags is the boot override.
func (c *chassis) SetBootFlags(_ context.Context, f *types.BootOptionParam_BootFlags) error {
	device := selectorDevices[f.BootDeviceSelector]
	c.s.requests.answered(c.s.note("IPMI", "Boot Flags", "device="+string(device), ""), 0)
	switch {
	case c.s.strikes(FaultRefuseBoot):
		return types.CodeRequestDataFieldInvalid
	case c.s.inPOST():
		return types.CodeNotSupported
	case c.s.strikes(FaultIgnoreBoot):
		return nil
	}
	o := override{Legacy: f.BIOSBootType == types.BIOSBootTypeLegacy}
	if f.BootFlagsValid && device != node.BootNone {
		o.Boot = node.Boot{Device: device, Persistent: f.Persist}
	}
	c.s.machine.setOverride(o)
	if c.s.has(FaultFlagsExpire) && !c.s.keepBoot.Load() {
		delay := c.s.delayOf(FaultFlagsExpire)
		c.s.rack.start(func() {
			if pause(c.s.ctx, delay) {
				c.s.machine.forget(o)
			}
		})
	}
	return nil
}

// Identify is the light by which people find the server; 255 is until it is set again.
func (c *chassis) Identify(_ context.Context, seconds uint8) error {
	switch seconds {
	case 0:
		c.s.machine.setLight(node.IndicatorOff, 0)
	case 0xff:
		c.s.machine.setLight(node.IndicatorOn, 0)
	default:
		c.s.machine.setLight(node.IndicatorBlinking, time.Duration(seconds)*time.Second)
	}
	return nil
}

// GetBootFlags shows the override; after the boot that used it up it is no longer valid.
func (c *chassis) GetBootFlags(context.Context) (*types.BootOptionParam_BootFlags, error) {
	o := c.s.machine.override()
	f := &types.BootOptionParam_BootFlags{Persist: o.Persistent, BIOSBootType: types.BIOSBootType(!o.Legacy)}
	for selector, device := range selectorDevices {
		if device == o.Device {
			f.BootFlagsValid, f.BootDeviceSelector = true, selector
		}
	}
	if !f.BootFlagsValid && c.s.has(FaultStaleFlags) {
		f.BootDeviceSelector = types.BootDeviceSelectorForcePXE
	}
	return f, nil
}
