package hooks

import (
	"maps"

	"cagenut/inspect/inventory/lldp"
)

// parseLLDP writes plugin_data.parsed_lldp: in words what the switches said, by interface.
type parseLLDP struct {
	noPreprocess
	noNeeds
}

func (parseLLDP) Name() string { return "parse-lldp" }

func (parseLLDP) Main(w *work) error {
	parsed := map[string]any{}
	for _, i := range w.Report.Interfaces {
		if i.Name == "" || parsed[i.Name] != nil {
			continue
		}
		heard := w.announced(i)
		said, notes := lldp.Describe(heard.statements)
		w.noteInterface(i, notes)
		if len(said) == 0 {
			said = heard.parsed
		}
		if len(said) > 0 {
			parsed[i.Name] = said
		}
	}
	if len(parsed) == 0 {
		return nil
	}
	all := map[string]any{}
	for name, said := range w.section("parsed_lldp") {
		all[name] = said
	}
	maps.Copy(all, parsed)
	w.plugin["parsed_lldp"] = all
	return nil
}
