package node_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cagenut/node"
)

func TestATraitIsAStandardOneOrACustomOne(t *testing.T) {
	for name, text := range map[string]string{
		"HW_CPU_X86_VMX": "", "COMPUTE_VOLUME_ATTACH": "", "MISC_SHARES_VIA_AGGREGATE": "", "OWNER_NOVA": "", "CUSTOM_GOLD": "", "CUSTOM_1_": "",
		"CUSTOM_" + strings.Repeat("A", 248): "",
		"CUSTOM_" + strings.Repeat("A", 249): "Schema error for trait: 'CUSTOM_" + strings.Repeat("A", 73) + "…' is too long",
		"":                                   "Schema error for trait: '' is too short",
		"CUSTOM_":                            "Schema error for trait: 'CUSTOM_' is not valid under any of the given schemas",
		"CUSTOM_gold":                        "Schema error for trait: 'CUSTOM_gold' is not valid under any of the given schemas",
		"CUSTOM_GOLD\n":                      "Schema error for trait: 'CUSTOM_GOLD\n' is not valid under any of the given schemas",
		"HW_CPU_X86_NONSENSE":                "Schema error for trait: 'HW_CPU_X86_NONSENSE' is not valid under any of the given schemas",
		"GOLD":                               "Schema error for trait: 'GOLD' is not valid under any of the given schemas",
		"HW_CPU_X86_VMX\nHW_CPU_X86_AVX":     "Schema error for trait: 'HW_CPU_X86_VMX\nHW_CPU_X86_AVX' is not valid under any of the given schemas",
	} {
		err := node.ValidateTrait(name)
		var invalid *node.Invalid
		if text == "" && err != nil || text != "" && (!errors.As(err, &invalid) || invalid.Text != text) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestANodeHasFiftyTraitsAtMost(t *testing.T) {
	var traits []string
	for i := range node.MaxTraits {
		traits = append(traits, fmt.Sprintf("CUSTOM_%d", i))
	}
	if err := node.ValidateTraits("u", traits); err != nil {
		t.Error(err)
	}
	err := node.ValidateTraits("u", append(traits, "HW_CPU_X86_VMX"))
	if want := "Could not modify traits for node u as it would exceed the maximum number of traits per node (51 vs. 50)"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := node.ValidateTraits("u", []string{"CUSTOM_A", "nonsense"}); err == nil {
		t.Error("nonsense passed")
	}
}
