package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// document is a JSON object as a column keeps it.
func document(doc map[string]any) (string, error) {
	if doc == nil {
		return "{}", nil
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("encode a document: %w", err)
	}
	return string(b), nil
}

// decodeDocument keeps numbers as they were written: 2^64-1 survives.
func decodeDocument(s string) (map[string]any, error) {
	doc := map[string]any{}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("decode a document: %w", err)
	}
	return doc, nil
}

func decodeValue(b []byte) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode a value: %w", err)
	}
	return v, nil
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(m int64) time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMicro(m).UTC()
}
