package redfish_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cagenut/bmc/redfish"
	"cagenut/node"
)

// Whoever may enrol a node names the file: a device would be read for ever, and a large one into memory.
func TestOnlyAnOrdinaryFileOfBoundedSizeIsReadForItsCAs(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.pem")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 5<<20); err != nil {
		t.Fatal(err)
	}
	d := redfish.New(redfish.Options{})
	for what, path := range map[string]string{"a device": os.DevNull, "a folder": t.TempDir(), "a large file": large, "nothing": filepath.Join(t.TempDir(), "none")} {
		err := d.Validate(node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": "192.0.2.10", "redfish_verify_ca": path}})
		if !errors.As(err, new(*node.Invalid)) || !strings.Contains(err.Error(), "the path of a file") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
