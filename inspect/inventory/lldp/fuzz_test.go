package lldp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"cagenut/inspect/inventory/lldp"
)

// FuzzLLDP: whatever a switch or a ramdisk sends, what comes out is bounded, is text where text is due, and is JSON.
func FuzzLLDP(f *testing.F) {
	samples, err := filepath.Glob("testdata/*.json")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, name := range samples {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return // a report that is no JSON has been refused
		}
		all, notes := lldp.Read(body)
		for _, s := range all {
			if s.Type < 1 || s.Type > 127 || len(s.Value) > 511 {
				t.Errorf("statement of type %d, %d bytes", s.Type, len(s.Value))
			}
		}
		said, more := lldp.Describe(all)
		if len(all)+len(notes) > 600 || len(more) > len(all) {
			t.Errorf("%d statements, %d and %d notes", len(all), len(notes), len(more))
		}
		doc, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc) > 8*len(body)+10_000 {
			t.Errorf("%d bytes became %d", len(body), len(doc))
		}
		for name, v := range said {
			if s, ok := v.(string); ok && !utf8.ValidString(s) {
				t.Errorf("%s is no text: %q", name, s)
			}
		}
		lldp.LinkOf(all)
		lldp.LinkIn(said)
	})
}
