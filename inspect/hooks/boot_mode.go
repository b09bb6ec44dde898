package hooks

// bootMode writes the capability boot_mode.
type bootMode struct {
	noPreprocess
	noNeeds
}

func (bootMode) Name() string { return "boot-mode" }

func (h bootMode) Main(w *work) error {
	mode := w.Report.Boot.Mode
	if mode != "uefi" && mode != "bios" {
		w.note("no known boot mode was reported: the capability boot_mode stays as it is")
		return nil
	}
	w.setCapabilities(h.Name(), []capability{{"boot_mode", mode}})
	return nil
}
