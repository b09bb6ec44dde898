package hooks

import (
	"fmt"
	"strings"
)

// errorLimit bounds how much of a ramdisk's error becomes the node's; the rest is cut off.
const errorLimit = 4096

// ramdiskError fails a run whose ramdisk says that something went wrong in it (G25).
type ramdiskError struct {
	noMain
	noNeeds
}

func (ramdiskError) Name() string { return "ramdisk-error" }

func (ramdiskError) Preprocess(w *work) error {
	text := w.Report.Error
	if text == "" {
		return nil
	}
	if len(text) > errorLimit {
		text = strings.ToValidUTF8(text[:errorLimit], "") + "…"
	}
	return fmt.Errorf("Ramdisk reported error: %s", text) //nolint:staticcheck // the wire's text, contract.md §4.3
}
