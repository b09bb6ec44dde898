package hooks

import "cagenut/inspect/inventory"

// raidDevice finds the disk that a RAID was made of: the only one that the inventory stored so far does not know. Its
// serial number becomes the root-device hint, unless there are hints already.
type raidDevice struct {
	noPreprocess
	noNeeds
}

func (raidDevice) Name() string { return "raid-device" }

func (raidDevice) Main(w *work) error {
	switch {
	case w.properties["root_device"] != nil:
		w.note("properties.root_device is there already: raid-device left it")
		return nil
	case w.Previous == nil:
		return nil
	}
	before := map[string]bool{}
	for _, s := range serials(inventory.Disks(w.Previous)) {
		before[s] = true
	}
	fresh := map[string]bool{}
	var serial string
	for _, s := range serials(w.Report.Disks) {
		if !before[s] {
			fresh[s], serial = true, s
		}
	}
	if len(fresh) != 1 {
		w.note("%d disks are new since the last inspection: raid-device found no root device", len(fresh))
		return nil
	}
	w.properties["root_device"] = map[string]any{"serial": serial}
	return nil
}

func serials(disks []inventory.Disk) []string {
	var all []string
	for _, d := range disks {
		if s := d.Texts("serial"); len(s) > 0 && s[0] != "" {
			all = append(all, s[0])
		}
	}
	return all
}
