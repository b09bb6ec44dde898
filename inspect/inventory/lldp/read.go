package lldp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"cagenut/inspect/inventory"
)

// TLV is one statement of a switch.
type TLV struct {
	Type  int
	Value []byte // at most 511 bytes
}

const (
	maxTLVs  = 512 // more do not fit into a frame with room for what they say
	maxValue = 511 // bytes: its length has nine bits on the wire
)

// types of statements that are understood.
const (
	typeEnd            = 0
	typeChassis        = 1
	typePort           = 2
	typeDescription    = 4
	typeSystem         = 5
	typeSystemText     = 6
	typeCapabilities   = 7
	typeManagement     = 8
	typeOrganizational = 127
)

// Read reads the list of an interface, valid JSON. What is no statement is left out and noted; what comes after the end
// that a frame marks is not a part of it.
func Read(list json.RawMessage) (all []TLV, notes []string) {
	elements, err := inventory.Elements(list, maxTLVs)
	if err != nil {
		notes = append(notes, fmt.Sprintf("the LLDP data were not read, or not to their end: a list of at most %d entries is due", maxTLVs))
	}
	for i, e := range elements {
		t, err := readTLV(e)
		if err != nil {
			notes = append(notes, fmt.Sprintf("LLDP entry %d was left out: %s", i, err))
			continue
		}
		if t.Type == typeEnd {
			break
		}
		all = append(all, t)
	}
	return all, notes
}

func readTLV(v json.RawMessage) (TLV, error) {
	pair, err := inventory.Elements(v, 2)
	if err != nil || len(pair) != 2 {
		return TLV{}, fmt.Errorf("%s is not a type and a value", inventory.Excerpt(string(v)))
	}
	kind, err := strconv.ParseUint(string(pair[0]), 10, 7)
	if err != nil {
		return TLV{}, fmt.Errorf("%s is no type of LLDP", inventory.Excerpt(string(pair[0])))
	}
	t := TLV{Type: int(kind)}
	if len(pair[1]) > 2*maxValue+2 {
		return TLV{}, fmt.Errorf("the value of type %d is longer than %d bytes", t.Type, maxValue)
	}
	digits, ok := inventory.Text(pair[1])
	if !ok {
		return TLV{}, fmt.Errorf("the value of type %d is no text", t.Type)
	}
	if t.Value, err = hex.DecodeString(digits); err != nil {
		return TLV{}, fmt.Errorf("the value of type %d is not hexadecimal", t.Type)
	}
	return t, nil
}
