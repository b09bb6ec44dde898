package inventory

import (
	"bytes"
	"encoding/json"
)

// WithoutLogs is a report that was accepted without its `logs`, and these: base64, empty where there are none. The rest is
// the body itself where there is nothing to take out; else it is a copy, and the logs alone are a part of the body.
func WithoutLogs(body []byte) (rest, logs []byte) {
	inside, ok := within(body, '{')
	if !ok {
		return body, nil
	}
	size, found := 0, false
	eachMember(inside, func(name, value []byte, isLogs bool) {
		if isLogs {
			logs, found = textBytes(value), true
			return
		}
		size += len(name) + len(value) + 2
	})
	if !found {
		return body, nil
	}
	out := append(make([]byte, 0, size+2), '{')
	eachMember(inside, func(name, value []byte, isLogs bool) {
		if isLogs {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	})
	return append(out, '}'), logs
}

// eachMember visits the members of an object, given its inside.
func eachMember(inside []byte, visit func(name, value []byte, isLogs bool)) {
	for len(inside) > 0 {
		var name, value []byte
		name, inside = cut(inside)
		value, inside = cut(inside)
		key, _ := Text(name)
		visit(name, value, key == "logs")
	}
}

// textBytes is the text that a JSON value is, nil for none. Base64 has nothing to be escaped but what nobody escapes, so it
// is usually not copied.
func textBytes(v json.RawMessage) []byte {
	if len(v) > 1 && v[0] == '"' && bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	if s, ok := Text(v); ok {
		return []byte(s)
	}
	return nil
}
