package redfish

import (
	"context"
	"path"
	"slices"
	"strings"

	"cagenut/node"
)

// mostDrives bounds the virtual drives of one BMC; the most that we know of are ten.
const mostDrives = 32

// virtualDrive is one and how it is told what to do.
type virtualDrive struct {
	node.VirtualDrive
	path          string
	insert, eject string // targets of the actions; "" where the drive has none
	via           string // "URI", "Applet", …
}

// Drives lists the virtual drives.
func (c *client) Drives(ctx context.Context) (list []node.VirtualDrive, err error) {
	drives, err := c.drives(ctx)
	for _, d := range drives {
		list = append(list, d.VirtualDrive)
	}
	return list, err
}

// drives are those of the system; of its managers where the system has none. Newer BMCs list the same ones in both (quirk 29).
func (c *client) drives(ctx context.Context) (list []virtualDrive, err error) {
	err = c.walk(ctx, "read the virtual media", func(w *walk, s system) error {
		members := w.collection(link(s.all["VirtualMedia"]), "Inserted", "MediaTypes")
		if len(members) == 0 {
			for _, m := range w.managers(s) {
				members = append(members, w.collection(link(m.resource["VirtualMedia"]), "Inserted", "MediaTypes")...)
			}
		}
		for _, m := range members[:min(len(members), mostDrives)] {
			list = append(list, newDrive(m.path, m.resource))
		}
		if len(list) == 0 && w.failed != nil {
			return w.failed
		}
		if len(list) == 0 {
			return c.unsupported("virtual media")
		}
		return nil
	})
	return list, err
}

func newDrive(path string, r resource) virtualDrive {
	actions := object(r["Actions"])
	target := func(action string) string { return linkPath(text(object(actions[action])["target"])) }
	d := virtualDrive{
		path: path, insert: target("#VirtualMedia.InsertMedia"), eject: target("#VirtualMedia.EjectMedia"), via: text(r["ConnectedVia"]),
		VirtualDrive: node.VirtualDrive{ID: r.word("Id", "Name"), URL: r.word("Image"), Kinds: mediumKinds(r)},
	}
	if b := boolean(r["WriteProtected"]); b != nil {
		d.ReadOnly = *b
	}
	if b := boolean(r["Inserted"]); b != nil { // whatever Image says (quirk 30)
		d.Inserted = *b
	} else {
		d.Inserted = d.URL != "" && d.via != "NotConnected"
	}
	return d
}

// mediumKinds are what the drive says it takes; a drive that says nothing is known by its name, and one without such a name has
// none (media types missing: quirk 28, Gigabyte).
func mediumKinds(r resource) []node.MediumKind {
	var kinds []node.MediumKind
	add := func(k node.MediumKind) {
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, t := range texts(r["MediaTypes"]) {
		switch strings.ToLower(t) {
		case "cd", "dvd":
			add(node.MediumCD)
		case "usbstick":
			add(node.MediumDisk)
		case "floppy":
			add(node.MediumFloppy)
		}
	}
	if len(kinds) > 0 {
		return kinds
	}
	switch name := strings.ToLower(r.word("Id") + " " + r.word("Name")); {
	case containsAny(name, "cd", "dvd"):
		add(node.MediumCD)
	case containsAny(name, "floppy"):
		add(node.MediumFloppy)
	case containsAny(name, "usb", "removable", "disk"):
		add(node.MediumDisk)
	}
	return kinds
}

// takes tells whether a medium of the kind can go in, or may: of some drives nobody says.
func (d virtualDrive) takes(kind node.MediumKind) bool {
	return len(d.Kinds) == 0 || slices.Contains(d.Kinds, kind)
}

// holds tells whether what is in the drive is of a kind, or may be. Drives that take several kinds do not say which it is; the
// ending of the image's name decides as far as it can.
func (d virtualDrive) holds(kind node.MediumKind) bool {
	switch {
	case !d.Inserted:
		return false
	case kind == "":
		return true
	case !d.takes(kind):
		return false
	case len(d.Kinds) == 1:
		return true
	}
	name, _, _ := strings.Cut(d.URL, "?")
	switch strings.ToLower(path.Ext(name)) {
	case ".iso":
		return kind == node.MediumCD
	case ".img", ".ima", ".raw":
		return kind != node.MediumCD
	}
	return true
}
