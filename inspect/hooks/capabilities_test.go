package hooks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/node"
)

func TestCPUCapabilities(t *testing.T) {
	for _, c := range []struct {
		name  string
		old   any
		flags string
		want  any
		note  string
	}{
		{"all of Intel's", nil, `["fpu","vmx","aes","pse","pdpe1gb","smx"]`, "cpu_vt:true,cpu_aes:true,cpu_hugepages:true,cpu_hugepages_1g:true,cpu_txt:true", ""},
		{"AMD's virtualization", nil, `["svm"]`, "cpu_vt:true", ""},
		{"others stay where they are", "boot_mode:uefi,cpu_aes:false,x:1", `["aes","svm"]`, "boot_mode:uefi,cpu_aes:true,x:1,cpu_vt:true", ""},
		{"what was switched off in the firmware goes", "cpu_vt:true,boot_mode:uefi", `["aes"]`, "boot_mode:uefi,cpu_aes:true", ""},
		{"flags that tell nothing", "boot_mode:uefi", `["fpu","pse36","aesx"]`, "boot_mode:uefi", ""},
		{"flags that tell nothing, and no capabilities", nil, `["fpu"]`, nil, ""},
		{"no flags", "cpu_vt:true", `[]`, "cpu_vt:true", "no CPU flags were reported"},
		{"flags are null", "cpu_vt:true", `null`, "cpu_vt:true", "no CPU flags were reported"},
		{"flags are a text", "cpu_vt:true", `"vmx"`, "cpu_vt:true", "inventory.cpu.flags is not a list"},
		{"odd flags among good ones", nil, `[7,null,{"vmx":1},"vmx"]`, "cpu_vt:true", ""},
		{"capabilities that are no text", []any{"x"}, `["vmx"]`, []any{"x"}, "properties.capabilities is no text: cpu-capabilities set none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := hooks.Input{Node: node.Node{Properties: map[string]any{"capabilities": c.old}}}
			f := runHooks(t, "cpu-capabilities", hooks.Settings{}, in, report("", nic1, `"cpu":{"flags":`+c.flags+`}`))
			if diff := cmp.Diff(c.want, f.Properties["capabilities"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			noted(t, f, c.note)
			if diff := cmp.Diff(c.old, in.Node.Properties["capabilities"]); diff != "" {
				t.Errorf("what was handed in was changed:\n%s", diff)
			}
		})
	}
}

func TestPCIDevices(t *testing.T) {
	devices := func(ids ...string) string {
		var list []string
		for i, id := range ids {
			vendor, product, _ := strings.Cut(id, ":")
			list = append(list, fmt.Sprintf(`{"vendor_id":%q,"product_id":%q,"class":"030200","bus":"0000:%02x:00.0"}`, vendor, product, i))
		}
		return `"pci_devices":[` + strings.Join(list, ",") + `]`
	}
	var aliases []hooks.PCIAlias
	for _, s := range []string{"gpu=10de:1eb8", "gpu=10DE:0x2236", "fpga=1172:1234"} {
		a, err := hooks.ParsePCIAlias(s)
		if err != nil {
			t.Fatal(err)
		}
		aliases = append(aliases, a)
	}
	for _, c := range []struct {
		name    string
		old     any
		top     string
		aliases []hooks.PCIAlias
		want    any
		note    string
	}{
		{"two of one kind, one of another under the same name, one unknown", nil, devices("10de:1eb8", "10DE:1EB8", "10de:2236", "8086:1563"), aliases, "gpu:3", ""},
		{"others stay", "boot_mode:uefi,gpu:1", devices("10de:1eb8", "10de:1eb8", "1172:1234"), aliases, "boot_mode:uefi,gpu:2,fpga:1", ""},
		{"a card that was taken out", "gpu:2,boot_mode:uefi", devices("8086:1563"), aliases, "boot_mode:uefi", ""},
		{"no devices at all", "gpu:2", `"pci_devices":[]`, aliases, "", ""},
		{"nothing reported", "gpu:2", "", aliases, "gpu:2", "no PCI devices were reported"},
		{"null", "gpu:2", `"pci_devices":null`, aliases, "gpu:2", "no PCI devices were reported"},
		{"no aliases", "gpu:2", devices("10de:1eb8"), nil, "gpu:2", ""},
		{"odd ones among good ones", nil, `"pci_devices":[7,{"vendor_id":"10de"},{"vendor_id":"10de","product_id":"1eb8"}]`, aliases, "gpu:1", "pci_devices[0] is not an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := hooks.Input{Node: node.Node{Properties: map[string]any{"capabilities": c.old}}}
			f := runHooks(t, "pci-devices", hooks.Settings{PCIAliases: c.aliases}, in, report(c.top, nic1, ""))
			if diff := cmp.Diff(c.want, f.Properties["capabilities"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			noted(t, f, c.note)
		})
	}
}

func TestPCIAliasesThatAreNone(t *testing.T) {
	for _, s := range []string{"", "gpu", "gpu=", "gpu=10de", "gpu=10de:", "=10de:1eb8", "gpu=10de:1eb8:0", "gpu=10d:1eb8", "g,pu=10de:1eb8", "g:pu=10de:1eb8", "gpu=10dx:1eb8", `{"name":"gpu"}`} {
		if a, err := hooks.ParsePCIAlias(s); err == nil || !strings.Contains(err.Error(), "name=vendor:product") {
			t.Errorf("%q became %+v, %v", s, a, err)
		}
	}
}

func TestAccelerators(t *testing.T) {
	own := []hooks.Accelerator{{VendorID: "1172", DeviceID: "1234", Type: "FPGA", Info: "Example FPGA"}}
	t4 := func(bus string) any {
		return map[string]any{"vendor_id": "10de", "device_id": "1eb8", "type": "GPU", "device_info": "NVIDIA Tesla T4", "pci_address": bus}
	}
	for _, c := range []struct {
		name, top string
		known     []hooks.Accelerator
		want      any
		note      string
	}{
		{"two that everybody knows", `"pci_devices":[{"vendor_id":"10de","product_id":"1eb8","bus":"0000:3b:00.0"},{"vendor_id":"8086","product_id":"1563"},{"vendor_id":"10DE","product_id":"1EB8","bus":"0000:5e:00.0"}]`, nil,
			[]any{t4("0000:3b:00.0"), t4("0000:5e:00.0")}, ""},
		{"one of one's own list, which replaces the other", `"pci_devices":[{"vendor_id":"10de","product_id":"1eb8"},{"vendor_id":"1172","product_id":"1234","bus":"0000:01:00.0"}]`, own,
			[]any{map[string]any{"vendor_id": "1172", "device_id": "1234", "type": "FPGA", "device_info": "Example FPGA", "pci_address": "0000:01:00.0"}}, ""},
		{"none of the reported", `"pci_devices":[{"vendor_id":"8086","product_id":"1563"}]`, nil, []any{}, ""},
		{"nothing reported: they stay", "", nil, "as before", "no PCI devices were reported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := hooks.Input{Node: node.Node{Properties: map[string]any{"accelerators": "as before"}}}
			f := runHooks(t, "accelerators", hooks.Settings{Accelerators: c.known}, in, report(c.top, nic1, ""))
			if diff := cmp.Diff(c.want, f.Properties["accelerators"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			noted(t, f, c.note)
		})
	}
}

func TestTheKnownAcceleratorsAreSpeltAsIdsAreCompared(t *testing.T) {
	for _, a := range hooks.KnownAccelerators() {
		if len(a.VendorID) != 4 || len(a.DeviceID) != 4 || strings.ToLower(a.VendorID+a.DeviceID) != a.VendorID+a.DeviceID || a.Type == "" || a.Info == "" {
			t.Errorf("%+v", a)
		}
	}
}
