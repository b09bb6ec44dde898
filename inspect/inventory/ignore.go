package inventory

import (
	"fmt"
	"regexp"
	"strings"
)

var macBeginning = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){0,5}$`)

// ParseMACBeginning reads a MAC, or the first bytes of some, such as 02:00:00:00:00:02 or fa:4b:7f.
func ParseMACBeginning(s string) (string, error) {
	b := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", ":")
	if !macBeginning.MatchString(b) {
		return "", fmt.Errorf("%q is neither a MAC nor the beginning of one, such as 02:00:00:00:00:02 or fa:4b:7f", s)
	}
	return b, nil
}

// Ignore marks the interfaces whose MAC begins like one of the list, as ParseMACBeginning spells them: every server of some
// kind has that MAC, on an interface to its BMC for example, so it neither tells servers apart nor becomes a port (G27).
func (r *Report) Ignore(beginnings []string) {
	for i := range r.Interfaces {
		for _, b := range beginnings {
			if strings.HasPrefix(r.Interfaces[i].MAC, b) {
				r.Interfaces[i].Ignored = true
			}
		}
	}
}
