package hooks

// cpus writes properties.cpus.
type cpus struct {
	noPreprocess
	noNeeds
}

func (cpus) Name() string { return "cpus" }

func (cpus) Main(w *work) error {
	if w.Report.CPU.Count == 0 {
		w.note("no CPU count was reported: cpus stays as it is")
		return nil
	}
	w.properties["cpus"] = w.Report.CPU.Count
	return nil
}
