package node_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"cagenut/node"
)

func TestRAIDConfigurationsAreCheckedKeyByKey(t *testing.T) {
	disk := func(change map[string]any) map[string]any {
		d := map[string]any{"raid_level": "1", "size_gb": json.Number("100")}
		maps.Copy(d, change)
		return d
	}
	config := func(disks ...any) map[string]any { return map[string]any{"logical_disks": disks} }
	names, hint := []any{"disk 1", "disk 2"}, map[string]any{"size": 100}
	for name, c := range map[string]struct {
		config map[string]any
		text   string // part of the refusal; "": accepted
	}{
		"none":                  {nil, ""},
		"the least":             {config(disk(nil)), ""},
		"all the space":         {config(disk(map[string]any{"size_gb": "MAX"})), ""},
		"everything":            {config(disk(map[string]any{"volume_name": "v", "is_root_volume": true, "share_physical_disks": false, "disk_type": "ssd", "interface_type": "sas", "number_of_physical_disks": 2, "controller": "c", "physical_disks": names})), ""},
		"two hints":             {config(disk(map[string]any{"controller": "c", "physical_disks": []any{hint, hint}})), ""},
		"a root and another":    {config(disk(map[string]any{"is_root_volume": true}), disk(map[string]any{"is_root_volume": false})), ""},
		"another key":           {map[string]any{"logical_disks": []any{disk(nil)}, "x": 1}, "('x' was unexpected)"},
		"no disks":              {config(), "[] is too short"},
		"disks that are none":   {map[string]any{"logical_disks": "all"}, "has to be a list"},
		"a disk that is none":   {config("x"), "logical disk 0 is not of type 'object'"},
		"no level":              {config(map[string]any{"size_gb": 1}), "'raid_level' is a required property"},
		"no size":               {config(map[string]any{"raid_level": "0"}), "'size_gb' is a required property"},
		"an unknown level":      {config(disk(map[string]any{"raid_level": "7"})), "'raid_level': '7' is not one of JBOD, 0, 1, 2, 5, 6, 1+0, 5+0, 6+0"},
		"a number as level":     {config(disk(map[string]any{"raid_level": 1})), "'raid_level'"},
		"a negative size":       {config(disk(map[string]any{"size_gb": -1})), "'size_gb'"},
		"half a GiB":            {config(disk(map[string]any{"size_gb": 0.5})), "'size_gb'"},
		"a size in words":       {config(disk(map[string]any{"size_gb": "big"})), "'size_gb'"},
		"a flag in words":       {config(disk(map[string]any{"is_root_volume": "yes"})), "'is_root_volume'"},
		"no physical disks":     {config(disk(map[string]any{"number_of_physical_disks": 0})), "'number_of_physical_disks'"},
		"an unknown kind":       {config(disk(map[string]any{"disk_type": "tape"})), "'disk_type'"},
		"an unknown interface":  {config(disk(map[string]any{"interface_type": "usb"})), "'interface_type'"},
		"a name that is none":   {config(disk(map[string]any{"volume_name": 5})), "'volume_name'"},
		"disks, no controller":  {config(disk(map[string]any{"physical_disks": names})), "'controller' is a dependency of 'physical_disks'"},
		"one hint":              {config(disk(map[string]any{"controller": "c", "physical_disks": []any{hint}})), "'physical_disks'"},
		"hints and names":       {config(disk(map[string]any{"controller": "c", "physical_disks": []any{hint, "x"}})), "'physical_disks'"},
		"an unknown key":        {config(disk(map[string]any{"colour": "red"})), "('colour' was unexpected)"},
		"two roots":             {config(disk(map[string]any{"is_root_volume": true}), disk(map[string]any{"is_root_volume": true})), "more than one root volume. 2 root volumes were specified"},
		"the second disk wrong": {config(disk(nil), disk(map[string]any{"size_gb": nil})), "logical disk 1: 'size_gb'"},
	} {
		err := node.ValidateRAIDConfig(c.config)
		if (c.text == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARefusedRAIDConfigurationIsNotQuotedAtLengthNorWithItsSecrets(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for name, config := range map[string]map[string]any{
		"a long value":         {"logical_disks": []any{map[string]any{"raid_level": long, "size_gb": "MAX"}}},
		"a long document":      {"logical_disks": []any{map[string]any{"raid_level": "1", "size_gb": map[string]any{"a": long}}}},
		"a long key":           {"logical_disks": []any{map[string]any{"raid_level": "1", "size_gb": "MAX", long: 1}}},
		"a long key outside":   {long: 1},
		"a secret in the hint": {"logical_disks": []any{map[string]any{"raid_level": "1", "size_gb": "MAX", "controller": map[string]any{"password": "not-a-real-one"}}}},
	} {
		err := node.ValidateRAIDConfig(config)
		if err == nil || len(err.Error()) > 300 || strings.Contains(err.Error(), "not-a-real-one") {
			t.Errorf("%s: %.400v", name, err)
		}
	}
}

func TestDriversWithARAIDInterfaceSayWhatALogicalDiskIs(t *testing.T) {
	for _, d := range node.Drivers() {
		none := strings.HasPrefix(d.Enabled["raid"][0], "no-")
		if (d.LogicalDiskProperties == nil) != none {
			t.Errorf("%s: %d properties, raid interfaces %v", d.Name, len(d.LogicalDiskProperties), d.Enabled["raid"])
		}
		for key, text := range d.LogicalDiskProperties {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q is no sentence", key, text)
			}
		}
	}
}

func TestPortNamesThatCouldNotBeAddressedAreRefusedG59(t *testing.T) {
	for name, text := range map[string]string{
		"eth0": "", "ns~port": "", "management": "", "bad name": "Cannot create port with invalid name 'bad name'",
		"1be26c0b-03f2-4d2e-ae87-c02d7f33c123": "Cannot create port with invalid name '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'",
		"detail":                               `The word "detail" is reserved and can not be used as a port name. Reserved words are: detail.`,
	} {
		if err := node.ValidatePortName(name); text == "" && err != nil || text != "" && (err == nil || err.Error() != text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
