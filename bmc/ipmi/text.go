package ipmi

import (
	"encoding/hex"
	"strings"
	"unicode"
)

const bcdPlus = "0123456789 -.:,_"

// text decodes a text as records and FRUs write it, without the blanks around it.
func text(kind byte, data []byte) string { return strings.TrimSpace(decodeText(kind, data)) }

// decodeText decodes a byte of type and length and the data after it, in one of four codes (§43.15). Data that are cut short
// give what there is.
func decodeText(kind byte, data []byte) string {
	data = data[:min(int(kind&0x3f), len(data))]
	var s strings.Builder
	switch kind >> 6 {
	case 0: // binary, or Unicode in records
		if !printable(data) {
			return hex.EncodeToString(data)
		}
		s.Write(data)
	case 1:
		for _, b := range data {
			s.WriteByte(bcdPlus[b&0x0f])
			s.WriteByte(bcdPlus[b>>4])
		}
	case 2: // six bits each, the first in the lowest
		bits, have := uint(0), 0
		for _, b := range data {
			bits |= uint(b) << have
			for have += 8; have >= 6; have -= 6 {
				s.WriteByte(' ' + byte(bits&0x3f))
				bits >>= 6
			}
		}
	case 3: // Latin 1
		for _, b := range data {
			s.WriteRune(rune(b))
		}
	}
	return readable(s.String())
}

// plain is what people can read of a text.
func plain(s string) string { return strings.TrimSpace(readable(s)) }

// readable cuts what fills a field up, and what nobody can read.
func readable(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

func printable(data []byte) bool {
	for _, b := range data {
		if b != 0 && (b < ' ' || b > '~') {
			return false
		}
	}
	return true
}
