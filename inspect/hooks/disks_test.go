package hooks_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/node"
)

func TestRAIDDevice(t *testing.T) {
	const (
		a = `{"name":"/dev/sda","size":100,"serial":"A"}`
		b = `{"name":"/dev/sdb","size":100,"serial":"B"}`
		r = `{"name":"/dev/sdc","size":500,"serial":"RAID-1"}`
		s = `{"name":"/dev/sdd","size":500,"serial":"RAID-1"}` // the same volume on another path
		n = `{"name":"/dev/sde","size":500,"serial":null}`
	)
	for _, c := range []struct {
		name       string
		properties map[string]any
		previous   string
		disks      string
		want       any
		note       string
	}{
		{"one is new", nil, `{"disks":[` + a + "," + b + `]}`, "[" + r + "]", map[string]any{"serial": "RAID-1"}, ""},
		{"one is new beside the old ones", nil, `{"disks":[` + a + `]}`, "[" + a + "," + r + "," + n + "]", map[string]any{"serial": "RAID-1"}, ""},
		{"one is new, on two paths", nil, `{"disks":[` + a + `]}`, "[" + r + "," + s + "]", map[string]any{"serial": "RAID-1"}, ""},
		{"there was no disk before", nil, `{"disks":null}`, "[" + r + "]", map[string]any{"serial": "RAID-1"}, ""},
		{"two are new", nil, `{"disks":[` + a + `]}`, "[" + b + "," + r + "]", nil, "2 disks are new since the last inspection"},
		{"none is new", nil, `{"disks":[` + a + "," + r + `]}`, "[" + a + "]", nil, "0 disks are new since the last inspection"},
		{"one without a serial number is new", nil, `{"disks":[` + a + `]}`, "[" + a + "," + n + "]", nil, "0 disks are new"},
		{"the first inspection", nil, "", "[" + r + "]", nil, ""},
		{"hints that are there stay", map[string]any{"root_device": map[string]any{"name": "/dev/sda"}}, `{"disks":[` + a + `]}`, "[" + r + "]", map[string]any{"name": "/dev/sda"}, "properties.root_device is there already"},
		{"an earlier inventory that cannot be read", nil, `{"disks":`, "[" + a + "," + b + "]", nil, "2 disks are new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := hooks.Input{Node: node.Node{Properties: c.properties}}
			if c.previous != "" {
				in.Previous = []byte(c.previous)
			}
			f := runHooks(t, "raid-device", hooks.Settings{}, in, report("", nic1, `"disks":`+c.disks))
			if diff := cmp.Diff(c.want, f.Properties["root_device"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			noted(t, f, c.note)
		})
	}
}

// What raid-device found is a hint that root-device heeds in the same run.
func TestRAIDDeviceBeforeRootDevice(t *testing.T) {
	in := hooks.Input{Previous: []byte(`{"disks":[{"name":"/dev/sda","serial":"A"}]}`)}
	f := runHooks(t, "raid-device,root-device", hooks.Settings{}, in,
		report("", nic1, `"disks":[{"name":"/dev/sda","size":10737418240,"serial":"A"},{"name":"/dev/sdb","size":107374182400,"serial":"B"}]`))
	if f.Properties["local_gb"] != int64(99) {
		t.Errorf("local_gb is %v", f.Properties["local_gb"])
	}
}

// A disc in the drive, or the stick that the ramdisk booted from, is nothing to install on.
func TestRemovableDisksAreNoRootDevice(t *testing.T) {
	f := runHooks(t, "default", hooks.Settings{}, hooks.Input{}, report("", nic1,
		`"disks":[{"name":"sr0","path":"/dev/sr0","drive_type":"ODD","size_bytes":8589934592},{"name":"/dev/sdb","removable":true,"size":17179869184},{"name":"vda","path":"/dev/vda","size_bytes":128849018880}]`))
	if f.Properties["local_gb"] != int64(119) {
		t.Errorf("local_gb is %v", f.Properties["local_gb"])
	}
}

func TestExtraHardware(t *testing.T) {
	for _, c := range []struct {
		name, data string
		extra      any
		kept       bool // the list as it was reported
		note       string
	}{
		{"values of several groups", `[["cpu","physical","number","2"],["cpu","physical","flags","fpu vme"],["cpu","logical","number",48],["disk","sda","size","299"]]`,
			map[string]any{"cpu": map[string]any{"physical": map[string]any{"number": 2.0, "flags": "fpu vme"}, "logical": map[string]any{"number": 48.0}}, "disk": map[string]any{"sda": map[string]any{"size": 299.0}}}, false, ""},
		{"numbers only where nothing is lost", `[["a","b","serial","007"],["a","b","plus","+7"],["a","b","under","1_000"],["a","b","float","1.50"],["a","b","blank"," 7"],["a","b","minus","-7"],["a","b","zero","0"],["a","b","long","123456789012345678901234567890"]]`,
			map[string]any{"a": map[string]any{"b": map[string]any{"serial": "007", "plus": "+7", "under": "1_000", "float": "1.50", "blank": " 7", "minus": -7.0, "zero": 0.0, "long": "123456789012345678901234567890"}}}, false, ""},
		{"values of any type", `[["a","b","c",null],["a","b","d",true],["a","b","e",[1]]]`, map[string]any{"a": map[string]any{"b": map[string]any{"c": nil, "d": true, "e": []any{1.0}}}}, false, ""},
		{"the last of two counts", `[["a","b","c","x"],["a","b","c","y"]]`, map[string]any{"a": map[string]any{"b": map[string]any{"c": "y"}}}, false, ""},
		{"odd ones among good ones", `[["a","b","c","x"],["a","b","c"],["a","b","c","d","e"],[],7,null,[null,"b","c","d"],["a",[],"c","d"]]`, map[string]any{"a": map[string]any{"b": map[string]any{"c": "x"}}}, false, "extra hardware value 1 was left out"},
		{"an empty list", `[]`, map[string]any{}, false, ""},
		{"no list", `{"a":1}`, nil, true, "are no list: they stay as they were reported"},
		{"null", `null`, nil, true, "no extra hardware data were reported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := runHooks(t, "extra-hardware", hooks.Settings{}, hooks.Input{}, report(`"data":`+c.data, nic1, ""))
			plugin := pluginData(t, f)
			if diff := cmp.Diff(c.extra, plugin["extra"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, kept := plugin["data"]; kept != c.kept {
				t.Errorf("the list was kept: %v", kept)
			}
			noted(t, f, c.note)
		})
	}
}
