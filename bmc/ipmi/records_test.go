package ipmi_test

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/bougou/go-ipmi/pkg/types"
)

// A record of a sensor, as change alters it. Its sensor has readable thresholds and says what it reads, in degrees.
func record(number byte, name string, change func(r []byte)) []byte {
	r := make([]byte, 48, 64)
	copy(r, []byte{0, 0, 0x51, 0x01, 0, 0x20, 0, number, 3, 1, 0x7f, 0x68&^0x0c | 1<<2, 0x01, 0x01})
	r[18], r[19] = 0x3f, 0x3f
	r[21] = 1 // degrees Celsius
	r[24] = 1 // M
	if change != nil {
		change(r)
	}
	r[47] = 0xc0 | byte(len(name))
	return sized(append(r, name...))
}

// compact is a record of a sensor that is in states, or of several.
func compact(number byte, name string, kind types.SensorType, reading types.EventReadingType, change func(r []byte)) []byte {
	r := make([]byte, 32, 48)
	copy(r, []byte{0, 0, 0x51, 0x02, 0, 0x20, 0, number, 3, 1, 0x67, 0x40, byte(kind), byte(reading)})
	r[20] = 0xc0 // no numbers
	if change != nil {
		change(r)
	}
	r[31] = 0xc0 | byte(len(name))
	return sized(append(r, name...))
}

func sized(r []byte) []byte {
	r[4] = byte(len(r) - 5)
	return r
}

// repository is a BMC's sensors: records, and what it answers for a sensor's number.
type repository struct {
	records    [][]byte
	readings   map[byte][]byte // reading, flags, states; 0xc0 are good flags
	thresholds map[byte][]byte // readable mask, LNC, LCR, LNR, UNC, UCR, UNR
	factors    map[[2]byte][]byte

	mu          sync.Mutex
	reservation uint16
	changes     byte // of the repository
	onRead      func(r *repository, count int) types.CompletionCode
	reads       int
}

// answers are the commands of a BMC with these sensors.
func (r *repository) answers() map[types.Command]answer {
	number := func(from map[byte][]byte) answer {
		return func(q []byte) ([]byte, types.CompletionCode) {
			a, ok := from[q[0]]
			if !ok {
				return nil, types.CodeRequestedDataNotPresent
			}
			return a, types.CodeOK
		}
	}
	return map[types.Command]answer{
		types.CommandGetSDRRepoInfo: func([]byte) ([]byte, types.CompletionCode) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return []byte{0x51, byte(len(r.records)), byte(len(r.records) >> 8), 0, 0, 1, 2, 3, r.changes, 1, 2, 3, 4, 0x02}, types.CodeOK
		},
		types.CommandReserveSDRRepo: func([]byte) ([]byte, types.CompletionCode) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reservation++
			return binary.LittleEndian.AppendUint16(nil, r.reservation), types.CodeOK
		},
		types.CommandGetSDR:              r.read,
		types.CommandGetSensorReading:    number(r.readings),
		types.CommandGetSensorThresholds: number(r.thresholds),
		types.CommandGetSensorReadingFactors: func(q []byte) ([]byte, types.CompletionCode) {
			a, ok := r.factors[[2]byte{q[0], q[1]}]
			if !ok {
				return nil, types.CodeInvalidCommand
			}
			return a, types.CodeOK
		},
	}
}

// read is Get SDR. The ID of a record is ten times its place.
func (r *repository) read(q []byte) ([]byte, types.CompletionCode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	offset, count := int(q[4]), int(q[5])
	if r.onRead != nil {
		if code := r.onRead(r, count); code != types.CodeOK {
			return nil, code
		}
	}
	if offset > 0 && binary.LittleEndian.Uint16(q) != r.reservation {
		return nil, types.CodeReservationCanceled
	}
	at := int(binary.LittleEndian.Uint16(q[2:])) / 10
	if at >= len(r.records) || offset >= len(r.records[at]) {
		return nil, types.CodeRequestedDataNotPresent
	}
	next := uint16(at+1) * 10
	if at == len(r.records)-1 {
		next = 0xffff
	}
	piece := r.records[at][offset:]
	return slices.Concat(binary.LittleEndian.AppendUint16(nil, next), piece[:min(count, len(piece))]), types.CodeOK
}
