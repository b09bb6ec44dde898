package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// How much of a report is read. Sixteen MiB of small values would otherwise become gigabytes of maps.
const (
	maxInterfaces = 64
	maxDisks      = 256
	maxFlags      = 1024
	maxMembers    = 1024
)

var (
	errTooMany  = errors.New("is too long")
	errNotThese = errors.New("is of another type")
)

// elements splits a valid JSON array. Of one with more than max elements it returns the first max, and errTooMany.
func elements(v json.RawMessage, max int) ([]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(v))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, errNotThese
	}
	var out []json.RawMessage
	for d.More() {
		if len(out) == max {
			return out, fmt.Errorf("a list of more than %d elements %w", max, errTooMany)
		}
		var e json.RawMessage
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// members splits a valid JSON object; of several members with one name the last counts.
func members(v json.RawMessage) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(v))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotThese
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		if len(out) == maxMembers {
			return nil, fmt.Errorf("an object of more than %d members %w", maxMembers, errTooMany)
		}
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var e json.RawMessage
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		out[name.(string)] = e
	}
	return out, nil
}
