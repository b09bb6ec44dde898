package hooks

import (
	"errors"
	"fmt"
	"slices"

	"cagenut/inspect/inventory"
)

// rootDevice writes properties.local_gb: the size of the disk that a deployment would take, in GiB, less one for
// partitioning; 0 without a disk (G23). With hints in properties.root_device it is the first disk that fits them, as
// the agent itself chooses, and goes to plugin_data.root_disk; without hints it is what the ramdisk chose, else the
// smallest disk that an operating system fits on.
type rootDevice struct {
	noPreprocess
	noNeeds
}

// smallestRoot is the least size of a root disk that is chosen without hints.
const smallestRoot = 4 * inventory.GiB

func (rootDevice) Name() string { return "root-device" }

func (rootDevice) Main(w *work) error {
	disk, err := chooseRoot(w)
	if err != nil {
		return err
	}
	var gb int64
	if disk != nil {
		gb = max(disk.Size/inventory.GiB-1, 0)
	} else {
		w.note("no disk was reported: local_gb is 0")
	}
	w.plugin["local_gb"] = gb
	w.properties["local_gb"] = gb
	return nil
}

// chooseRoot is nil for a server without a disk.
func chooseRoot(w *work) (*inventory.Disk, error) {
	wanted, err := parseHints(w.properties["root_device"])
	if err != nil {
		return nil, fmt.Errorf("properties.root_device: %w", err)
	}
	skipped, err := parseSkipped(w.properties["skip_block_devices"])
	if err != nil {
		w.note("properties.skip_block_devices was not heeded: %s", err)
	}
	disks := slices.DeleteFunc(slices.Clone(w.Report.Disks), func(d inventory.Disk) bool {
		return d.Size == 0 || d.Removable || slices.ContainsFunc(skipped, func(s hints) bool { return s.fit(d) })
	})
	if len(wanted) > 0 {
		i := slices.IndexFunc(disks, wanted.fit)
		if i < 0 {
			return nil, errors.New("No disks satisfied root device hints") //nolint:staticcheck // Ironic's words
		}
		w.plugin["root_disk"] = disks[i].Fields
		return &disks[i], nil
	}
	if d := w.Report.RootDisk; d != nil && d.Size > 0 {
		return d, nil
	}
	var smallest *inventory.Disk
	for i, d := range disks {
		if d.Size >= smallestRoot && (smallest == nil || d.Size < smallest.Size) {
			smallest = &disks[i]
		}
	}
	return smallest, nil
}
