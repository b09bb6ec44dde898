package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// Input is what the hooks work on.
type Input struct {
	Node     node.Node
	Ports    []node.Port       // of the node
	Owners   map[string]string // MAC → UUID of the node that has a port with it
	Previous []byte            // the inventory that is stored for the node so far, nil for none; see [NeedsPrevious]
	Report   inventory.Report
}

// Findings is what the hooks made of a report.
type Findings struct {
	Properties  map[string]any // the whole document
	NewPorts    []node.Port
	PortUpdates []node.Port
	Inventory   []byte // as reported, byte for byte
	PluginData  []byte
	Notes       []string // what was skipped, and other things to know
}

// Hook does one thing with a report. Embed noPreprocess, noMain and noNeeds for what it has not.
type Hook interface {
	// Name is Ironic's name of the hook.
	Name() string
	// Needs names the hooks that must run before it.
	Needs() []string
	// Preprocess checks the report and prepares for the other hooks.
	Preprocess(w *work) error
	// Main does the work.
	Main(w *work) error
}

type (
	noPreprocess struct{}
	noMain       struct{}
	noNeeds      struct{}
	// needsInterfaces is for hooks that work on the interfaces that validateInterfaces lets pass.
	needsInterfaces struct{}
)

func (noPreprocess) Preprocess(*work) error { return nil }
func (noMain) Main(*work) error             { return nil }
func (noNeeds) Needs() []string             { return nil }
func (needsInterfaces) Needs() []string     { return []string{validateInterfaces{}.Name()} }

// Run runs the hooks. Its error is for people to read, and fails the run; the findings then hold the notes alone.
func Run(list []Hook, in Input) (Findings, error) {
	w := newWork(in)
	if err := preprocess(list, w); err != nil {
		return Findings{Notes: w.allNotes()}, err
	}
	for _, h := range list {
		if err := h.Main(w); err != nil {
			return Findings{Notes: w.allNotes()}, fmt.Errorf("failed to run inspection hooks: Error in hook %s: %w", h.Name(), err)
		}
	}
	var plugin bytes.Buffer
	e := json.NewEncoder(&plugin)
	e.SetEscapeHTML(false) // what was reported stays as it was spelt
	if err := e.Encode(w.plugin); err != nil {
		return Findings{Notes: w.allNotes()}, fmt.Errorf("plugin data cannot be written: %w", err)
	}
	f := Findings{
		Properties: w.properties, Inventory: in.Report.Inventory, PluginData: bytes.TrimSuffix(plugin.Bytes(), []byte("\n")), Notes: w.allNotes(),
	}
	for _, p := range w.ports {
		switch {
		case p.added:
			f.NewPorts = append(f.NewPorts, p.Port)
		case p.changed:
			f.PortUpdates = append(f.PortUpdates, p.Port)
		}
	}
	return f, nil
}

func newWork(in Input) *work {
	w := &work{Input: in, properties: maps.Clone(in.Node.Properties), plugin: map[string]any{}, notes: in.Report.Notes[:len(in.Report.Notes):len(in.Report.Notes)]}
	if w.properties == nil {
		w.properties = map[string]any{}
	}
	for _, p := range in.Ports {
		w.ports = append(w.ports, &knownPort{Port: p})
	}
	for k, v := range in.Report.PluginData {
		w.plugin[k] = v
	}
	return w
}

func preprocess(list []Hook, w *work) error {
	var failures []string
	for _, h := range list {
		if err := h.Preprocess(w); err != nil {
			failures = append(failures, fmt.Sprintf("Error in preprocess hook %s: %s", h.Name(), err))
		}
	}
	if len(failures) == 0 {
		return nil
	}
	return fmt.Errorf("The following failures happened while running preprocess hooks for node %s:\n%s", w.Node.UUID, strings.Join(failures, "\n")) //nolint:staticcheck // the wire's text, contract.md §4.3
}
