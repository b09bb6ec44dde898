package hooks

// memory writes properties.memory_mb.
type memory struct {
	noPreprocess
	noNeeds
}

func (memory) Name() string { return "memory" }

func (memory) Main(w *work) error {
	if w.Report.Memory.PhysicalMB == 0 {
		w.note("no physical memory was reported: memory_mb stays as it is")
		return nil
	}
	w.properties["memory_mb"] = w.Report.Memory.PhysicalMB
	return nil
}
