package node

import (
	"encoding/json"
	"math"
)

// Int reads a whole number out of a JSON document, whichever of Go's number types it was decoded to.
func Int(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, true
		}
		if f, err := v.Float64(); err == nil {
			return Int(f)
		}
	}
	return 0, false
}

// Text reads a string out of a JSON document; numbers count, in their JSON spelling, because people write numeric
// passwords and ports without quotes (G38).
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Secret:
		return string(v), true
	case json.Number:
		return v.String(), true
	case float64, int, int64:
		b, err := json.Marshal(v)
		return string(b), err == nil
	}
	return "", false
}
