package rules_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cagenut/node"
)

func TestThePageAboutRulesNamesAllThatRulesCanDo(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspection-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(node.RuleOperators(), node.RuleActions(), node.RuleDocuments(), node.RulePortDocuments(), node.RulePortAttributes(), node.RuleAttributes()) {
		if strings.HasSuffix(name, "_interface") {
			name = "inspect_interface" // for all of them
		}
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/inspection-rules.md does not name %s", name)
		}
	}
}
