package rules_test

import (
	"strings"
	"testing"
)

// marked tells whether a rule with the condition was applied.
func marked(t *testing.T, condition string) (applied bool, notes []string) {
	t.Helper()
	res, err := apply(t, aRule(t, `[`+condition+`]`, `[{"op":"set-attribute","args":{"path":"extra/applied","value":true}}]`))
	if err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
	return res.Node.Extra["applied"] == true, res.Notes
}

func TestConditions(t *testing.T) {
	for condition, want := range map[string]bool{
		// eq: each value and the next.
		`{"op":"eq","args":{"values":["{node.driver}","redfish"]}}`:                                     true,
		`{"op":"eq","args":{"values":["{node.driver}","ipmi"]}}`:                                        false,
		`{"op":"!eq","args":{"values":["{node.driver}","ipmi"]}}`:                                       true,
		`{"op":"! eq","args":{"values":["{node.driver}","redfish"]}}`:                                   false,
		`{"op":"eq","args":[["{inventory[cpu][count]}",8,"8",8.0]]}`:                                    true,
		`{"op":"eq","args":[["{inventory[cpu][count]}",8,9]]}`:                                          false,
		`{"op":"eq","args":[["8","8.0"]]}`:                                                              false,
		`{"op":"eq","args":[[8,"8.0"]]}`:                                                                true,
		`{"op":"eq","args":[[8,"8.0"],true]}`:                                                           false,
		`{"op":"eq","args":[["8",8],true]}`:                                                             true,
		`{"op":"eq","args":{"values":[1]}}`:                                                             true,
		`{"op":"eq","args":{"values":[]}}`:                                                              true,
		`{"op":"eq","args":{"values":["{inventory[big]}",18446744073709551615]}}`:                       true,
		`{"op":"eq","args":{"values":["{inventory[secure]}",true,"True"]}}`:                             true,
		`{"op":"eq","args":{"values":["{inventory[system_vendor][serial_number]}",null,"None"]}}`:       true,
		`{"op":"eq","args":{"values":["{inventory[cpu][flags]}","['vmx', 'aes']"]}}`:                    true,
		`{"op":"eq","args":{"values":["{inventory[cpu][flags]}",["vmx","aes"]]}}`:                       true,
		`{"op":"eq","args":{"values":[["a",1],["a","1"]]}}`:                                             true,
		`{"op":"eq","args":{"values":[{"a":1},{"a":1}]}}`:                                               true,
		`{"op":"eq","args":{"values":[{"a":1},{"b":1}]}}`:                                               false,
		`{"op":"eq","args":{"values":[1e999,1e999]}}`:                                                   true,
		`{"op":"eq","args":{"values":[true,1]}}`:                                                        false,
		`{"op":"eq","args":{"values":["{inventory[nothing]}","x"]}}`:                                    false,
		`{"op":"eq","args":{"values":["{inventory[system_vendor][product_name]} ","PowerEdge R640 "]}}`: true,

		// lt and gt: as numbers where both spell one, else as texts.
		`{"op":"gt","args":{"values":["{inventory[memory][physical_mb]}",9000]}}`:   true,
		`{"op":"lt","args":{"values":["9000","{inventory[memory][physical_mb]}"]}}`: true,
		`{"op":"lt","args":{"values":[1,"2",3.5,"1e2"]}}`:                           true,
		`{"op":"lt","args":{"values":[1,1]}}`:                                       false,
		`{"op":"!lt","args":{"values":[1,1]}}`:                                      true,
		`{"op":"lt","args":{"values":["a","b"]}}`:                                   true,
		`{"op":"gt","args":{"values":["b","a","B"]}}`:                               true,
		`{"op":"lt","args":{"values":[10,9],"force_strings":true}}`:                 true,

		// is-empty: also what is not there (G33).
		`{"op":"is-empty","args":{"value":"{inventory[hostname]}"}}`:                     true,
		`{"op":"is-empty","args":{"value":"{inventory[disks]}"}}`:                        true,
		`{"op":"is-empty","args":{"value":"{inventory[boot]}"}}`:                         true,
		`{"op":"is-empty","args":{"value":"{inventory[system_vendor][serial_number]}"}}`: true,
		`{"op":"is-empty","args":{"value":"{inventory[foo][bar]}"}}`:                     true,
		`{"op":"is-empty","args":{"value":"{inventory[hostname][bar]}"}}`:                true,
		`{"op":"is-empty","args":{"value":"{inventory[disks][0]}"}}`:                     true,
		`{"op":"is-empty","args":{"value":"x{inventory[foo]}"}}`:                         true,
		`{"op":"!is-empty","args":{"value":"{inventory[foo]}"}}`:                         false,
		`{"op":"is-empty","args":{"value":"{inventory[zero]}"}}`:                         false,
		`{"op":"is-empty","args":{"value":"{inventory[cpu]}"}}`:                          false,
		`{"op":"is-empty","args":{"value":[]}}`:                                          true,
		`{"op":"is-empty","args":{"value":{"a":1}}}`:                                     false,
		`{"op":"is-empty","args":[null]}`:                                                true,

		`{"op":"is-none","args":{"value":null}}`:                                        true,
		`{"op":"is-none","args":{"value":"{inventory[system_vendor][serial_number]}"}}`: true,
		`{"op":"is-none","args":{"value":"{inventory[foo]}"}}`:                          true,
		`{"op":"is-none","args":{"value":"{inventory[hostname]}"}}`:                     false,

		`{"op":"is-true","args":{"value":"{inventory[secure]}"}}`:            true,
		`{"op":"is-true","args":{"value":"{inventory[half]}"}}`:              true,
		`{"op":"is-true","args":{"value":"{inventory[zero]}"}}`:              false,
		`{"op":"is-true","args":{"value":"YES"}}`:                            true,
		`{"op":"is-true","args":{"value":"on"}}`:                             false,
		`{"op":"is-true","args":{"value":"{plugin_data[auto_discovered]}"}}`: false,
		`{"op":"is-true","args":{"value":[1]}}`:                              false,
		`{"op":"is-false","args":{"value":"{inventory[zero]}"}}`:             true,
		`{"op":"is-false","args":{"value":"No"}}`:                            true,
		`{"op":"is-false","args":{"value":"{plugin_data[nothing]}"}}`:        true,
		`{"op":"is-false","args":{"value":"{inventory[cpu]}"}}`:              false,

		`{"op":"in-net","args":{"address":"{inventory[bmc_address]}","subnet":"192.0.2.0/24"}}`:    true,
		`{"op":"in-net","args":{"address":"{inventory[bmc_address]}","subnet":"192.0.2.77/24"}}`:   true,
		`{"op":"in-net","args":{"address":"{inventory[bmc_address]}","subnet":"198.51.100.0/24"}}`: false,
		`{"op":"!in-net","args":["{inventory[bmc_address]}","198.51.100.0/24"]}`:                   true,
		`{"op":"in-net","args":["2001:db8::7%eth0","2001:db8::/32"]}`:                              true,
		`{"op":"in-net","args":["::ffff:192.0.2.7","192.0.2.0/24"]}`:                               true,

		`{"op":"matches","args":{"value":"{inventory[system_vendor][product_name]}","regex":"PowerEdge R[0-9]{3}"}}`:  true,
		`{"op":"matches","args":{"value":"{inventory[system_vendor][product_name]}","regex":"PowerEdge"}}`:            false,
		`{"op":"matches","args":{"value":"{inventory[system_vendor][product_name]}","regex":"R640"}}`:                 false,
		`{"op":"matches","args":{"value":"{inventory[system_vendor][product_name]}","regex":"Power|PowerEdge R640"}}`: true,
		`{"op":"matches","args":{"value":"{inventory[system_vendor][product_name]}","regex":"^(?i)poweredge.*$"}}`:    true,
		`{"op":"contains","args":{"value":"{inventory[system_vendor][manufacturer]}","regex":"(?i)dell"}}`:            true,
		`{"op":"contains","args":{"value":"{inventory[cpu][flags]}","regex":"'aes'"}}`:                                true,
		`{"op":"contains","args":{"value":"{inventory[cpu][flags]}","regex":"'sse'"}}`:                                false,
		`{"op":"matches","args":{"value":"{inventory[cpu][count]}","regex":"[0-9]"}}`:                                 true,
		`{"op":"matches","args":{"value":5,"regex":"5"}}`:                                                             true,

		`{"op":"one-of","args":{"value":"{node.driver}","values":["ipmi","redfish"]}}`: true,
		`{"op":"one-of","args":{"value":"{inventory[cpu][count]}","values":[4,8]}}`:    true,
		`{"op":"one-of","args":{"value":"{inventory[cpu][count]}","values":["8"]}}`:    true,
		`{"op":"one-of","args":{"value":"{node.driver}","values":[]}}`:                 false,
		`{"op":"one-of","args":{"value":"x"}}`:                                         false,
		// values is not filled in outside of a loop.
		`{"op":"one-of","args":{"value":"redfish","values":["{node.driver}"]}}`: false,

		// Loops.
		`{"op":"eq","args":{"values":["{inventory[system_vendor][product_name]}","{item}"]},"loop":["x","PowerEdge R640"]}`:     true,
		`{"op":"eq","args":{"values":["{node.driver}","{item}"]},"loop":["redfish","ipmi"],"multiple":"all"}`:                   false,
		`{"op":"!eq","args":{"values":["{node.driver}","{item}"]},"loop":["fake","ipmi"],"multiple":"all"}`:                     true,
		`{"op":"eq","args":{"values":["{node.driver}","{item}"]},"loop":["redfish","ipmi"],"multiple":"first"}`:                 true,
		`{"op":"eq","args":{"values":["{node.driver}","{item}"]},"loop":["ipmi","redfish"],"multiple":"first"}`:                 false,
		`{"op":"eq","args":{"values":["{node.driver}","{item}"]},"loop":["redfish","ipmi"],"multiple":"last"}`:                  false,
		`{"op":"eq","args":{"values":["{node.driver}","{item}"]},"loop":["ipmi","redfish"],"multiple":"last"}`:                  true,
		`{"op":"eq","args":{"values":["{item[a]}","{item[b][0]}"]},"loop":{"a":"{node.driver}","b":["redfish"]}}`:               true,
		`{"op":"one-of","args":{"value":"redfish","values":["{node.driver}","{item}"]},"loop":["x"]}`:                           true,
		`{"op":"contains","args":{"value":"{inventory[cpu][flags]}","regex":"'{item}'"},"loop":["vmx","svm"]}`:                  true,
		`{"op":"contains","args":{"value":"{inventory[cpu][flags]}","regex":"'{item}'"},"loop":["vmx","svm"],"multiple":"all"}`: false,
		`{"op":"matches","args":{"value":"{node.name}","regex":"{item}-u[0-9]{{2}}"},"loop":["r1"]}`:                            true,
		`{"op":"eq","args":{"values":["{node.driver}","redfish"]},"loop":[]}`:                                                   true,
		`{"op":"gt","args":{"values":["{inventory[cpu][count]}","{item}"]},"loop":["x",4]}`:                                     true,

		// Loops over what was found.
		`{"op":"eq","args":{"values":["{item}","aes"]},"loop":"{inventory[cpu][flags]}"}`:                       true,
		`{"op":"eq","args":{"values":["{item}","aes"]},"loop":"{inventory[cpu][flags][*]}"}`:                    true,
		`{"op":"eq","args":{"values":["{item}","aes"]},"loop":"{inventory[cpu][flags]}","multiple":"all"}`:      false,
		`{"op":"!eq","args":{"values":["{item}","svm"]},"loop":"{inventory[cpu][flags]}","multiple":"all"}`:     true,
		`{"op":"eq","args":{"values":["{item}","aes"]},"loop":"{inventory[cpu][flags]}","multiple":"first"}`:    false,
		`{"op":"eq","args":{"values":["{item}","aes"]},"loop":"{inventory[cpu][flags]}","multiple":"last"}`:     true,
		`{"op":"eq","args":{"values":["{item}",8]},"loop":"{inventory[cpu][*]}"}`:                               true,
		`{"op":"eq","args":{"values":["{item}",8]},"loop":"{inventory[*][count]}"}`:                             true,
		`{"op":"matches","args":{"value":"{item}","regex":"HW_.*"},"loop":"{node.traits}"}`:                     true,
		`{"op":"is-empty","args":{"value":"{item}"},"loop":"{inventory[nothing][*]}"}`:                          true,
		`{"op":"is-empty","args":{"value":"{item}"},"loop":"{inventory[cpu][flags]}"}`:                          false,
		`{"op":"eq","args":{"values":["{item}","{inventory[bmc_address]}"]},"loop":"{inventory[bmc_address]}"}`: true,
		`{"op":"contains","args":{"value":"{item}","regex":"^v[a-z]{{2}}$"},"loop":"{inventory[cpu][flags]}"}`:  true,
		`{"op":"eq","args":{"values":["{item}","***"]},"loop":"{node.driver_info[*]}"}`:                         true,
	} {
		if got, notes := marked(t, condition); got != want {
			t.Errorf("%s: %v, not %v; %q", condition, got, want, notes)
		}
	}
}

// A condition to which there is no answer does not hold, inverted or not, and says so (G33).
func TestAConditionThatCannotBeDecidedSkipsTheRuleAndIsNoted(t *testing.T) {
	for condition, why := range map[string]string{
		`{"op":"gt","args":{"values":["{inventory[nothing]}",1]}}`:                                        "the values cannot be put in an order",
		`{"op":"!gt","args":{"values":["{inventory[nothing]}",1]}}`:                                       "the values cannot be put in an order",
		`{"op":"lt","args":{"values":[null,1]}}`:                                                          "the values cannot be put in an order",
		`{"op":"in-net","args":{"address":"{inventory[nothing]}","subnet":"192.0.2.0/24"}}`:               "'{inventory[nothing]}' is no address",
		`{"op":"!in-net","args":{"address":"{inventory[system_vendor][serial_number]}","subnet":"::/0"}}`: "'' is no address",
		`{"op":"in-net","args":{"address":"192.0.2.1","subnet":"{inventory[hostname]}"}}`:                 "'' is no subnet",
		`{"op":"matches","args":{"value":"x","regex":"{item}"},"loop":["("]}`:                             "invalid regular expression",
		`{"op":"gt","args":{"values":["x","{item}"]},"loop":[1,2],"multiple":"all"}`:                      "the values cannot be put in an order",
		`{"op":"!eq","args":{"values":["{item}","x"]},"loop":"{inventory[disks][*][name]}"}`:              "there is nothing to loop over",
		`{"op":"!eq","args":{"values":["{item}","x"]},"loop":"{plugin_data[nothing]}"}`:                   "there is nothing to loop over",
		`{"op":"!eq","args":{"values":["{item}","x"]},"loop":"{inventory[cpu][count][*]}"}`:               "there is nothing to loop over",
	} {
		applied, notes := marked(t, condition)
		said := strings.Join(notes, "\n")
		if applied || !strings.Contains(said, "could not be decided, so the rule was not applied: ") || !strings.Contains(said, why) {
			t.Errorf("%s: applied %v, %s", condition, applied, said)
		}
	}
}

func TestAllConditionsOfARuleMustHold(t *testing.T) {
	const yes, no = `{"op":"is-true","args":[true]}`, `{"op":"is-true","args":[false]}`
	for conditions, want := range map[string]bool{yes + "," + yes: true, yes + "," + no: false, no + "," + yes: false} {
		if got, _ := marked(t, conditions); got != want {
			t.Errorf("%s: %v", conditions, got)
		}
	}
}
