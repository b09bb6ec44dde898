package inventory_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

func TestMatch(t *testing.T) {
	waiting := func(uuid string, macs, bmc []string) inventory.Candidate {
		return inventory.Candidate{NodeUUID: uuid, Waiting: true, MACs: macs, BMCAddresses: bmc}
	}
	idle := func(uuid string, macs ...string) inventory.Candidate {
		return inventory.Candidate{NodeUUID: uuid, MACs: macs}
	}
	l := func(s ...string) []string { return s }
	chassis := l("192.0.2.10")
	for _, c := range []struct {
		name  string
		keys  inventory.Keys
		asked string
		all   []inventory.Candidate
		want  string // "" for a refusal
	}{
		{"one MAC of a waiting node", inventory.Keys{MACs: l("m1")}, "", []inventory.Candidate{waiting("n1", l("m1"), nil)}, "n1"},
		{"only the second NIC has a port (G49)", inventory.Keys{MACs: l("m0", "m1")}, "", []inventory.Candidate{waiting("n1", l("m1"), nil)}, "n1"},
		{"no candidate at all", inventory.Keys{MACs: l("m1")}, "", nil, ""},
		{"the node does not wait", inventory.Keys{MACs: l("m1")}, "", []inventory.Candidate{idle("n1", "m1")}, ""},
		{"MACs of two nodes", inventory.Keys{MACs: l("m1", "m2")}, "", []inventory.Candidate{waiting("n1", l("m1"), nil), waiting("n2", l("m2"), nil)}, ""},
		{"MACs of two nodes, one of them idle", inventory.Keys{MACs: l("m1", "m2")}, "", []inventory.Candidate{waiting("n1", l("m1"), nil), idle("n2", "m2")}, ""},
		{"a MAC of both nodes and one of the second alone (G27)", inventory.Keys{MACs: l("fa", "m2")}, "", []inventory.Candidate{waiting("n1", l("m1", "fa"), nil), waiting("n2", l("m2", "fa"), nil)}, "n2"},
		{"nothing but a MAC of both nodes (G27)", inventory.Keys{MACs: l("fa")}, "", []inventory.Candidate{waiting("n1", l("m1", "fa"), nil), waiting("n2", l("m2", "fa"), nil)}, ""},

		{"named, nothing else known", inventory.Keys{}, "n1", []inventory.Candidate{waiting("n1", nil, nil)}, "n1"},
		{"named and MAC agree", inventory.Keys{MACs: l("m1")}, "n1", []inventory.Candidate{waiting("n1", l("m1"), nil)}, "n1"},
		{"named and MAC disagree", inventory.Keys{MACs: l("m2")}, "n1", []inventory.Candidate{waiting("n1", l("m1"), nil), waiting("n2", l("m2"), nil)}, ""},
		{"named and unknown", inventory.Keys{MACs: l("m1")}, "n9", []inventory.Candidate{waiting("n1", l("m1"), nil)}, ""},
		{"named and not waiting", inventory.Keys{}, "n1", []inventory.Candidate{idle("n1")}, ""},
		{"named, and the BMC is another's", inventory.Keys{BMCAddresses: l("192.0.2.2")}, "n1", []inventory.Candidate{waiting("n1", nil, nil), waiting("n2", nil, l("192.0.2.2"))}, ""},

		{"same BMC, the MAC decides (G13)", inventory.Keys{MACs: l("m2"), BMCAddresses: chassis}, "", []inventory.Candidate{waiting("n1", l("m1"), chassis), waiting("n2", l("m2"), chassis)}, "n2"},
		{"same BMC and no known MAC (G13)", inventory.Keys{MACs: l("mx"), BMCAddresses: chassis}, "", []inventory.Candidate{waiting("n1", l("m1"), chassis), waiting("n2", l("m2"), chassis)}, ""},
		{"MAC of one and BMC of another (G13)", inventory.Keys{MACs: l("m1"), BMCAddresses: l("192.0.2.3")}, "", []inventory.Candidate{waiting("n1", l("m1"), chassis), waiting("n3", l("m3"), l("192.0.2.3"))}, ""},
		{"MAC of one and a BMC of nobody", inventory.Keys{MACs: l("m1"), BMCAddresses: l("192.0.2.99")}, "", []inventory.Candidate{waiting("n1", l("m1"), chassis)}, "n1"},
		{"no known MAC, one BMC", inventory.Keys{MACs: l("mx"), BMCAddresses: chassis}, "", []inventory.Candidate{waiting("n1", l("m1"), chassis), waiting("n2", l("m2"), l("192.0.2.2"))}, "n1"},
		{"no MAC at all, one BMC of two addresses", inventory.Keys{BMCAddresses: l("192.0.2.10", "2001:db8::10")}, "", []inventory.Candidate{waiting("n1", nil, l("2001:DB8:0::10"))}, "n1"},
		{"the BMC's node does not wait", inventory.Keys{BMCAddresses: chassis}, "", []inventory.Candidate{{NodeUUID: "n1", BMCAddresses: chassis}}, ""},
		{"loopback never counts (G48)", inventory.Keys{MACs: l("mx"), BMCAddresses: l("127.0.0.1")}, "", []inventory.Candidate{waiting("n1", l("m1"), l("127.0.0.1"))}, ""},
		{"loopback BMCs, the MAC decides (G48)", inventory.Keys{MACs: l("m3")}, "", []inventory.Candidate{waiting("n1", l("m1"), nil), waiting("n2", l("m2"), nil), waiting("n3", l("m3"), nil)}, "n3"},
		{"one node twice among the candidates", inventory.Keys{MACs: l("m1"), BMCAddresses: chassis}, "", []inventory.Candidate{idle("n1", "m1"), waiting("n1", l("m1"), chassis)}, "n1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := inventory.Match(c.keys, c.asked, c.all)
			if c.want == "" {
				if !errors.Is(err, node.ErrNotReported) || got != "" {
					t.Errorf("got %q, %v; want node.ErrNotReported", got, err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestMatchNamesTheCandidatesForTheLog(t *testing.T) {
	_, err := inventory.Match(inventory.Keys{BMCAddresses: []string{"192.0.2.10"}}, "", []inventory.Candidate{
		{NodeUUID: "n1", Waiting: true, BMCAddresses: []string{"192.0.2.10"}}, {NodeUUID: "n2", Waiting: true, BMCAddresses: []string{"192.0.2.10"}},
	})
	if err == nil || !strings.Contains(err.Error(), "n1, n2") {
		t.Errorf("got %v", err)
	}
}

func TestMatchRefusesAReportWithoutAnyKey(t *testing.T) {
	_, err := inventory.Match(inventory.Keys{}, "", nil)
	var invalid *node.Invalid
	if !errors.As(err, &invalid) || invalid.Text != "No lookup information provided" {
		t.Errorf("got %v", err)
	}
}

// G12: the twelve spellings of "no BMC", and what counts beside them.
func TestReportedBMCAddresses(t *testing.T) {
	for _, v4 := range []string{`null`, `""`, `"0.0.0.0"`} {
		for _, v6 := range []string{`null`, `""`, `"::"`, `"::/0"`} {
			t.Run("unknown "+v4+" "+v6, func(t *testing.T) {
				// The legacy key must not come to its aid.
				r := parse(t, `"ipmi_address":"192.0.2.9"`, `"bmc_address":`+v4+`,"bmc_v6address":`+v6)
				if len(r.BMCAddresses) != 0 {
					t.Errorf("got %v", r.BMCAddresses)
				}
			})
		}
	}
	for _, c := range []struct {
		name, top, inventory string
		want                 []string
	}{
		{"both", "", `"bmc_address":"192.0.2.1","bmc_v6address":"2001:DB8::1/64"`, []string{"192.0.2.1", "2001:db8::1"}},
		{"loopback (G48)", "", `"bmc_address":"127.0.0.5","bmc_v6address":"::1"`, nil},
		{"SQL (G26)", "", `"bmc_address":"x' UNION SELECT 1 --"`, nil},
		{"legacy alone", `"ipmi_address":"192.0.2.9"`, ``, []string{"192.0.2.9"}},
		{"legacy beside the inventory's", `"ipmi_address":"192.0.2.9"`, `"bmc_address":"192.0.2.1"`, []string{"192.0.2.1"}},
		{"v4 in v6", "", `"bmc_v6address":"::ffff:192.0.2.1"`, []string{"192.0.2.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parse(t, c.top, c.inventory).BMCAddresses); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type names map[string][]netip.Addr

func (n names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	if _, ok := ctx.Deadline(); !ok {
		return nil, errors.New("a look-up without a deadline")
	}
	if a, ok := n[host]; ok {
		return a, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestBMCAddressesOfANode(t *testing.T) {
	dns := names{
		"bmc7.rack.example": {netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")},
		"localhost":         {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")},
	}
	for _, c := range []struct {
		name  string
		info  map[string]any
		want  []string
		notes int
	}{
		{"a URL", map[string]any{"redfish_address": "https://192.0.2.1:8443/redfish"}, []string{"192.0.2.1"}, 0},
		{"a URL with an IPv6 address", map[string]any{"redfish_address": "https://[2001:DB8::1]:443"}, []string{"2001:db8::1"}, 0},
		{"an address", map[string]any{"ipmi_address": "192.0.2.1"}, []string{"192.0.2.1"}, 0},
		{"an address and port", map[string]any{"redfish_address": "192.0.2.1:8000"}, []string{"192.0.2.1"}, 0},
		{"an IPv6 address, bare and in brackets", map[string]any{"ipmi_address": "2001:db8::1", "redfish_address": "[2001:db8::2]"}, []string{"2001:db8::1", "2001:db8::2"}, 0},
		{"a name", map[string]any{"redfish_address": "https://bmc7.rack.example"}, []string{"192.0.2.7", "2001:db8::7"}, 0},
		{"a name that nobody knows", map[string]any{"redfish_address": "bmc9.rack.example", "ipmi_address": "192.0.2.1"}, []string{"192.0.2.1"}, 1},
		{"loopback (G48)", map[string]any{"redfish_address": "http://127.0.0.1:8000", "ipmi_address": "localhost"}, nil, 0},
		{"the same twice", map[string]any{"redfish_address": "https://192.0.2.1", "ipmi_address": "192.0.2.1"}, []string{"192.0.2.1"}, 0},
		{"behind an IPMI bridge", map[string]any{"ipmi_address": "192.0.2.1", "ipmi_bridging": "single"}, nil, 0},
		{"no bridge", map[string]any{"ipmi_address": "192.0.2.1", "ipmi_bridging": "no"}, []string{"192.0.2.1"}, 0},
		{"other keys and types", map[string]any{"redfish_username": "192.0.2.1", "x_address": nil, "y_address": map[string]any{}}, nil, 0},
		{"nonsense", map[string]any{"redfish_address": "https://%zz"}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, notes := inventory.BMCAddresses(t.Context(), dns, c.info)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(notes) != c.notes {
				t.Errorf("notes: %v", notes)
			}
		})
	}
}
