package lldp

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"unicode/utf8"
)

// Subtypes of the ids of a chassis and of a port that are something else than a text.
const (
	chassisMAC, chassisAddress = 4, 5
	portMAC, portAddress       = 3, 4
	portCircuit                = 6 // of a DHCP relay, in a form of its own
)

// chassisID is the id of a switch, in whichever of the seven kinds it chose.
func chassisID(v []byte) (string, error) {
	if len(v) < 2 {
		return "", errShort
	}
	switch kind, id := v[0], v[1:]; {
	case kind == chassisMAC:
		return hardwareAddress(id)
	case kind == chassisAddress:
		return address(id)
	case kind >= 1 && kind <= 7:
		return text(id)
	}
	return "", fmt.Errorf("there is no subtype %d", v[0])
}

// portID is the id of a switch's port.
func portID(v []byte) (string, error) {
	if len(v) < 2 {
		return "", errShort
	}
	switch kind, id := v[0], v[1:]; {
	case kind == portMAC:
		return hardwareAddress(id)
	case kind == portAddress:
		return address(id)
	case kind >= 1 && kind <= 7 && kind != portCircuit:
		return text(id)
	}
	return "", fmt.Errorf("subtype %d is not understood", v[0])
}

// text is UTF-8; a zero that ends it, as C has it, is no part of it.
func text(v []byte) (string, error) {
	v = bytes.TrimRight(v, "\x00")
	switch {
	case !utf8.Valid(v):
		return "", errors.New("its text is not UTF-8")
	case bytes.IndexByte(v, 0) >= 0:
		return "", errors.New("there is a zero byte in its text")
	}
	return string(v), nil
}

func hardwareAddress(v []byte) (string, error) {
	if len(v) != 6 {
		return "", fmt.Errorf("a MAC has 6 bytes, not %d", len(v))
	}
	return net.HardwareAddr(v).String(), nil
}

// address is one of a network: its family, as IANA numbers them, and the bytes.
func address(v []byte) (string, error) {
	if len(v) < 1 {
		return "", errShort
	}
	switch family, v := v[0], v[1:]; {
	case family == 6:
		return hardwareAddress(v)
	case family == 1 && len(v) == 4 || family == 2 && len(v) == 16:
		a, _ := netip.AddrFromSlice(v)
		return a.String(), nil
	case family == 1 || family == 2:
		return "", fmt.Errorf("an address of family %d does not have %d bytes", family, len(v))
	}
	return "", fmt.Errorf("address family %d is not understood", v[0])
}
