package sim_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"cagenut/bmc/sim"
)

func TestDocumentationListsTheFaultsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| (.*?) \\|").FindAllStringSubmatch(string(text), -1) {
		if m[1][0] != '-' { // a flag
			written = append(written, m[1]+": "+m[2])
		}
	}
	var there []string
	for _, f := range sim.AllFaults() {
		there = append(there, string(f.Fault)+": "+f.What)
	}
	if !slices.Equal(written, there) {
		for _, f := range there {
			if !slices.Contains(written, f) {
				t.Errorf("docs/simulator.md lacks %s", f)
			}
		}
		t.Errorf("the document has %d faults, there are %d", len(written), len(there))
	}
}
