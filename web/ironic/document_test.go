package ironic_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"cagenut/web/ironic"
)

var update = flag.Bool("update", false, "rewrite the tables of ../../docs/ironic-api.md from the operations")

const (
	apiDocument = "../../docs/ironic-api.md"
	tablesBegin = "<!-- Made from the operations by: go test ./web/ironic -run TestEveryEndpointStandsInTheDocument -update -->\n"
	tablesEnd   = "<!-- end -->\n"
)

func TestEveryEndpointStandsInTheDocument(t *testing.T) {
	raw, err := os.ReadFile(apiDocument)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), tablesBegin)
	_, after, ok2 := strings.Cut(rest, tablesEnd)
	if !ok || !ok2 {
		t.Fatal("the marks between which the tables stand are gone")
	}
	want := before + tablesBegin + endpointTables() + tablesEnd + after
	if *update {
		if err := os.WriteFile(apiDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(raw) != want {
		t.Error("docs/ironic-api.md is stale; rewrite it with: go test ./web/ironic -run TestEveryEndpointStandsInTheDocument -update")
	}
}

// endpointTables is one table for each tag, in the order of the operations.
func endpointTables() string {
	var tags []string
	rows := map[string]string{}
	for _, o := range ironic.Description(ironic.Options{}).Operations {
		if rows[o.Tag] == "" {
			tags = append(tags, o.Tag)
		}
		since := "1.1"
		if o.Since > 1 {
			since = fmt.Sprintf("1.%d", o.Since)
		}
		var newer []string
		for _, p := range o.Query {
			if p.Since > 1 {
				newer = append(newer, fmt.Sprintf("`%s` 1.%d", p.Name, p.Since))
			} else {
				newer = append(newer, "`"+p.Name+"`")
			}
		}
		rows[o.Tag] += fmt.Sprintf("| `%s %s` | %s | %s | %s |\n", o.Method, o.Path, since, o.Does, strings.Join(newer, ", "))
	}
	var b strings.Builder
	for _, tag := range tags {
		fmt.Fprintf(&b, "\n### %s\n\n| call | from | what it does | parameters of the address |\n|---|---|---|---|\n%s", strings.ToUpper(tag[:1])+tag[1:], rows[tag])
	}
	return b.String() + "\n"
}
