package hooks

import "regexp"

var archShape = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// architecture writes properties.cpu_arch.
type architecture struct {
	noPreprocess
	noNeeds
}

func (architecture) Name() string { return "architecture" }

func (architecture) Main(w *work) error {
	if !archShape.MatchString(w.Report.CPU.Architecture) {
		w.note("no CPU architecture was reported: cpu_arch stays as it is")
		return nil
	}
	w.properties["cpu_arch"] = w.Report.CPU.Architecture
	return nil
}
