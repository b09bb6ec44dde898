package sim

import (
	"encoding/binary"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"
)

func (s *Server) selInfo([]byte) ([]byte, types.CompletionCode) {
	added, erased := s.events.times()
	n := len(s.events.entries())
	out := make([]byte, 14)
	out[0] = 0x51
	binary.LittleEndian.PutUint16(out[1:], uint16(n))
	binary.LittleEndian.PutUint16(out[3:], uint16((mostEvents-n)*16))
	binary.LittleEndian.PutUint32(out[5:], seconds(added))
	binary.LittleEndian.PutUint32(out[9:], seconds(erased))
	out[13] = 0x02 // reservations
	return out, types.CodeOK
}

func seconds(t time.Time) uint32 {
	if t.IsZero() {
		return 0xffffffff // unspecified
	}
	return uint32(t.Unix())
}

func (s *Server) reserveSEL([]byte) ([]byte, types.CompletionCode) {
	return binary.LittleEndian.AppendUint16(nil, s.events.reserve()), types.CodeOK
}

func (s *Server) selTime([]byte) ([]byte, types.CompletionCode) {
	now := time.Now()
	if s.has(FaultClockUnset) {
		now = time.Unix(0, 0)
	}
	return binary.LittleEndian.AppendUint32(nil, seconds(now)), types.CodeOK
}

// selEntry gives the first (0000h), the last (FFFFh) or a named entry, with the id of the one after it.
func (s *Server) selEntry(data []byte) ([]byte, types.CompletionCode) {
	if len(data) < 6 {
		return nil, types.CodeRequestDataTruncated
	}
	if s.strikes(FaultReservationLost) {
		return nil, types.CodeReservationCanceled
	}
	id, list := binary.LittleEndian.Uint16(data[2:]), s.events.entries()
	for i, e := range list {
		if e.id != id && (id != 0 || i != 0) && (id != 0xffff || i != len(list)-1) {
			continue
		}
		next := uint16(0xffff)
		if i+1 < len(list) {
			next = list[i+1].id
		}
		return append(binary.LittleEndian.AppendUint16(nil, next), s.selRecord(e)...), types.CodeOK
	}
	return nil, types.CodeRequestedDataNotPresent
}

// selRecord is an entry as the sixteen bytes of a system event.
func (s *Server) selRecord(e event) []byte {
	number := types.SensorNumber(0xff)
	for _, one := range s.sensors() {
		if one.name == e.sensor {
			number = types.SensorNumber(one.number)
		}
	}
	r := &types.SEL{RecordID: e.id, RecordType: 0x02, Standard: &types.SELStandard{
		Timestamp: s.stamp(e), GeneratorID: 0x0020, EvMRev: 0x04, SensorType: types.SensorType(e.kind), SensorNumber: number,
		EventReadingType: types.EventReadingTypeSensorSpecific, EventData: types.EventData{EventData1: e.offset, EventData2: 0xff, EventData3: 0xff},
	}}
	return r.Pack()
}

func (s *Server) clearSEL(data []byte) ([]byte, types.CompletionCode) {
	switch {
	case len(data) < 6 || string(data[2:5]) != "CLR":
		return nil, types.CodeRequestDataFieldInvalid
	case !s.events.reserved(binary.LittleEndian.Uint16(data)) || s.strikes(FaultReservationLost):
		return nil, types.CodeReservationCanceled
	case data[5] == 0xaa:
		s.events.clear()
		s.news.tell()
	}
	return []byte{0x01}, types.CodeOK // the erasure is complete
}
