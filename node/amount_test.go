package node_test

import (
	"testing"

	"cagenut/node"
)

func TestAmountsAreWrittenForPeople(t *testing.T) {
	for want, got := range map[string]string{
		"44 °C": node.Amount(44, "Cel"), "111.2 °F": node.Amount(111.2, "[degF]"), "11.25 V": node.Amount(11.25, "V"), "8000 RPM": node.Amount(8000, "RPM"), "3": node.Amount(3, ""),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
