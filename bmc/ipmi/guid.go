package ipmi

import (
	"bytes"
	"fmt"
	"slices"
)

// guid spells a GUID. The standard sends it backwards, but most BMCs send it as it is in the SMBIOS tables, and some as it is
// written: the order that makes a UUID of a usual version is right. If that does not tell, it is taken for SMBIOS's.
func guid(raw [16]byte) string {
	b := raw[:]
	if bytes.Count(b, []byte{0}) == len(b) || bytes.Count(b, []byte{0xff}) == len(b) {
		return ""
	}
	smbios := slices.Clone(b)
	slices.Reverse(smbios[0:4])
	slices.Reverse(smbios[4:6])
	slices.Reverse(smbios[6:8])
	backwards := slices.Clone(b)
	slices.Reverse(backwards)
	var found [][]byte
	for _, u := range [][]byte{smbios, backwards, b} {
		if usual(u) {
			found = append(found, u)
		}
	}
	if len(found) == 1 {
		return spell(found[0])
	}
	return spell(smbios)
}

// usual tells that bytes in the order in which they are written are a UUID of the standard's variant, by time, chance or name.
func usual(u []byte) bool {
	version := u[6] >> 4
	return u[8]>>6 == 2 && (version == 1 || version == 4 || version == 5)
}

func spell(u []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
