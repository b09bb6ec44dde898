package hooks

import "strings"

// bootMode writes the capability boot_mode.
type bootMode struct{ noPreprocess }

func (bootMode) Name() string { return "boot-mode" }

func (bootMode) Main(w *work) error {
	mode := w.Report.Boot.Mode
	if mode != "uefi" && mode != "bios" {
		w.note("no known boot mode was reported: the capability boot_mode stays as it is")
		return nil
	}
	old := w.Properties["capabilities"]
	text, ok := old.(string)
	if !ok && old != nil {
		w.note("properties.capabilities is no text: the capability boot_mode was not set")
		return nil
	}
	w.Properties["capabilities"] = setCapability(text, "boot_mode", mode)
	return nil
}

// setCapability sets one capability of a text such as "boot_mode:uefi,cpu_vt:true" and leaves the others where they are.
func setCapability(text, name, value string) string {
	var out []string
	set := false
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
