package redfish

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"cagenut/node"
)

// mostAttributes bounds the BIOS attributes that are handed on.
const mostAttributes = 5000

// Firmware lists what the update service says is installed; without such a service, what system and manager say of themselves.
func (c *client) Firmware(ctx context.Context) (list []node.Firmware, err error) {
	err = c.walk(ctx, "read the firmware versions", func(w *walk, s system) error {
		service := w.get(c.rootLink("UpdateService"))
		for _, m := range w.collection(link(service["FirmwareInventory"]), "Version") {
			f := node.Firmware{
				Component: m.word("Name", "Id"), ID: m.word("Id"), Version: m.word("Version"),
				Updateable: boolean(m.resource["Updateable"]), Released: date(m.word("ReleaseDate")),
			}
			if f.Version != "" && !otherVersion(f.ID) {
				list = append(list, f)
			}
		}
		if len(list) == 0 {
			list = ownVersions(w, s)
		}
		if len(list) == 0 && w.failed != nil {
			return w.failed
		}
		if len(list) == 0 {
			return c.unsupported("firmware")
		}
		return nil
	})
	return list, err
}

// date is a date as the BMC spells it; some write nothing but zeros.
func date(s string) string {
	if !strings.ContainsAny(s, "123456789") {
		return ""
	}
	return s
}

// otherVersion tells of versions that Dell lists beside the installed one, to go back or forward to.
func otherVersion(id string) bool {
	return strings.HasPrefix(id, "Previous-") || strings.HasPrefix(id, "Available-")
}

func ownVersions(w *walk, s system) []node.Firmware {
	var list []node.Firmware
	if v := s.all.word("BiosVersion"); v != "" {
		list = append(list, node.Firmware{Component: "BIOS", ID: "BIOS", Version: v})
	}
	for _, m := range w.managers(s) {
		if v := m.word("FirmwareVersion"); v != "" {
			list = append(list, node.Firmware{Component: "BMC", ID: m.word("Id"), Version: v})
		}
	}
	return list
}

// BIOS are the attributes as they are: texts, booleans, whole numbers as int64, others as float64, nil where the BMC says null.
// Passwords are nil, whatever the BMC says.
func (c *client) BIOS(ctx context.Context) (attributes map[string]any, err error) {
	err = c.walk(ctx, "read the BIOS attributes", func(w *walk, s system) error {
		values := object(w.follow(s.all, "Bios")["Attributes"])
		attributes = map[string]any{}
		for name, raw := range values {
			if v, ok := scalar(raw); ok && len(attributes) < mostAttributes {
				if strings.HasSuffix(strings.ToLower(name), "password") {
					v = nil
				}
				attributes[name] = v
			}
		}
		if values == nil && w.failed != nil {
			return w.failed
		}
		if values == nil {
			return c.unsupported("bios")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return attributes, nil
}

func scalar(raw json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	switch v := v.(type) {
	case nil, bool, string:
		return v, true
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return f, err == nil
	}
	return nil, false
}
