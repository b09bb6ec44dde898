package difference_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/difference"
	"cagenut/node"
)

const machine = `{
	"interfaces":[
		{"name":"eno1","mac_address":"52:54:00:AA:00:01","ipv4_address":"192.0.2.7","has_carrier":true,"speed_mbps":10000},
		{"name":"eno2","mac_address":"52:54:00:aa:00:02","ipv4_address":null,"has_carrier":false}],
	"cpu":{"model_name":"Example CPU","frequency":"3300.0","count":24,"architecture":"x86_64","socket_count":1},
	"disks":[
		{"name":"/dev/sda","model":"EXAMPLE 960","size":960197124096,"rotational":false,"serial":"S0EXAMPLE1"},
		{"name":"/dev/sdb","model":"EXAMPLE 960","size":960197124096,"rotational":false,"serial":"S0EXAMPLE2"}],
	"memory":{"total":134917259264,"physical_mb":131072},
	"bmc_address":"192.0.2.10","bmc_v6address":"::/0",
	"system_vendor":{"product_name":"EdgeBox 100","serial_number":"EB100-0001","manufacturer":"Example Corp","firmware":{"version":"1.2.3"}},
	"boot":{"current_boot_mode":"uefi"}}`

const plugins = `{
	"pci_devices":[{"vendor_id":"8086","product_id":"1563","class":"020000","revision":"01","bus":"0000:3b:00.0"}],
	"parsed_lldp":{"eno1":{"switch_system_name":"sw01","switch_port_id":"74"}},
	"extra":{"memory":{"bank:0":{"size":"64 GiB","serial":"M1"}},"system":{"motherboard":{"serial":"B1"},"product":{"uuid":"9C0E"}}}}`

func TestBetween(t *testing.T) {
	type swap [2]string // in both documents
	for _, c := range []struct {
		name     string
		swap     []swap
		parts    []node.PartChange
		identity []string
	}{
		{name: "the same machine has no difference"},
		{name: "what changes by itself is none", swap: []swap{{`"ipv4_address":"192.0.2.7"`, `"ipv4_address":"192.0.2.99"`}, {"3300.0", "1200.0"}, {"134917259264", "134917255168"}, {"52:54:00:AA", "52:54:00:aa"}}},
		{name: "a disk that is called otherwise is the same disk", swap: []swap{{"/dev/sda", "/dev/sdz"}, {"/dev/sdb", "/dev/sda"}}},
		{name: "a disk was replaced", swap: []swap{{"S0EXAMPLE2", "S0EXAMPLE3"}}, parts: []node.PartChange{
			{Kind: "disk", Name: "S0EXAMPLE2", Change: node.PartRemoved, Fields: []node.FieldChange{field("bytes", "960197124096", ""), field("model", "EXAMPLE 960", ""), field("rotating", "no", "")}},
			{Kind: "disk", Name: "S0EXAMPLE3", Change: node.PartAdded, Fields: []node.FieldChange{field("bytes", "", "960197124096"), field("model", "", "EXAMPLE 960"), field("rotating", "", "no")}},
		}},
		{name: "memory went", swap: []swap{{"131072", "65536"}, {`"bank:0":{"size":"64 GiB","serial":"M1"}`, `"bank:0":{"size":"32 GiB","serial":"M2"}`}}, parts: []node.PartChange{
			{Kind: "memory", Change: node.PartChanged, Fields: []node.FieldChange{field("size in MiB", "131072", "65536")}},
			{Kind: "memory module", Name: "bank:0", Change: node.PartChanged, Fields: []node.FieldChange{field("serial", "M1", "M2"), field("size", "64 GiB", "32 GiB")}},
		}},
		{name: "a cable was moved", swap: []swap{{`"has_carrier":false`, `"has_carrier":true`}, {`"switch_port_id":"74"`, `"switch_port_id":"75"`}}, parts: []node.PartChange{
			{Kind: "network interface", Name: "52:54:00:aa:00:01", Change: node.PartChanged, Fields: []node.FieldChange{field("switch port", "74", "75")}},
			{Kind: "network interface", Name: "52:54:00:aa:00:02", Change: node.PartChanged, Fields: []node.FieldChange{field("link", "no", "yes")}},
		}},
		{name: "a card came, and the BMC has another address", swap: []swap{{`"pci_devices":[`, `"pci_devices":[{"vendor_id":"10de","product_id":"20B5","bus":"0000:ca:00.0"},`}, {"192.0.2.10", "192.0.2.11"}}, parts: []node.PartChange{
			{Kind: "PCI device", Name: "0000:ca:00.0", Change: node.PartAdded, Fields: []node.FieldChange{field("device", "", "10de:20b5")}},
			{Kind: "BMC", Change: node.PartChanged, Fields: []node.FieldChange{field("IPv4 address", "192.0.2.10", "192.0.2.11")}},
		}},
		{name: "firmware was updated", swap: []swap{{"1.2.3", "1.3.0"}, {`"uefi"`, `"bios"`}}, parts: []node.PartChange{
			{Kind: "system", Change: node.PartChanged, Fields: []node.FieldChange{field("boot mode", "uefi", "bios"), field("firmware", "1.2.3", "1.3.0")}},
		}},
		{name: "it is another machine", swap: []swap{{"EB100-0001", "EB100-0002"}, {`"serial":"B1"`, `"serial":"B2"`}, {"9C0E", "9C0F"}},
			identity: []string{`The system UUID was "9C0E" and is "9C0F" now.`, `The serial number was "EB100-0001" and is "EB100-0002" now.`, `The board serial number was "B1" and is "B2" now.`},
			parts: []node.PartChange{{Kind: "system", Change: node.PartChanged, Fields: []node.FieldChange{
				field("board serial number", "B1", "B2"), field("serial number", "EB100-0001", "EB100-0002"), field("system UUID", "9C0E", "9C0F")}}}},
		{name: "a serial number that is a placeholder now tells of no other machine (G52)", swap: []swap{{"EB100-0001", "To Be Filled By O.E.M."}},
			parts: []node.PartChange{{Kind: "system", Change: node.PartChanged, Fields: []node.FieldChange{field("serial number", "EB100-0001", "")}}}},
		{name: "what a report has no section for is not gone", swap: []swap{{`"pci_devices":[`, `"other_devices":[`}, {`"parsed_lldp"`, `"other"`}, {`"memory":{"bank:0"`, `"remembered":{"bank:0"`}, {`"memory":{"total"`, `"remembered":{"total"`}}},
		{name: "an empty section says that there are none", swap: []swap{{`[{"vendor_id":"8086","product_id":"1563","class":"020000","revision":"01","bus":"0000:3b:00.0"}]`, `[]`}}, parts: []node.PartChange{
			{Kind: "PCI device", Name: "0000:3b:00.0", Change: node.PartRemoved, Fields: []node.FieldChange{field("class", "020000", ""), field("device", "8086:1563", ""), field("revision", "01", "")}}}},
		{name: "odd types count as not told", swap: []swap{{`"count":24`, `"count":[24]`}}, parts: []node.PartChange{
			{Kind: "processors", Change: node.PartChanged, Fields: []node.FieldChange{field("logical processors", "24", "")}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			before := node.Inventory{NodeUUID: "n", AttemptID: "a", Inventory: []byte(machine), PluginData: []byte(plugins), CreatedAt: at}
			after := node.Inventory{NodeUUID: "n", AttemptID: "b", Inventory: []byte(machine), PluginData: []byte(plugins), CreatedAt: at.Add(time.Hour)}
			for _, s := range c.swap {
				changed := []byte(strings.ReplaceAll(string(after.Inventory), s[0], s[1]))
				other := []byte(strings.ReplaceAll(string(after.PluginData), s[0], s[1]))
				if string(changed) == string(after.Inventory) && string(other) == string(after.PluginData) {
					t.Fatalf("%q is in neither document", s[0])
				}
				after.Inventory, after.PluginData = changed, other
			}
			got, err := difference.Comparer{}.Between(before, after)
			if err != nil {
				t.Fatal(err)
			}
			want := node.Difference{NodeUUID: "n", From: node.Inspected{AttemptID: "a", At: at}, To: node.Inspected{AttemptID: "b", At: at.Add(time.Hour)},
				Identity: append([]string{}, c.identity...), Parts: append([]node.PartChange{}, c.parts...)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a server reported may be millions of values beside those that are compared: they cost nothing but their bytes.
func TestWhatIsNotComparedIsNotDecoded(t *testing.T) {
	junk := []byte(`{"junk":[` + strings.Repeat("1,", 1<<20) + `1],"extra":{"junk":{` + strings.Repeat(`"a":{},`, 1<<18) + `"b":[]}},"pci_devices":[` + strings.Repeat(`{},`, 1<<18) + `{}]}`)
	i := node.Inventory{Inventory: []byte(machine), PluginData: junk}
	allocated := testing.AllocsPerRun(1, func() {
		if d, err := (difference.Comparer{}).Between(i, i); err != nil || len(d.Parts) != 0 {
			t.Errorf("%+v, %v", d, err)
		}
	})
	if allocated > 20_000 {
		t.Errorf("%.0f allocations", allocated)
	}
}

func field(name, before, after string) node.FieldChange {
	return node.FieldChange{Name: name, Before: before, After: after}
}

func FuzzBetween(f *testing.F) {
	f.Add([]byte(machine), []byte(plugins))
	f.Add([]byte(`null`), []byte(``))
	f.Add([]byte(`{"disks":[1,{"serial":{}}],"interfaces":{}}`), []byte(`{"extra":{"memory":{"bank":[]}}}`))
	f.Fuzz(func(t *testing.T, inventory, plugins []byte) {
		one := node.Inventory{Inventory: []byte(machine), PluginData: []byte(plugins)}
		other := node.Inventory{Inventory: inventory, PluginData: plugins}
		if _, err := (difference.Comparer{}).Between(one, other); err != nil {
			return
		}
		same, err := difference.Comparer{}.Between(other, other)
		if err != nil || len(same.Parts) != 0 || len(same.Identity) != 0 {
			t.Errorf("a machine differs from itself: %+v, %v", same, err)
		}
	})
}
