package inventory_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory"
)

// machine is the output of lshw for one with the given parts on its board.
func machine(parts string) string {
	return fmt.Sprintf(`{"id":"m1","class":"system","vendor":"Example Corp","product":"EdgeBox 100","serial":"EB100-0007","children":[{"id":"core","class":"bus","children":[%s]}]}`, parts)
}

func TestLSHWTellsWhatTheInventoryDoesNot(t *testing.T) {
	const (
		gib   = 1 << 30
		array = `{"id":"memory","class":"memory","units":"bytes","size":8589934592}`
	)
	all := inventory.System{Manufacturer: "Example Corp", ProductName: "EdgeBox 100", SerialNumber: "EB100-0007"}
	bank := func(n int, size int64) string {
		return fmt.Sprintf(`{"id":"bank:%d","class":"memory","units":"bytes","size":%d}`, n, size)
	}
	for _, c := range []struct {
		name, lshw, inventory string
		memoryMB              int64
		system                inventory.System
	}{
		{"the size of the array", machine(array), "", 8192, all},
		{"as a list of one, as newer versions print it", "[" + machine(array) + "]", "", 8192, all},
		{"two arrays of which only the banks have a size", machine(`{"id":"memory:0","children":[` + bank(0, 4*gib) + `,{"id":"bank:1"},` + bank(2, 4*gib) + `]},{"id":"memory:1","children":[` + bank(0, 8*gib) + `]}`), "", 16384, all},
		{"an array with a size and with banks counts once", machine(`{"id":"memory:0","size":8589934592,"children":[` + bank(0, 8*gib) + `]}`), "", 8192, all},
		{"caches and the firmware's chip are no main memory", machine(array + `,{"id":"firmware","class":"memory","size":65536},{"id":"cache:0","class":"memory","size":1048576}`), "", 8192, all},
		{"what the inventory tells goes first", machine(array), `"memory":{"physical_mb":4096},"system_vendor":{"product_name":"KVM"}`, 4096, inventory.System{Manufacturer: "Example Corp", ProductName: "KVM", SerialNumber: "EB100-0007"}},
		{"placeholders are nothing (G52)", `{"vendor":"Not Specified","product":"System Product Name","serial":"0"}`, "", 0, inventory.System{}},
		{"a machine of no parts", machine(""), "", 0, all},
		{"sizes that cannot be", machine(`{"id":"memory:0","size":1e300},{"id":"memory:1","size":-5},{"id":"memory:2","size":9223372036854775807}`), "", 0, all},
		{"odd types", `{"vendor":[],"children":[7,{"id":"core","children":{"id":"memory"}}]}`, "", 0, inventory.System{}},
		{"no machine", `7`, "", 0, inventory.System{}},
		{"null", `null`, "", 0, inventory.System{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, `"lshw":`+c.lshw, c.inventory)
			if r.Memory.PhysicalMB != c.memoryMB {
				t.Errorf("memory: got %d MB, want %d", r.Memory.PhysicalMB, c.memoryMB)
			}
			if diff := cmp.Diff(c.system, r.System); diff != "" {
				t.Errorf("system (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOurOwnSampleOfLSHW(t *testing.T) {
	body, err := os.ReadFile("testdata/lshw.json")
	if err != nil {
		t.Fatal(err)
	}
	r := parse(t, `"lshw":`+string(body), "")
	if r.Memory.PhysicalMB != 98304 || r.System.ProductName != "RackBox 2U" || len(r.Notes) != 0 {
		t.Errorf("%d MB, %+v, notes %q", r.Memory.PhysicalMB, r.System, r.Notes)
	}
}

// What the ramdisk itself reads of its machine.
func TestRealOutputsOfLSHW(t *testing.T) {
	variants, err := inventory.Members(shared(t, "11-lshw-json-variants.json"))
	if err != nil {
		t.Fatal(err)
	}
	abcd := inventory.System{Manufacturer: "ABCD", ProductName: "ABCD", SerialNumber: "SYN30A"}
	for name, want := range map[string]struct {
		memoryMB int64
		system   inventory.System
	}{
		"lshw_json_output_v2":                  {65536, abcd},
		"lshw_json_output_no_memory_bank_size": {65536, abcd},
		"lshw_json_output_arm64":               {3952, inventory.System{}},
	} {
		t.Run(name, func(t *testing.T) {
			if variants[name] == nil {
				t.Fatal("it is not in the file")
			}
			for _, lshw := range []string{string(variants[name]), "[" + string(variants[name]) + "]"} {
				r := parse(t, `"lshw":`+lshw, "")
				if r.Memory.PhysicalMB != want.memoryMB || r.System != want.system || len(r.Notes) != 0 {
					t.Errorf("%d MB, %+v, notes %q", r.Memory.PhysicalMB, r.System, r.Notes)
				}
			}
		})
	}
}

// Agents that install clusters count in bytes, list addresses, and name disks both ways.
func TestTheInventoryOfAClustersAgent(t *testing.T) {
	r := parse(t, "", `"cpu":{"frequency":2095.104,"count":4},"memory":{"physical_bytes":17179869184,"usable_bytes":16000000000},
		"disks":[{"name":"sr0","path":"/dev/sr0","drive_type":"ODD","removable":true,"size_bytes":1035993088},{"name":"vda","path":"/dev/vda","drive_type":"HDD","size_bytes":128849018880}]`)
	if r.Memory != (inventory.Memory{PhysicalMB: 16384, Total: 16000000000}) || r.CPU.Frequency != "2095.104" {
		t.Errorf("memory %+v, CPU %+v", r.Memory, r.CPU)
	}
	if len(r.Disks) != 2 || !r.Disks[0].Removable || r.Disks[1].Removable || r.Disks[1].Name != "/dev/vda" || r.Disks[1].Size != 128849018880 {
		t.Errorf("disks %+v", r.Disks)
	}
	if diff := cmp.Diff([]string{"vda", "/dev/vda"}, r.Disks[1].Texts("name")); diff != "" {
		t.Errorf("the names that a hint may say (-want +got):\n%s", diff)
	}
	nics, err := inventory.Parse([]byte(`{"inventory":{"interfaces":[
		{"name":"ens3","mac_address":"02:00:5e:00:00:01","ipv4_addresses":["192.0.2.11/24","192.0.2.12/24"],"ipv6_addresses":["2001:db8::1/64"]},
		{"name":"ens4","mac_address":"02:00:5e:00:00:02","ipv4_addresses":[],"ipv6_addresses":"none"},
		{"name":"ens5","mac_address":"02:00:5e:00:00:03","ipv4_addresses":[7,null,{}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range nics.Interfaces {
		got = append(got, i.IPv4+" "+i.IPv6)
	}
	if diff := cmp.Diff([]string{"192.0.2.11 2001:db8::1", " ", " "}, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if !strings.Contains(strings.Join(nics.Notes, "\n"), `inventory.interfaces[1].ipv6_addresses is not a list but "none"; ignored`) {
		t.Errorf("notes %q", nics.Notes)
	}
}

func TestPCIDevices(t *testing.T) {
	device := func(vendor, product, bus string) inventory.PCIDevice {
		return inventory.PCIDevice{VendorID: vendor, ProductID: product, Bus: bus}
	}
	for _, c := range []struct {
		name, top, inventory string
		want                 []inventory.PCIDevice
		known                bool
		note                 string
	}{
		{"as a ramdisk reports them", `"pci_devices":[{"vendor_id":"8086","product_id":"1563","bus":"0000:3b:00.0"},{"vendor_id":"10DE","product_id":"0x1EB8","bus":null}]`, "",
			[]inventory.PCIDevice{device("8086", "1563", "0000:3b:00.0"), device("10de", "1eb8", "")}, true, ""},
		{"as a BMC tells them", "", `"pci_devices":[{"vendor_id":"0x8086","product_id":"0x1563"}]`, []inventory.PCIDevice{device("8086", "1563", "")}, true, ""},
		{"the ramdisk's go first", `"pci_devices":[]`, `"pci_devices":[{"vendor_id":"8086","product_id":"1563"}]`, nil, true, ""},
		{"an odd one among good ones", `"pci_devices":[{"vendor_id":"8086","product_id":"1563"},7,{"vendor_id":"xyz","product_id":"1563"},{"vendor_id":{}}]`, "", []inventory.PCIDevice{device("8086", "1563", "")}, true, "pci_devices[1] is not an object"},
		{"no list", `"pci_devices":{}`, "", nil, true, "report.pci_devices is not a list"},
		{"null", `"pci_devices":null`, "", nil, false, ""},
		{"none", "", "", nil, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, known, notes := parse(t, c.top, c.inventory).PCIDevices()
			if diff := cmp.Diff(c.want, got); diff != "" || known != c.known {
				t.Errorf("known %v (-want +got):\n%s", known, diff)
			}
			if !strings.Contains(strings.Join(notes, "\n"), c.note) || c.note == "" && notes != nil {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
		})
	}
}
