package hooks

import "slices"

// cpuCapabilities tells by capabilities what the processors can do. A capability of those that the reported flags do not
// bear out is taken away: somebody switched it off in the firmware.
type cpuCapabilities struct {
	noPreprocess
	noNeeds
}

// flagCapabilities are the capabilities and the flags that each comes of (contract.md §4.3).
var flagCapabilities = []struct {
	name  string
	flags []string
}{
	{"cpu_vt", []string{"vmx", "svm"}}, {"cpu_aes", []string{"aes"}}, {"cpu_hugepages", []string{"pse"}}, {"cpu_hugepages_1g", []string{"pdpe1gb"}}, {"cpu_txt", []string{"smx"}},
}

func (cpuCapabilities) Name() string { return "cpu-capabilities" }

func (h cpuCapabilities) Main(w *work) error {
	flags := w.Report.CPU.Flags
	if len(flags) == 0 {
		w.note("no CPU flags were reported: the capabilities of the CPU stay as they are")
		return nil
	}
	var all []capability
	for _, c := range flagCapabilities {
		value := ""
		if slices.ContainsFunc(c.flags, func(f string) bool { return slices.Contains(flags, f) }) {
			value = "true"
		}
		all = append(all, capability{c.name, value})
	}
	w.setCapabilities(h.Name(), all)
	return nil
}
