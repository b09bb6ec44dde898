package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// logicalDiskProperties are the keys of a logical disk in a RAID configuration, each with a sentence for people.
var logicalDiskProperties = map[string]string{
	"raid_level":               "RAID level of the logical disk: " + strings.Join(raidLevels, ", ") + ". Required.",
	"size_gb":                  "Size of the logical disk in GiB, or MAX for all the space that is left. Required.",
	"volume_name":              "Name of the volume; made up unless given.",
	"is_root_volume":           "true for the volume that the system is installed on; at most one may be.",
	"share_physical_disks":     "true if other logical disks may use the same physical disks; false unless given.",
	"disk_type":                "Kind of the physical disks, hdd or ssd; any unless given.",
	"interface_type":           "Interface of the physical disks, sata, scsi or sas; any unless given.",
	"number_of_physical_disks": "How many physical disks are used; as few as the RAID level needs unless given.",
	"controller":               "The RAID controller that makes the logical disk; chosen by the driver unless given.",
	"physical_disks":           "The physical disks to use, by name or by hints (then at least two); needs a controller. Chosen by the driver unless given.",
}

var raidLevels = []string{"JBOD", "0", "1", "2", "5", "6", "1+0", "5+0", "6+0"}

// ValidateRAIDConfig checks a target RAID configuration; an empty one asks for none. The error is an *[Invalid].
func ValidateRAIDConfig(config map[string]any) error {
	if len(config) == 0 {
		return nil
	}
	bad := func(format string, a ...any) error {
		return Invalidf("RAID config validation error: %s", fmt.Sprintf(format, a...))
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if key != "logical_disks" {
			return bad("Additional properties are not allowed ('%s' was unexpected)", short(key))
		}
	}
	disks, ok := config["logical_disks"].([]any)
	if !ok {
		return bad("'logical_disks' has to be a list")
	}
	if len(disks) == 0 {
		return bad("[] is too short")
	}
	roots := 0
	for i, d := range disks {
		disk, ok := d.(map[string]any)
		if !ok {
			return bad("logical disk %d is not of type 'object'", i)
		}
		if err := validateLogicalDisk(disk); err != nil {
			return bad("logical disk %d: %s", i, err)
		}
		if disk["is_root_volume"] == true {
			roots++
		}
	}
	if roots > 1 {
		return Invalidf("Raid config cannot have more than one root volume. %d root volumes were specified", roots)
	}
	return nil
}

func validateLogicalDisk(disk map[string]any) error {
	for _, key := range []string{"raid_level", "size_gb"} {
		if _, ok := disk[key]; !ok {
			return fmt.Errorf("'%s' is a required property", key)
		}
	}
	if _, ok := disk["controller"]; !ok && disk["physical_disks"] != nil {
		return fmt.Errorf("'controller' is a dependency of 'physical_disks'")
	}
	for _, key := range slices.Sorted(maps.Keys(disk)) {
		if err := validateLogicalDiskValue(key, disk[key]); err != nil {
			return err
		}
	}
	return nil
}

func validateLogicalDiskValue(key string, v any) error {
	word, isText := v.(string)
	number, isNumber := Int(v)
	_, isFlag := v.(bool)
	oneOf := func(words ...string) error {
		if isText && slices.Contains(words, word) {
			return nil
		}
		return fmt.Errorf("'%s': %s is not one of %s", key, shortValue(v), strings.Join(words, ", "))
	}
	ok, kind := true, ""
	switch key {
	case "raid_level":
		return oneOf(raidLevels...)
	case "disk_type":
		return oneOf("hdd", "ssd")
	case "interface_type":
		return oneOf("sata", "scsi", "sas")
	case "size_gb":
		ok, kind = word == "MAX" || isNumber && number >= 0, "a whole number of GiB or MAX"
	case "number_of_physical_disks":
		ok, kind = isNumber && number > 0, "a positive whole number"
	case "is_root_volume", "share_physical_disks":
		ok, kind = isFlag, "a boolean"
	case "volume_name", "controller":
		ok, kind = isText, "a string"
	case "physical_disks":
		ok, kind = arePhysicalDisks(v), "a list of names, or of at least two hints"
	default:
		return fmt.Errorf("Additional properties are not allowed ('%s' was unexpected)", short(key)) //nolint:staticcheck // as Ironic words it
	}
	if !ok {
		return fmt.Errorf("'%s': %s is not %s", key, shortValue(v), kind)
	}
	return nil
}

func arePhysicalDisks(v any) bool {
	list, ok := v.([]any)
	names, hints := 0, 0
	for _, d := range list {
		switch d.(type) {
		case string:
			names++
		case map[string]any:
			hints++
		}
	}
	return ok && (names == len(list) || hints == len(list) && hints >= 2)
}
