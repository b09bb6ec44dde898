package ipmi_test

import (
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

func TestABMCWithOneCipherSuiteOnlyIsReached(t *testing.T) { // G39
	for name, suite := range map[string]types.CipherSuiteID{"only 3": types.CipherSuiteID3, "only 17": types.CipherSuiteID17} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{suites: []types.CipherSuiteID{suite}}).start(t)
			n := b.node()
			n.DriverInfo["ipmi_password"] = 123456 // a number, as people write it (G38)
			d := ipmi.New(quick())
			for range 2 { // the second time by what is remembered
				if p, err := open(t, d, n).Power(t.Context()); err != nil || p != node.PowerOff {
					t.Errorf("%q, %v", p, err)
				}
			}
		})
	}
}
