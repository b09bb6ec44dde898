package inventory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory"
)

// shared is the folder of real reports beside the repository.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("CAGENUT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", name))
	if os.IsNotExist(err) {
		if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
			t.Fatalf("the real reports are not here, and CAGENUT_REQUIRE_PEERS asks for them: %s", err)
		}
		t.Skipf("the shared folder with real reports is not here (set CAGENUT_SHARED): %s", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestReportsAsRamdisksAndServicesReallySendThem(t *testing.T) {
	for _, c := range []struct {
		file      string
		pxe       string
		keys      inventory.Keys
		disks     int
		memoryMB  int64
		cpus      int64
		rootBytes int64
		notes     []string
	}{
		{"01-inspector-continue-request-apiref.json", "52:54:00:4e:3d:30",
			inventory.Keys{MACs: []string{"52:54:00:47:20:4d", "52:54:00:4e:3d:30"}, BMCAddresses: []string{"198.51.100.2"}}, 1, 2048, 2, 13958643712, nil},
		{"02-inspector-processed-data-apiref.json", "52:54:00:4e:3d:30",
			inventory.Keys{MACs: []string{"52:54:00:47:20:4d", "52:54:00:4e:3d:30"}, BMCAddresses: []string{"198.51.100.2"}}, 1, 2048, 2, 13958643712, nil},
		{"04-inspector-processed-data-with-lldp.json", "52:54:00:4e:3d:30",
			inventory.Keys{MACs: []string{"52:54:00:47:20:4d", "52:54:00:4e:3d:30"}, BMCAddresses: []string{"198.51.100.2"}}, 1, 2048, 2, 13958643712, nil},
		{"05-kvm-node-processed-data.json", "02:5e:55:c0:6a:d7",
			inventory.Keys{MACs: []string{"02:5e:55:c0:6a:d7", "02:5e:55:68:4e:d9"}}, 1, 16384, 4, 53687091200, nil},
		{"06-hci-node-ipv6-zones-numa.json", "02:5e:37:2c:34:30",
			inventory.Keys{MACs: []string{"02:5e:37:2c:34:30", "02:5e:37:02:38:eb"}}, 5, 256000, 2, 0, nil},
		// InfiniBand beside Ethernet, and a BMC address with a prefix length (G12, G14).
		{"08-infiniband-ipv6-bmc-prefix.json", "11:22:33:44:55:66",
			inventory.Keys{MACs: []string{"11:22:33:44:55:66", "12:12:21:12:21:12", "66:55:44:33:22:11", "02:5e:90:29:26:52"},
				BMCAddresses: []string{"192.0.2.200", "2001:db8:1234:1234:1234:1234:1234:1234"}}, 2, 12288, 4, 1073741824000, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			r, err := inventory.Parse(shared(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if r.Boot.PXEMAC != c.pxe {
				t.Errorf("boot MAC: got %q, want %q", r.Boot.PXEMAC, c.pxe)
			}
			if diff := cmp.Diff(c.keys, r.Keys()); diff != "" {
				t.Errorf("lookup keys (-want +got):\n%s", diff)
			}
			if len(r.Disks) != c.disks || r.Memory.PhysicalMB != c.memoryMB || r.CPU.Count != c.cpus {
				t.Errorf("%d disks, %d MB, %d CPUs", len(r.Disks), r.Memory.PhysicalMB, r.CPU.Count)
			}
			if c.rootBytes != 0 && (r.RootDisk == nil || r.RootDisk.Size != c.rootBytes) {
				t.Errorf("root disk: got %+v, want %d bytes", r.RootDisk, c.rootBytes)
			}
			if diff := cmp.Diff(c.notes, r.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if _, ok := r.PluginData["logs"]; ok {
				t.Error("logs are among the plugin data")
			}
		})
	}
}
