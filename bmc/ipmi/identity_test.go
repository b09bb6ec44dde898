package ipmi_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// fruOf is the FRU of a machine, with areas of fields after some bytes; nil is an area that is not there.
func fruOf(chassis, board, product [][]byte) []byte {
	image := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	for i, a := range []struct {
		head   []byte
		fields [][]byte
	}{{[]byte{1, 0, 0x17}, chassis}, {[]byte{1, 0, 0, 1, 2, 3}, board}, {[]byte{1, 0, 0}, product}} {
		if a.fields == nil {
			continue
		}
		image[2+i] = byte(len(image) / 8)
		area := append(slices.Concat(a.head, slices.Concat(a.fields...)), 0xc1)
		area = append(area, make([]byte, 7-(len(area)+7)%8)...)
		area = append(area, make([]byte, (8-len(area)%8)%8)...)
		area[1] = byte(len(area) / 8)
		image = append(image, area...)
	}
	return image
}

func latin(s string) []byte { return append([]byte{0xc0 | byte(len(s))}, s...) }

// fruAnswers are those of a BMC with a FRU, which sends at most some bytes at once.
func fruAnswers(image []byte, most int) map[types.Command]answer {
	return map[types.Command]answer{
		types.CommandGetFRUInventoryAreaInfo: say(byte(len(image)), byte(len(image)>>8), 0),
		types.CommandReadFRUData: func(q []byte) ([]byte, types.CompletionCode) {
			offset, count := int(binary.LittleEndian.Uint16(q[1:])), int(q[3])
			if count > most {
				return nil, types.CodeRequestDataLengthLimitExceeded
			}
			if offset >= len(image) {
				return nil, types.CodeParameterOutOfRange
			}
			piece := image[offset:min(offset+count, len(image))]
			return append([]byte{byte(len(piece))}, piece...), types.CodeOK
		},
	}
}

// with adds answers.
func with(all map[types.Command]answer, kind types.Command, a answer) map[types.Command]answer {
	all[kind] = a
	return all
}

func TestTheMachineIsWhatItsFRUSays(t *testing.T) {
	product := [][]byte{latin("Contoso"), latin("Server 9"), latin("PN-1"), latin("v2"), latin("SN-1"), latin("rack-7")}
	board := [][]byte{latin("Boards Inc"), latin("X11"), latin("BSN-1")}
	chassis := [][]byte{latin("CPN"), latin("CSN-1")}
	for name, c := range map[string]struct {
		image []byte
		most  int
		want  node.SystemIdentity
	}{
		"all areas":              {fruOf(chassis, board, product), 255, node.SystemIdentity{Manufacturer: "Contoso", Model: "Server 9", SKU: "PN-1", Serial: "SN-1", AssetTag: "rack-7"}},
		"in small pieces":        {fruOf(chassis, board, product), 8, node.SystemIdentity{Manufacturer: "Contoso", Model: "Server 9", SKU: "PN-1", Serial: "SN-1", AssetTag: "rack-7"}},
		"without a product":      {fruOf(chassis, board, nil), 255, node.SystemIdentity{Manufacturer: "Boards Inc", Model: "X11", Serial: "CSN-1"}},
		"a board alone":          {fruOf(nil, board, nil), 255, node.SystemIdentity{Manufacturer: "Boards Inc", Model: "X11", Serial: "BSN-1"}},
		"fields left blank":      {fruOf(nil, nil, [][]byte{latin("Contoso"), latin("        "), {0}, {0}, latin("SN\x00\x00\x00")}), 255, node.SystemIdentity{Manufacturer: "Contoso", Serial: "SN"}},
		"six-bit and decimal":    {fruOf(nil, nil, [][]byte{{0x83, 0x29, 0xdc, 0xa6}, {0x42, 0x21, 0xb3}, {0x02, 0xde, 0xad}}), 255, node.SystemIdentity{Manufacturer: "IPMI", Model: "123-", SKU: "dead"}},
		"Latin 1":                {fruOf(nil, nil, [][]byte{{0xc3, 'Z', 0xfc, 'g'}}), 255, node.SystemIdentity{Manufacturer: "Züg"}},
		"nothing but a head":     {[]byte{1, 0, 0, 0, 0, 0, 0, 0xff}, 255, node.SystemIdentity{}},
		"another version":        {[]byte{2, 0, 0, 1, 0, 0, 0, 0xfd, 1, 1, 0, 0, 0, 0, 0, 0}, 255, node.SystemIdentity{}},
		"an area beyond the end": {[]byte{1, 0, 0, 0, 0xf0, 0, 0, 0}, 255, node.SystemIdentity{}},
		"an area longer than the FRU": {func() []byte {
			image := fruOf(nil, nil, product[:2])
			image[9] = 0xff
			return image
		}(), 255, node.SystemIdentity{Manufacturer: "Contoso", Model: "Server 9"}},
		"a field longer than its area": {[]byte{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0xff, 'M', 'a', 'x', 0}, 255, node.SystemIdentity{Manufacturer: "Max"}},
		"empty":                        {nil, 255, node.SystemIdentity{}},
	} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{answers: with(fruAnswers(c.image, c.most), types.CommandGetSystemGUID, refuse(types.CodeInvalidCommand))}).start(t)
			got, err := able(t, ipmi.New(quick()), b.node()).Hardware(t.Context())
			if err != nil || got.System != c.want {
				t.Errorf("%+v, %v\nwant %+v", got.System, err, c.want)
			}
		})
	}
}

func TestABMCThatAnswersReadsOfItsFRUWithNothingIsLeft(t *testing.T) {
	answers := fruAnswers(fruOf(nil, nil, nil), 255)
	answers[types.CommandReadFRUData] = say(0)
	b := (&standIn{answers: answers}).start(t)
	if got, err := able(t, ipmi.New(quick()), b.node()).Hardware(t.Context()); err != nil || got.System.Manufacturer != "" {
		t.Errorf("%+v, %v", got.System, err)
	}
	lacking := (&standIn{answers: map[types.Command]answer{types.CommandGetFRUInventoryAreaInfo: refuse(types.CodeInvalidCommand)}}).start(t)
	if _, err := able(t, ipmi.New(quick()), lacking.node()).Hardware(t.Context()); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("without FRUs: %v, want *node.Unsupported", err)
	}
}

func TestABMCTellsWhoItIsAsFarAsItCan(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	clock := binary.LittleEndian.AppendUint32(nil, uint32(now.Unix()))
	id := say(0x20, 0x81, 0x03, 0x45, 0x02, 0xbf, 0xa2, 0x02, 0x00, 0x00, 0x01)
	no := refuse(types.CodeInvalidCommand)
	for name, c := range map[string]struct {
		answers map[types.Command]answer
		want    node.BMCIdentity
	}{
		"all": {map[types.Command]answer{
			types.CommandGetDeviceID: id, types.CommandGetSELTime: say(clock...), types.CommandGetDeviceGUID: say(unhex(t, "520e1f6a4d3c7e4b9f102233445566aa")...),
			types.CommandGetFRUInventoryAreaInfo: no,
		}, node.BMCIdentity{Manufacturer: "Dell", Firmware: "3.45", Protocol: "IPMI 2.0", Time: now, UUID: "6a1f0e52-3c4d-4b7e-9f10-2233445566aa"}},
		"a device ID alone": {map[types.Command]answer{
			types.CommandGetDeviceID: id, types.CommandGetSELTime: no, types.CommandGetDeviceGUID: no, types.CommandGetFRUInventoryAreaInfo: no,
		}, node.BMCIdentity{Manufacturer: "Dell", Firmware: "3.45", Protocol: "IPMI 2.0"}},
		"a clock that was not set, no maker, all zeros": {map[types.Command]answer{
			types.CommandGetDeviceID: say(0x20, 0x81, 0x03, 0x05, 0x51, 0xbf, 0, 0, 0, 0, 0), types.CommandGetSELTime: say(9, 9, 0, 0),
			types.CommandGetDeviceGUID: say(make([]byte, 16)...), types.CommandGetFRUInventoryAreaInfo: no,
		}, node.BMCIdentity{Firmware: "3.05", Protocol: "IPMI 1.5"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{answers: c.answers}).start(t)
			if got, err := able(t, ipmi.New(quick()), b.node()).Identity(t.Context()); err != nil || got != c.want {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGUIDsAreSpeltInTheOrderInWhichTheyMakeSense(t *testing.T) {
	for name, c := range map[string]struct{ wire, want string }{
		"as SMBIOS lays it out":                {"520e1f6a4d3c7e4b9f102233445566aa", "6a1f0e52-3c4d-4b7e-9f10-2233445566aa"},
		"backwards, as the standard says":      {"aa66554433220f9f7e4b4d3c520e1f6a", "6a1f0e52-3c4d-4b7e-9f0f-2233445566aa"},
		"as it is written":                     {"6a1f0e523c4d4b7e9f102233445566aa", "6a1f0e52-3c4d-4b7e-9f10-2233445566aa"},
		"of no version, so taken for SMBIOS's": {"44454c4c390010488030b2c04f333832", "4c4c4544-0039-4810-8030-b2c04f333832"},
		"all ones are none":                    {"ffffffffffffffffffffffffffffffff", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answers := with(fruAnswers(nil, 255), types.CommandGetSystemGUID, say(unhex(t, c.wire)...))
			b := (&standIn{answers: answers}).start(t)
			if got, err := able(t, ipmi.New(quick()), b.node()).Hardware(t.Context()); err != nil || got.System.UUID != c.want {
				t.Errorf("%q, %v; want %q", got.System.UUID, err, c.want)
			}
		})
	}
}

func TestFirmwareIncludesWhatTheMachineLeftWithItsBMC(t *testing.T) {
	info := func(q []byte) ([]byte, types.CompletionCode) {
		switch {
		case q[1] == 1 && q[2] == 0:
			return append([]byte{0x11, 0, 0, 20}, "U30 v2.68 (07"...), types.CodeOK // 14 bytes of 20
		case q[1] == 1 && q[2] == 1:
			return append([]byte{0x11, 1}, "/14/22)          "...), types.CodeOK
		case q[1] == 2 && q[2] == 0:
			return append([]byte{0x11, 0, 0, 6}, "web-17\x00\x00"...), types.CodeOK
		}
		return nil, types.CodeParameterNotSupported
	}
	b := (&standIn{answers: with(with(fruAnswers(nil, 255), types.CommandGetSystemInfoParam, info), types.CommandGetSystemGUID, refuse(types.CodeInvalidCommand))}).start(t)
	a := able(t, ipmi.New(quick()), b.node())
	want := []node.Firmware{{Component: "BMC", ID: "bmc", Version: "3.45"}, {Component: "BIOS", ID: "bios", Version: "U30 v2.68 (07/14/22)"}}
	if got, err := a.Firmware(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got, err := a.Hardware(t.Context()); err != nil || got.System.BIOSVersion != "U30 v2.68 (07/14/22)" || got.System.HostName != "web-17" {
		t.Errorf("%+v, %v", got.System, err)
	}
	lacking := (&standIn{answers: map[types.Command]answer{types.CommandGetSystemInfoParam: refuse(types.CodeInvalidCommand)}}).start(t)
	if got, err := able(t, ipmi.New(quick()), lacking.node()).Firmware(t.Context()); err != nil || !slices.Equal(got, want[:1]) {
		t.Errorf("%+v, %v; want %+v", got, err, want[:1])
	}
}
