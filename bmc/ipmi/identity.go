package ipmi

import (
	"context"
	"fmt"

	"github.com/bougou/go-ipmi/pkg/command/app"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// Identity is what Get Device ID says of the BMC, and the FRU of the machine that it sits in.
func (c *client) Identity(ctx context.Context) (i node.BMCIdentity, err error) {
	err = c.within(ctx, "BMC identity", true, func(ctx context.Context, s *session) error {
		d, err := s.GetDeviceID(ctx)
		if err != nil {
			return err
		}
		f, err := optional(readFRU(ctx, s))
		if err != nil {
			return err
		}
		i = node.BMCIdentity{
			Manufacturer: first(f.manufacturer, f.boardManufacturer, maker(d.ManufacturerID)), Model: first(f.product, f.board),
			Firmware: version(d), Serial: first(f.serial, f.boardSerial), Protocol: fmt.Sprintf("IPMI %d.%d", d.MajorIPMIVersion, d.MinorIPMIVersion),
		}
		clock, err := optional(s.GetSELTime(ctx))
		if err == nil && clock != nil {
			i.Time = moment(uint32(clock.Time.Unix()))
		}
		if err != nil {
			return err
		}
		g, err := optional(s.GetDeviceGUID(ctx))
		if err == nil && g != nil {
			i.UUID = guid(g.GUID)
		}
		return err
	})
	return i, err
}

// Hardware is what the FRU says of the machine as a whole, and what its firmware left with the BMC. IPMI has no inventory of
// processors, memory, disks or interfaces.
func (c *client) Hardware(ctx context.Context) (h node.Hardware, err error) {
	err = c.within(ctx, "hardware inventory", true, func(ctx context.Context, s *session) error {
		f, err := readFRU(ctx, s)
		if err != nil {
			return err
		}
		h.System = node.SystemIdentity{
			Manufacturer: first(f.manufacturer, f.boardManufacturer), Model: first(f.product, f.board), SKU: f.part,
			Serial: first(f.serial, f.chassisSerial, f.boardSerial), AssetTag: f.assetTag,
		}
		g, err := optional(s.GetSystemGUID(ctx))
		if err == nil && g != nil {
			h.System.UUID = guid(g.GUID)
		}
		if err != nil {
			return err
		}
		if h.System.BIOSVersion, err = optional(systemInfo(ctx, s, types.SystemInfoParamSelector_SystemFirmwareVersion)); err != nil {
			return err
		}
		h.System.HostName, err = optional(systemInfo(ctx, s, types.SystemInfoParamSelector_SystemName))
		return err
	})
	return h, err
}

// Firmware is the BMC's own, and that of the machine if it left its version with the BMC.
func (c *client) Firmware(ctx context.Context) (all []node.Firmware, err error) {
	err = c.within(ctx, "firmware", true, func(ctx context.Context, s *session) error {
		d, err := s.GetDeviceID(ctx)
		if err != nil {
			return err
		}
		all = []node.Firmware{{Component: "BMC", ID: "bmc", Version: version(d)}}
		bios, err := optional(systemInfo(ctx, s, types.SystemInfoParamSelector_SystemFirmwareVersion))
		if bios != "" {
			all = append(all, node.Firmware{Component: "BIOS", ID: "bios", Version: bios})
		}
		return err
	})
	return all, err
}

// optional is what a command gave that BMCs need not have; refusals are no errors.
func optional[T any](v T, err error) (T, error) {
	if refused(err) {
		var none T
		return none, nil
	}
	return v, err
}

// first is the first that is not empty.
func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// maker names a manufacturer by its enterprise number.
func maker(number uint32) string {
	number &= 0xfffff
	if number == types.OEM_UNKNOWN || number == types.OEM_RESERVED {
		return ""
	}
	if name := types.OEM(number).String(); name != "" {
		return name
	}
	return fmt.Sprintf("enterprise %d", number)
}

// version is the firmware's: the minor part is two decimal digits.
func version(d *app.GetDeviceIDResponse) string {
	return fmt.Sprintf("%d.%02d", d.MajorFirmwareRevision, d.MinorFirmwareRevision)
}

// mostBlocks bounds a system information text, which comes in blocks of 16 bytes.
const mostBlocks = 16

// systemInfo reads a text that the machine's firmware or operating system left with the BMC, §22.14.
func systemInfo(ctx context.Context, s *session, what types.SystemInfoParamSelector) (string, error) {
	var data []byte
	for block, length := 0, 1; len(data) < length && block < mostBlocks; block++ {
		a := &app.GetSystemInfoParamResponse{}
		if err := s.Exchange(ctx, &app.GetSystemInfoParamRequest{ParamSelector: what, SetSelector: uint8(block)}, a); err != nil {
			return "", err
		}
		piece := a.ParamData
		if len(piece) < 2 {
			break
		}
		piece = piece[1:] // the number of the block
		if block == 0 {
			if len(piece) < 2 || piece[0]&0x0f > 1 { // neither Latin 1 nor UTF-8
				return "", nil
			}
			length = int(piece[1])
			piece = piece[2:]
		}
		data = append(data, piece...)
		data = data[:min(len(data), length)]
	}
	return plain(string(data)), nil
}
