package sim

import (
	"context"
	"fmt"
	"time"

	ipmichassis "github.com/bougou/go-ipmi/pkg/command/chassis"
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

// chassisStatus is the power with what the chassis finds wrong.
func (s *Server) chassisStatus([]byte) ([]byte, types.CompletionCode) {
	on, _ := s.machine.power()
	st := ipmichassis.GetChassisStatusResponse{PowerIsOn: on, ChassisIdentifySupported: true, CollingFanFault: s.has(FaultChassisFan)}
	return st.Pack(), types.CodeOK
}

// SetPower switches on or off.
func (c *chassis) SetPower(_ context.Context, on bool) error { return c.control(on, false) }

// PowerCycle restarts a machine that is on.
func (c *chassis) PowerCycle(context.Context) error { return c.control(true, true) }

// ColdReset is the hard reset.
func (c *chassis) ColdReset(context.Context) error { return c.control(true, true) }

// WarmReset is where the library sends the soft shutdown.
func (c *chassis) WarmReset(context.Context) error { return c.control(false, false) }

func (c *chassis) control(to, restart bool) error {
	if c.s.strikes(FaultPowerConflict) {
		return types.CodeNotSupported
	}
	if on, _ := c.s.machine.power(); restart && !on {
		return types.CodeNotSupported
	}
	c.s.machine.command(to, restart)
	return nil
}

// commandDetail is what of a command's data is kept in the request log.
func commandDetail(command types.Command, data []byte) string {
	switch {
	case command == types.CommandChassisControl && len(data) > 0:
		return map[byte]string{0: "Power Down", 1: "Power Up", 2: "Power Cycle", 3: "Hard Reset", diagnosticInterrupt: "Diagnostic Interrupt", 5: "Soft Shutdown"}[data[0]&0x0f]
	case command == types.CommandSetSystemBootOptions && len(data) > 1 && data[0]&0x7f == byte(types.BootOptionParamSelector_BootFlags):
		var f types.BootOptionParam_BootFlags
		if f.Unpack(data[1:]) == nil {
			return "Boot Flags device=" + string(selectorDevices[f.BootDeviceSelector])
		}
	case command == types.CommandChassisIdentify && len(data) > 0:
		return fmt.Sprintf("%d s", data[0])
	}
	return ""
}

var selectorDevices = map[types.BootDeviceSelector]node.BootDevice{
	types.BootDeviceSelectorForcePXE: node.BootPXE, types.BootDeviceSelectorForceHardDrive: node.BootDisk,
	types.BootDeviceSelectorForceHardDriveSafe: node.BootSafe, types.BootDeviceSelectorForceCDROM: node.BootCDROM,
	types.BootDeviceSelectorForceBIOSSetup: node.BootBIOS,
}

// SetBootFlags is the boot override.
func (c *chassis) SetBootFlags(_ context.Context, f *types.BootOptionParam_BootFlags) error {
	device := selectorDevices[f.BootDeviceSelector]
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
