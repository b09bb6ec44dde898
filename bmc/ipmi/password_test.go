package ipmi_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

func TestPasswordsOfAllKindsLogIn(t *testing.T) { // G38
	for name, c := range map[string]struct {
		is, given any
	}{
		"numeric":              {"1234567890", 1234567890},
		"numeric, with zeros":  {"007", "007"},
		"16 bytes":             {"0123456789abcdef", "0123456789abcdef"},
		"20 bytes":             {"0123456789abcdefghij", "0123456789abcdefghij"},
		"of odd characters":    {"p@ss:/?#%$\"' ", "p@ss:/?#%$\"' "},
		"not ASCII, 20 bytes":  {"ééééééé123456", "ééééééé123456"},
		"with blanks at edges": {" padded ", " padded "},
	} {
		for suite, only := range map[string]types.CipherSuiteID{"3": types.CipherSuiteID3, "17": types.CipherSuiteID17} {
			t.Run(name+" with suite "+suite, func(t *testing.T) {
				b := (&standIn{password: c.is.(string), suites: []types.CipherSuiteID{only}}).start(t)
				n := b.node()
				n.DriverInfo["ipmi_password"] = c.given
				if p, err := open(t, ipmi.New(quick()), n).Power(t.Context()); err != nil || p != node.PowerOff {
					t.Errorf("%q, %v", p, err)
				}
			})
		}
	}
}

func TestAPasswordThatOnlyBeginsRightIsRefused(t *testing.T) { // G38: nothing may cut it silently
	b := (&standIn{password: "0123456789abcdefghij"}).start(t)
	d := ipmi.New(quick())
	for name, given := range map[string]string{"16 bytes of 20": "0123456789abcdef", "another 20th byte": "0123456789abcdefghiX"} {
		n := b.node()
		n.DriverInfo["ipmi_password"] = given
		if _, err := open(t, d, n).Power(t.Context()); !errors.Is(err, node.ErrCredentials) {
			t.Errorf("%s: %v, want node.ErrCredentials", name, err)
		}
	}
	n := b.node()
	n.DriverInfo["ipmi_password"] = "0123456789abcdefghijk"
	_, err := d.Open(n)
	if !errors.As(err, new(*node.Invalid)) || !strings.Contains(err.Error(), "21 bytes") || strings.Contains(err.Error(), "abcdef") {
		t.Errorf("21 bytes: %v, want *node.Invalid that says so without the password", err)
	}
}

func TestOfALongPasswordThatIsRefusedItIsSaidThatItMayHaveBeenCut(t *testing.T) { // G38, quirk 61
	b := (&standIn{password: "0123456789abcdef"}).start(t)
	for given, hinted := range map[string]bool{"0123456789abcdefg": true, "0123456789abcdeX": false} {
		n := b.node()
		n.DriverInfo["ipmi_password"] = given
		_, err := open(t, ipmi.New(quick()), n).Power(t.Context())
		if !errors.Is(err, node.ErrCredentials) || strings.Contains(err.Error(), "only 16 bytes") != hinted || strings.Contains(err.Error(), given) {
			t.Errorf("%d bytes: %v", len(given), err)
		}
	}
}

func TestAWrongPasswordIsOneFailedLogin(t *testing.T) { // BMCs lock accounts
	for name, suites := range map[string][]types.CipherSuiteID{"any suite": nil, "3 only": {types.CipherSuiteID3}, "17 only": {types.CipherSuiteID17}} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{suites: suites}).start(t)
			n := b.node()
			n.DriverInfo["ipmi_password"] = "a-wrong-one"
			var logins atomic.Int32
			n = wire{saw: func(datagram []byte) {
				if len(datagram) > 5 && datagram[4] == 0x06 && datagram[5]&0x3f == 0x12 { // RMCP+, the first message with a user in it
					logins.Add(1)
				}
			}}.connect(t, n)
			if _, err := able(t, ipmi.New(quick()), n).Sensors(t.Context()); !errors.Is(err, node.ErrCredentials) {
				t.Errorf("%v, want node.ErrCredentials", err)
			}
			if got := logins.Load(); got != 1 {
				t.Errorf("%d logins were tried, want 1", got)
			}
		})
	}
}
