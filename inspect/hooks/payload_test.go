package hooks_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/node"
)

// What the hooks make of reports as ramdisks really send them.
func TestRealReports(t *testing.T) {
	dir := os.Getenv("CAGENUT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	for _, c := range []struct {
		file       string
		properties map[string]any
		ports      []string
	}{
		{"01-inspector-continue-request-apiref.json", map[string]any{"cpu_arch": "x86_64", "memory_mb": int64(2048), "cpus": int64(2), "local_gb": int64(12)}, []string{"52:54:00:4e:3d:30 pxe"}},
		{"05-kvm-node-processed-data.json", map[string]any{"cpu_arch": "x86_64", "memory_mb": int64(16384), "cpus": int64(4), "local_gb": int64(49), "capabilities": "boot_mode:bios"}, []string{"02:5e:55:c0:6a:d7 pxe"}},
		{"08-infiniband-ipv6-bmc-prefix.json", map[string]any{"cpu_arch": "x86_64", "memory_mb": int64(12288), "cpus": int64(4), "local_gb": int64(999)}, []string{"11:22:33:44:55:66 pxe"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(dir, "payloads", c.file))
			if os.IsNotExist(err) {
				if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
					t.Fatalf("the real reports are not here, and CAGENUT_REQUIRE_PEERS asks for them: %s", err)
				}
				t.Skipf("the shared folder with real reports is not here (set CAGENUT_SHARED): %s", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid}}, string(body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.properties, f.Properties); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ports, all(f.NewPorts)); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}
