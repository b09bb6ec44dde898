package hooks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cagenut/inspect/hooks"
	"cagenut/node"
)

const threeDisks = `"disks":[
	{"name":"/dev/sda","model":"Big Data Disk","vendor":"ACME","size":1073741824000,"rotational":true,"serial":"S1","wwn":"0x5000c5001","hctl":"1:0:0:0","by_path":"/dev/disk/by-path/pci-0"},
	{"name":"/dev/sdb","model":"Small OS SSD","vendor":"Other","size":21474836480,"rotational":false,"serial":["S2","S2b",null],"wwn":null,"hctl":"1:0:1:0"},
	{"name":"/dev/sdc","model":"Medium SSD","size":107374182400,"rotational":false,"serial":null}]`

// hinted is the disk that the hints lead to, "" for none.
func hinted(t *testing.T, hints string) (string, error) {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(hints), &doc); err != nil {
		t.Fatal(err)
	}
	f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid, Properties: map[string]any{"root_device": doc}}}, report("", nic1, threeDisks))
	if err != nil {
		return "", err
	}
	var plugin struct {
		RootDisk struct{ Name string } `json:"root_disk"`
	}
	if err := json.Unmarshal(f.PluginData, &plugin); err != nil {
		t.Fatal(err)
	}
	return plugin.RootDisk.Name, nil
}

func TestRootDeviceHints(t *testing.T) {
	for _, c := range []struct{ hints, want string }{
		{`{"name":"/dev/sdb"}`, "/dev/sdb"},
		{`{"name":"s== /dev/sdb"}`, "/dev/sdb"},
		{`{"model":"small os ssd"}`, "/dev/sdb"},
		{`{"model":"<in> SSD"}`, "/dev/sdb"},
		{`{"model":"<in> medium"}`, "/dev/sdc"},
		{`{"model":"<all-in> ssd <all-in> med"}`, "/dev/sdc"},
		{`{"model":"<or> nothing <or> Medium SSD"}`, "/dev/sdc"},
		{`{"vendor":"s!= ACME"}`, "/dev/sdb"},
		{`{"name":"s> /dev/sda"}`, "/dev/sdb"},
		{`{"name":"s>= /dev/sdc"}`, "/dev/sdc"},
		{`{"name":"s< /dev/sdb"}`, "/dev/sda"},
		{`{"name":"s<= /dev/sda"}`, "/dev/sda"},
		{`{"serial":"S2b"}`, "/dev/sdb"},
		{`{"wwn":"0x5000C5001"}`, "/dev/sda"},
		{`{"hctl":"1:0:1:0"}`, "/dev/sdb"},
		{`{"by_path":"/dev/disk/by-path/pci-0"}`, "/dev/sda"},
		{`{"size":1000}`, "/dev/sda"},
		{`{"size":"100"}`, "/dev/sdc"},
		{`{"size":"== 20"}`, "/dev/sdb"},
		{`{"size":"!= 1000"}`, "/dev/sdb"},
		{`{"size":"<= 100"}`, "/dev/sdb"},
		{`{"size":">= 100"}`, "/dev/sda"},
		{`{"size":"< 100"}`, "/dev/sdb"},
		{`{"size":"> 100"}`, "/dev/sda"},
		{`{"size":"= 100"}`, "/dev/sda"},
		{`{"size":"<or> 100 <or> 20"}`, "/dev/sdb"},
		{`{"rotational":false}`, "/dev/sdb"},
		{`{"rotational":"true"}`, "/dev/sda"},
		{`{"rotational":false,"size":">= 50"}`, "/dev/sdc"},
	} {
		t.Run(c.hints, func(t *testing.T) {
			got, err := hinted(t, c.hints)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
	for _, c := range []struct{ hints, want string }{
		{`{"name":"/dev/sdz"}`, "No disks satisfied"},
		{`{"rotational":true,"size":"<= 100"}`, "No disks satisfied"},
		{`{"wwn_vendor_extension":"x"}`, "No disks satisfied"},
		{`{"serial":"== 1"}`, "No disks satisfied"},
		{`{"size":"big"}`, `"size" must be a positive number`},
		{`{"size":0}`, `"size" must be a positive number`},
		{`{"size":null}`, `"size" must be a positive number`},
		{`{"rotational":"perhaps"}`, `"rotational" must be true or false`},
		{`{"model":""}`, `"model" must be a text`},
		{`{"model":"<in>"}`, `"model" must be a text`},
		{`["name"]`, "must be an object"},
	} {
		t.Run("fails: "+c.hints, func(t *testing.T) {
			got, err := hinted(t, c.hints)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// G23.
func TestLocalGB(t *testing.T) {
	for _, c := range []struct {
		name, top, disks string
		properties       map[string]any
		want             int64
	}{
		{"no list of disks", "", "", nil, 0},
		{"an empty list", "", `"disks":[]`, nil, 0},
		{"null", "", `"disks":null`, nil, 0},
		{"a drive of size 0", "", `"disks":[{"name":"/dev/sda","size":0}]`, nil, 0},
		{"a size that is null", "", `"disks":[{"name":"/dev/sda","size":null}]`, nil, 0},
		{"nothing but a stick too small for a system", "", `"disks":[{"name":"/dev/sda","size":3221225472}]`, nil, 0},
		{"the smallest of three", "", threeDisks, nil, 19},
		{"what the ramdisk chose", `"root_disk":{"name":"/dev/sda","size":1073741824000}`, threeDisks, nil, 999},
		{"a choice of size 0 is none", `"root_disk":{"name":"/dev/sda","size":0}`, threeDisks, nil, 19},
		{"a chosen disk of less than a GiB never gets negative", `"root_disk":{"name":"/dev/sda","size":1000}`, "", nil, 0},
		{"hints go before the ramdisk's choice", `"root_disk":{"name":"/dev/sda","size":1073741824000}`, threeDisks, map[string]any{"root_device": map[string]any{"name": "/dev/sdc"}}, 99},
		{"empty hints are none", "", threeDisks, map[string]any{"root_device": map[string]any{}}, 19},
		{"skipped disks do not count", "", threeDisks, map[string]any{"skip_block_devices": []any{map[string]any{"name": "/dev/sdb"}}}, 99},
		{"a list of skipped disks that nobody understands is noted", "", threeDisks, map[string]any{"skip_block_devices": "sdb"}, 19},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid, Properties: c.properties}}, report(c.top, nic1, c.disks))
			if err != nil {
				t.Fatal(err)
			}
			if f.Properties["local_gb"] != c.want {
				t.Errorf("got %v, want %d", f.Properties["local_gb"], c.want)
			}
			if _, odd := c.properties["skip_block_devices"].(string); odd && !strings.Contains(strings.Join(f.Notes, "\n"), "skip_block_devices was not heeded") {
				t.Errorf("no note: %v", f.Notes)
			}
		})
	}
}
