package sim

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/bougou/go-ipmi/pkg/hal"
	"github.com/bougou/go-ipmi/pkg/types"
	"github.com/google/uuid"

	"cagenut/node"
)

// records are what IPMI reads of a server: what its sensors are and who made it. They are made anew at every read.
type records struct{ s *Server }

// FRU describes the server.
func (r records) FRU() hal.FRUStore { return fru(r) }

// SDR describes the sensors.
func (r records) SDR() hal.SDRStore { return sdr(r) }

type fru struct{ s *Server }

// Read gives the one device that there is.
func (f fru) Read(_ context.Context, id uint8) ([]byte, error) {
	if id != 0 {
		return nil, hal.ErrNotFound
	}
	h := f.s.hardware
	return types.PackFRU(types.FRUPackConfig{
		Chassis: &types.FRUPackChassis{Type: 0x17, PartNumber: h.model.sku(), Serial: h.serial}, // rack mount chassis
		Board:   &types.FRUPackBoard{MfgDate: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Mfg: h.model.manufacturer, Product: h.model.product + " board", Serial: h.serial + "-B", PartNumber: "EXB-1"},
		Product: &types.FRUPackProduct{Manufacturer: h.model.manufacturer, Name: h.model.product, PartModel: h.model.sku(), Version: "1", Serial: h.serial},
	})
}

// Write is refused.
func (fru) Write(context.Context, uint8, []byte) error { return hal.ErrNotSupported }

// Delete is refused.
func (fru) Delete(context.Context, uint8) error { return hal.ErrNotSupported }

// DeviceIDs lists the one.
func (fru) DeviceIDs(context.Context) ([]uint8, error) { return []uint8{0}, nil }

type sdr struct{ s *Server }

// locatorID is the record of the BMC itself; those of the sensors follow.
const locatorID = 1

// Read gives a record.
func (d sdr) Read(_ context.Context, id uint16) ([]byte, error) {
	if id == locatorID {
		return types.PackMCLocator(types.MCLocatorPackOpts{RecordID: locatorID, DeviceSupport: 0x8f, Name: "Simulated BMC"}), nil
	}
	all := d.s.sensors()
	if at := int(id) - locatorID - 1; at >= 0 && at < len(all) {
		return all[at].record(id), nil
	}
	return nil, hal.ErrNotFound
}

// Write is refused.
func (sdr) Write(context.Context, uint16, []byte) error { return hal.ErrNotSupported }

// Delete is refused.
func (sdr) Delete(context.Context, uint16) error { return hal.ErrNotSupported }

// RecordIDs lists the records.
func (d sdr) RecordIDs(context.Context) ([]uint16, error) {
	ids := []uint16{locatorID}
	for _, one := range d.s.sensors() {
		ids = append(ids, locatorID+uint16(one.number))
	}
	return ids, nil
}

// What a sensor is in IPMI's numbers: its type, its unit, the entity that it belongs to.
var ipmiKinds = map[node.SensorKind]struct {
	kind   types.SensorType
	unit   types.SensorUnitType
	entity types.EntityID
}{
	node.SensorTemperature: {0x01, 1, 0x07}, node.SensorFan: {0x04, 18, 0x1d}, node.SensorVoltage: {0x02, 4, 0x07}, node.SensorCurrent: {0x03, 5, 0x0a},
	node.SensorPower: {0x0b, 6, 0x07}, node.SensorOther: {0x08, 0, 0x0a},
}

// record is the sensor's description, full for those with a number, compact for the others.
func (s sensor) record(id uint16) []byte {
	k := ipmiKinds[s.kind]
	name := []byte(s.name)
	start := types.SensorInitialization{InitScanning: true, EventGenerationEnabled: true, SensorScanningEnabled: true}
	if s.kind == node.SensorOther {
		c := &types.SDRCompact{
			GeneratorID: 0x0020, SensorNumber: types.SensorNumber(s.number), SensorEntityID: k.entity, SensorEntityInstance: 1, SensorInitialization: start,
			SensorType: k.kind, SensorEventReadingType: types.EventReadingTypeSensorSpecific,
			SensorUnit:         types.SensorUnit{AnalogDataFormat: types.SensorAnalogUnitFormat_NotAnalog},
			IDStringTypeLength: types.TypeLength(0xc0 | len(name)), IDStringBytes: name,
		}
		return c.Pack(id)
	}
	f := &types.SDRFull{
		GeneratorID: 0x0020, SensorNumber: types.SensorNumber(s.number), SensorEntityID: k.entity, SensorEntityInstance: 1, SensorInitialization: start,
		SensorType: k.kind, SensorEventReadingType: types.EventReadingTypeThreshold, SensorUnit: types.SensorUnit{BaseUnit: k.unit}, SensorMaxReadingRaw: 0xff,
		LCR_Raw: s.limits[0], LNC_Raw: s.limits[1], UNC_Raw: s.limits[2], UCR_Raw: s.limits[3],
		IDStringTypeLength: types.TypeLength(0xc0 | len(name)), IDStringBytes: name,
	}
	f.M = int16(s.scale)
	if s.scale < 1 {
		f.M, f.R_Exp = 1, -1
	}
	f.SensorCapabilities.ThresholdAccess = 1 // readable
	record := f.Pack(id)
	record[18] = s.readable() // which limits there are to read; byte 19, which are settable: none
	record[19] = 0
	return record
}

// readable are the limits that are set, as IPMI's bits: lower warning, lower critical, (lower fatal), upper warning, upper critical.
func (s sensor) readable() byte {
	var bits byte
	for k, bit := range []byte{0x02, 0x01, 0x08, 0x10} {
		if s.limits[k] != 0 {
			bits |= bit
		}
	}
	return bits
}

// sensorAsked finds the sensor of a request; nil for none.
func (s *Server) sensorAsked(data []byte) *sensor {
	for _, one := range s.sensors() {
		if len(data) > 0 && one.number == data[0] {
			return &one
		}
	}
	return nil
}

func (s *Server) sensorReading(data []byte) ([]byte, types.CompletionCode) {
	one := s.sensorAsked(data)
	switch {
	case one == nil, one.number == 1 && s.has(FaultDeadSensor):
		return nil, types.CodeRequestedDataNotPresent
	case one.kind == node.SensorOther:
		state := byte(0x01)
		if one.state == psuFailed {
			state = 0x03 // present, and failed
		}
		return []byte{0, 0xc0, state, 0x80}, types.CodeOK
	case !one.present:
		return []byte{0, 0xe0, 0xc0}, types.CodeOK // reading unavailable
	}
	return []byte{one.raw, 0xc0, 0xc0 | one.beyond()}, types.CodeOK
}

// beyond are the limits that the reading is at or beyond, in IPMI's bits.
func (s sensor) beyond() byte {
	var bits byte
	for k, bit := range []byte{0x02, 0x01, 0x08, 0x10} {
		limit := s.limits[k]
		if limit != 0 && ((k < 2 && s.raw <= limit) || (k >= 2 && s.raw >= limit)) {
			bits |= bit
		}
	}
	return bits
}

func (s *Server) sensorThresholds(data []byte) ([]byte, types.CompletionCode) {
	one := s.sensorAsked(data)
	if one == nil || one.kind == node.SensorOther {
		return nil, types.CodeRequestedDataNotPresent
	}
	return []byte{one.readable(), one.limits[1], one.limits[0], 0, one.limits[2], one.limits[3], 0}, types.CodeOK
}

func (s *Server) sensorHysteresis(data []byte) ([]byte, types.CompletionCode) {
	if s.sensorAsked(data) == nil {
		return nil, types.CodeRequestedDataNotPresent
	}
	return []byte{0, 0}, types.CodeOK
}

func (s *Server) sensorEvents(data []byte) ([]byte, types.CompletionCode) {
	one := s.sensorAsked(data)
	switch {
	case one == nil:
		return nil, types.CodeRequestedDataNotPresent
	case one.kind == node.SensorOther && one.state == psuFailed:
		return []byte{0xc0, 0x03, 0, 0, 0}, types.CodeOK
	case one.kind == node.SensorOther:
		return []byte{0xc0, 0x01, 0, 0, 0}, types.CodeOK
	}
	return []byte{0xc0, 0, 0, 0, 0}, types.CodeOK
}

// systemGUID is the server's UUID in the order of SMBIOS: the first three fields with their lowest byte first.
func (s *Server) systemGUID([]byte) ([]byte, types.CompletionCode) {
	id := uuid.MustParse(s.hardware.uuid)
	out := make([]byte, 16)
	binary.LittleEndian.PutUint32(out, binary.BigEndian.Uint32(id[:4]))
	binary.LittleEndian.PutUint16(out[4:], binary.BigEndian.Uint16(id[4:6]))
	binary.LittleEndian.PutUint16(out[6:], binary.BigEndian.Uint16(id[6:8]))
	copy(out[8:], id[8:])
	return out, types.CodeOK
}
