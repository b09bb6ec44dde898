package hooks

import "strings"

// capability is one of a node; without a value it is taken away.
type capability struct{ name, value string }

// setCapabilities sets the node's capabilities and leaves the others where they are. hook says whose they are.
func (w *work) setCapabilities(hook string, all []capability) {
	old := w.properties["capabilities"]
	text, ok := old.(string)
	if !ok && old != nil {
		w.note("properties.capabilities is no text: %s set none", hook)
		return
	}
	now := text
	for _, c := range all {
		now = setCapability(now, c.name, c.value)
	}
	if now != text {
		w.properties["capabilities"] = now
	}
}

// setCapability sets one capability of a text such as "boot_mode:uefi,cpu_vt:true", or takes it away.
func setCapability(text, name, value string) string {
	var out []string
	set := value == ""
	for part := range strings.SplitSeq(text, ",") {
		switch key, _, _ := strings.Cut(strings.TrimSpace(part), ":"); {
		case strings.TrimSpace(part) == "":
		case strings.TrimSpace(key) != name:
			out = append(out, part)
		case !set:
			out, set = append(out, name+":"+value), true
		}
	}
	if !set {
		out = append(out, name+":"+value)
	}
	return strings.Join(out, ",")
}
