package inventory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"cagenut/node"
)

// Interface is a network interface as the ramdisk's kernel sees it.
type Interface struct {
	Name       string
	MAC        string // lower case; "" for what is no Ethernet address, such as an InfiniBand GUID (G14)
	Reported   string // `mac_address` as reported
	IPv4, IPv6 string // without zone and prefix length
	HasCarrier *bool
	ClientID   string // of InfiniBand
	SpeedMbps  int64  // 0: unknown
	Virtual    bool   // a VLAN, bond, bridge or the like, not hardware (G51)
	Ignored    bool   // its MAC says nothing of whose it is, see [Report.Ignore]

	// Fields is the element of the inventory as it was reported.
	Fields map[string]json.RawMessage
}

// Address is the IPv4 address, else the IPv6 address, else "".
func (i Interface) Address() string {
	if i.IPv4 != "" {
		return i.IPv4
	}
	return i.IPv6
}

// virtualName matches names that kernels give to interfaces without hardware of their own.
var virtualName = regexp.MustCompile(`^(bond|team|br|virbr|vlan|veth|vnet|tap|tun|dummy|docker|macvtap|macvlan|vxlan|sit|wg)\d+|^br-|^docker|[.@]\w+$`)

func readInterface(r reader) Interface {
	i := Interface{
		Name: r.text("name"), Reported: r.text("mac_address"), ClientID: r.text("client_id"),
		IPv4: r.address("ipv4_address", "ipv4_addresses"), IPv6: r.address("ipv6_address", "ipv6_addresses"),
		HasCarrier: r.flag("has_carrier"), Fields: r.fields,
	}
	i.MAC, _ = usableMAC(i.Reported)
	i.Virtual = virtualName.MatchString(i.Name)
	if string(r.value("speed_mbps")) != "-1" { // what Linux says of a port without a link
		i.SpeedMbps = r.whole("speed_mbps")
	}
	return i
}

// usableMAC is the address of real hardware: Ethernet, neither zero nor broadcast.
func usableMAC(s string) (string, bool) {
	mac, ok := node.ParseMAC(s)
	if !ok || slices.Contains([]string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"}, mac) {
		return "", false
	}
	return mac, true
}

// address is the one under key, else the first of the list, without zone and prefix length.
func (r reader) address(key, list string) string {
	reported := cmp.Or(r.text(key), r.first(list))
	s, _, _ := strings.Cut(reported, "%")
	s, _, _ = strings.Cut(s, "/")
	if s == "" {
		return ""
	}
	if _, err := netip.ParseAddr(s); err != nil {
		*r.notes = append(*r.notes, fmt.Sprintf("%s.%s is no IP address: %s; ignored", r.where, key, Excerpt(reported)))
		return ""
	}
	return s
}

// readMemory also reads the spelling of agents that install clusters, which count in bytes.
func readMemory(r reader) Memory {
	return Memory{
		PhysicalMB: cmp.Or(r.whole("physical_mb"), r.bytes("physical_bytes")/MiB),
		Total:      cmp.Or(r.whole("total"), r.bytes("usable_bytes")),
	}
}

// Disk is a block device.
type Disk struct {
	Name       string
	Size       int64 // bytes; 0 for a drive without a medium
	Rotational *bool
	Removable  bool // a stick, or a drive for optical discs: nothing to install on

	// Fields is the disk as it was reported.
	Fields map[string]json.RawMessage
}

// GiB is the unit of root-device hints and of `local_gb`.
const GiB = 1 << 30

// maxTexts is the size of a list of texts that is read.
const maxTexts = 64 * textLimit

// Texts are the values of a field that hints can compare: one text, or each of a list of them.
func (d Disk) Texts(key string) []string {
	v := d.Fields[key]
	if isNull(v) || len(v) > maxTexts {
		return nil
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		if key == "name" && s != d.Name {
			return []string{s, d.Name}
		}
		return []string{s}
	}
	var all []*string
	if json.Unmarshal(v, &all) != nil {
		return nil
	}
	var texts []string
	for _, s := range all {
		if s != nil {
			texts = append(texts, *s)
		}
	}
	return texts
}

// Disks are the disks of an inventory that was stored earlier.
func Disks(inventory json.RawMessage) []Disk {
	if !json.Valid(inventory) {
		return nil
	}
	var ignored []string
	var disks []Disk
	for _, v := range read("inventory", inventory, &ignored).list("disks", maxDisks) {
		if d, ok := readDisk(read("disk", v, &ignored)); ok {
			disks = append(disks, d)
		}
	}
	return disks
}

func readDisk(r reader) (Disk, bool) {
	if r.fields == nil {
		return Disk{}, false
	}
	d := Disk{Name: r.text("name"), Size: cmp.Or(r.whole("size"), r.whole("size_bytes")), Rotational: r.flag("rotational"), Fields: r.fields}
	if path := r.text("path"); strings.HasPrefix(path, "/dev/") {
		d.Name = path // where `name` is the kernel's: agents that install clusters tell both
	}
	removable := r.flag("removable")
	d.Removable = removable != nil && *removable || r.text("drive_type") == "ODD"
	return d, true
}
