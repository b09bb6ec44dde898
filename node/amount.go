package node

import (
	"strconv"
	"strings"
)

// Amount is a measured value with its unit, as people read it: "44 °C", where programs are told 44 and "Cel".
func Amount(v float64, unit string) string {
	switch unit {
	case "Cel":
		unit = "°C"
	case "[degF]":
		unit = "°F"
	case "V.A":
		unit = "VA"
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'f', -1, 64) + " " + unit)
}
