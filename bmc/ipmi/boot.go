package ipmi

import (
	"context"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

var selectors = map[node.BootDevice]types.BootDeviceSelector{
	node.BootNone:  types.BootDeviceSelectorNoOverride,
	node.BootPXE:   types.BootDeviceSelectorForcePXE,
	node.BootDisk:  types.BootDeviceSelectorForceHardDrive,
	node.BootSafe:  types.BootDeviceSelectorForceHardDriveSafe,
	node.BootCDROM: types.BootDeviceSelectorForceCDROM,
	node.BootBIOS:  types.BootDeviceSelectorForceBIOSSetup,
}

// Boot reads the boot flags. Flags without the valid bit are left over from an earlier boot and count as none (quirk 63).
func (c *client) Boot(ctx context.Context) (b node.Boot, err error) {
	err = c.within(ctx, "read the boot device", true, func(ctx context.Context, s *session) error {
		f := &types.BootOptionParam_BootFlags{}
		if err := s.GetSystemBootOptionsParamFor(ctx, f); err != nil || !f.BootFlagsValid {
			return err
		}
		for device, selector := range selectors {
			if selector == f.BootDeviceSelector && device != node.BootNone {
				b = node.Boot{Device: device, Persistent: f.Persist}
			}
		}
		return nil
	})
	return b, err
}

// SetBoot writes the boot flags. "None" is written as a valid choice of no override, because some BMCs ignore invalid flags.
func (c *client) SetBoot(ctx context.Context, b node.Boot) error {
	selector, ok := selectors[b.Device]
	if !ok {
		return &node.Unsupported{Driver: c.name, Extension: "boot device " + string(b.Device)}
	}
	return c.within(ctx, "set the boot device", true, func(ctx context.Context, s *session) error {
		// Without this the flags expire after 60 s (quirk 62). BMCs that do not know it have no such timer, or we cannot help it.
		_ = s.SetSystemBootOptionsParamFor(ctx, &types.BootOptionParam_BMCBootFlagValidBitClear{DontClearOnCommandReceivedTimeout: true})
		if err := ctx.Err(); err != nil {
			return err
		}
		return s.SetBootDevice(ctx, selector, types.BIOSBootType(!c.legacy), b.Persistent && b.Device != node.BootNone)
	})
}

// SupportedBoot is what IPMI has names for.
func (c *client) SupportedBoot(ctx context.Context) ([]node.BootDevice, error) {
	return []node.BootDevice{node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS, node.BootSafe}, ctx.Err()
}
