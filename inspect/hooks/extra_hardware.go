package hooks

import (
	"encoding/json"
	"strconv"

	"cagenut/inspect/inventory"
)

// extraHardware turns what the collector of that name found, a list of [group, item, key, value], into
// plugin_data.extra: group → item → key → value. The list is not kept. Whole numbers become numbers where that loses
// nothing, so that rules can compare them.
type extraHardware struct {
	noPreprocess
	noNeeds
}

// maxExtra is how many values are looked at: a server with eight sockets and a hundred disks stays far below.
const maxExtra = 50_000

func (extraHardware) Name() string { return "extra-hardware" }

func (extraHardware) Main(w *work) error {
	data := w.Report.PluginData["data"]
	if len(data) == 0 || string(data) == "null" {
		w.note("no extra hardware data were reported")
		return nil
	}
	items, err := inventory.Elements(data, maxExtra)
	if err != nil && len(items) == 0 {
		w.note("the extra hardware data are no list: they stay as they were reported")
		return nil
	}
	if err != nil {
		w.note("of the extra hardware data, what is beyond %d values was left out", maxExtra)
	}
	extra := map[string]map[string]map[string]any{}
	for i, item := range items {
		names, value, ok := extraItem(item)
		if !ok {
			w.note("extra hardware value %d was left out: %s is no list of three texts and a value", i, inventory.Excerpt(string(item)))
			continue
		}
		group := extra[names[0]]
		if group == nil {
			group = map[string]map[string]any{}
			extra[names[0]] = group
		}
		if group[names[1]] == nil {
			group[names[1]] = map[string]any{}
		}
		group[names[1]][names[2]] = value
	}
	w.plugin["extra"] = extra
	delete(w.plugin, "data")
	return nil
}

func extraItem(item json.RawMessage) (names [3]string, value any, ok bool) {
	parts, err := inventory.Elements(item, 4)
	if err != nil || len(parts) != 4 {
		return names, nil, false
	}
	for i := range names {
		if names[i], ok = inventory.Text(parts[i]); !ok {
			return names, nil, false
		}
	}
	if text, is := inventory.Text(parts[3]); is {
		return names, numberOr(text), true
	}
	return names, parts[3], true
}

// numberOr is the whole number that a text is the usual spelling of, else the text: 007 is a serial number.
func numberOr(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && strconv.FormatUint(n, 10) == text {
		return n
	}
	return text
}
