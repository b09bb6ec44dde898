package ipmi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// able opens a client with all its abilities.
func able(t *testing.T, d *ipmi.Driver, n node.Node) bmc.Abilities {
	t.Helper()
	a, ok := open(t, d, n).(bmc.Abilities)
	if !ok {
		t.Fatal("an IPMI client does not say what it is able to do")
	}
	return a
}

func TestTheIndicatorIsWhatTheChassisStatusSays(t *testing.T) {
	for name, c := range map[string]struct {
		status byte // third byte: bit 6 "state supported", bits 5:4 the state
		want   node.Indicator
	}{
		"not told by this BMC": {0x10, node.IndicatorUnknown},
		"off":                  {0x40, node.IndicatorOff},
		"on for a while":       {0x50, node.IndicatorOn},
		"on":                   {0x60, node.IndicatorOn},
		"reserved state":       {0x70, node.IndicatorUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{answers: map[types.Command]answer{types.CommandGetChassisStatus: say(0, 0, c.status)}}).start(t)
			if got, err := able(t, ipmi.New(quick()), b.node()).Indicator(t.Context()); err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestTheIndicatorIsSetByIdentifyingTheChassis(t *testing.T) {
	takesAll := func(request []byte) ([]byte, types.CompletionCode) { return nil, types.CodeOK }
	takesTimeOnly := func(request []byte) ([]byte, types.CompletionCode) {
		if len(request) > 1 && request[1] != 0 {
			return nil, types.CodeRequestDataFieldInvalid
		}
		return nil, types.CodeOK
	}
	for name, c := range map[string]struct {
		bmc  answer
		to   node.Indicator
		want []string
	}{
		"on until told otherwise": {takesAll, node.IndicatorOn, []string{"0001"}},
		"off":                     {takesAll, node.IndicatorOff, []string{"0000"}},
		"on for as long as a BMC can that cannot for longer": {takesTimeOnly, node.IndicatorOn, []string{"0001", "ff00"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := (&standIn{answers: map[types.Command]answer{types.CommandChassisIdentify: c.bmc}}).start(t)
			if err := able(t, ipmi.New(quick()), b.node()).SetIndicator(t.Context(), c.to); err != nil {
				t.Error(err)
			}
			if got := b.sent(types.CommandChassisIdentify); !slices.Equal(got, c.want) {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
	b := (&standIn{answers: map[types.Command]answer{types.CommandChassisIdentify: refuse(types.CodeInvalidCommand)}}).start(t)
	a := able(t, ipmi.New(quick()), b.node())
	for _, to := range []node.Indicator{node.IndicatorOn, node.IndicatorBlinking} {
		if err := a.SetIndicator(t.Context(), to); !errors.As(err, new(*node.Unsupported)) {
			t.Errorf("%s on a BMC that does not know it: %v, want *node.Unsupported", to, err)
		}
	}
}

func TestAnNMIIsTheDiagnosticInterruptAndSentOnce(t *testing.T) {
	b := (&standIn{answers: map[types.Command]answer{types.CommandChassisControl: say()}}).start(t)
	if err := able(t, ipmi.New(quick()), b.node()).InjectNMI(t.Context()); err != nil {
		t.Error(err)
	}
	if got := b.sent(types.CommandChassisControl); !slices.Equal(got, []string{"04"}) {
		t.Errorf("sent %q, want one diagnostic interrupt", got)
	}
	lacking := (&standIn{}).start(t) // the library's own BMC has none
	if err := able(t, ipmi.New(quick()), lacking.node()).InjectNMI(t.Context()); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("%v, want *node.Unsupported", err)
	}
}

func TestWhatIPMIHasNothingOfIsUnsupported(t *testing.T) {
	a := able(t, ipmi.New(quick()), node.Node{Driver: node.DriverIPMI, DriverInfo: map[string]any{"ipmi_address": "192.0.2.1"}})
	_, drives := a.Drives(t.Context())
	_, bios := a.BIOS(t.Context())
	_, insert := a.BeginInsert(t.Context(), node.Medium{})
	_, inserted := a.Inserted(t.Context(), node.Medium{}, "")
	for name, err := range map[string]error{
		"drives": drives, "set-up of the firmware": bios,
		"insert": insert, "inserted": inserted, "eject": a.Eject(t.Context(), ""),
	} {
		var u *node.Unsupported
		if !errors.As(err, &u) || u.Driver != node.DriverIPMI {
			t.Errorf("%s: %v, want *node.Unsupported of the driver", name, err)
		}
	}
}
