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
	Node   node.Node
	Ports  []node.Port       // of the node
	Owners map[string]string // MAC → UUID of the node that has a port with it
	Report inventory.Report
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

// Hook does one thing with a report. Embed a noPreprocess or noMain for the half that it does not need.
type Hook interface {
	// Name is Ironic's name of the hook.
	Name() string
	// Preprocess checks the report and prepares for the other hooks.
	Preprocess(w *work) error
	// Main does the work.
	Main(w *work) error
}

type (
	noPreprocess struct{}
	noMain       struct{}
)

func (noPreprocess) Preprocess(*work) error { return nil }
func (noMain) Main(*work) error             { return nil }

// Default lists the hooks in the order in which they run.
func Default() []Hook {
	return []Hook{ramdiskError{}, validateInterfaces{}, ports{}, architecture{}, memory{}, cpus{}, rootDevice{}, bootMode{}}
}

// work is a report in the hands of the hooks.
type work struct {
	Input
	Findings
	plugin map[string]any // plugin data: json.RawMessage as reported, or what a hook put there
	valid  []nic          // the interfaces that ports are made of, by validateInterfaces
	pxeMAC string         // of the interface that the server booted from; "" when unknown
}

func (w *work) note(format string, a ...any) { w.Notes = append(w.Notes, fmt.Sprintf(format, a...)) }

// Run runs the hooks. Its error is for people to read, and fails the run; the findings then hold the notes alone.
func Run(list []Hook, in Input) (Findings, error) {
	w := &work{Input: in, plugin: map[string]any{}}
	w.Properties = maps.Clone(in.Node.Properties)
	if w.Properties == nil {
		w.Properties = map[string]any{}
	}
	w.Notes = append(w.Notes, in.Report.Notes...)
	for k, v := range in.Report.PluginData {
		w.plugin[k] = v
	}
	if err := preprocess(list, w); err != nil {
		return Findings{Notes: w.Notes}, err
	}
	for _, h := range list {
		if err := h.Main(w); err != nil {
			return Findings{Notes: w.Notes}, fmt.Errorf("failed to run inspection hooks: Error in hook %s: %w", h.Name(), err)
		}
	}
	w.Inventory = in.Report.Inventory
	var plugin bytes.Buffer
	e := json.NewEncoder(&plugin)
	e.SetEscapeHTML(false) // what was reported stays as it was spelt
	if err := e.Encode(w.plugin); err != nil {
		return Findings{Notes: w.Notes}, fmt.Errorf("plugin data cannot be written: %w", err)
	}
	w.PluginData = bytes.TrimSuffix(plugin.Bytes(), []byte("\n"))
	return w.Findings, nil
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
