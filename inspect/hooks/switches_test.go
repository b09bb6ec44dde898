package hooks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/node"
)

const (
	macA = "02:00:5e:00:00:01"
	macB = "02:00:5e:00:00:02"
	macC = "02:00:5e:00:00:03"
)

// three interfaces, the first with the given further members.
func three(members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"name":"eno1","mac_address":%q%s},{"name":"eno2","mac_address":%q},{"name":"eno3","mac_address":%q}`, strings.ToUpper(macA), members, macB, macC)
}

const (
	leaf1 = `[[1,"0402005e100001"],[2,"0545746831"],[5,"6c6561663a31"],[0,""]]` // MAC …:01, port Eth1, name leaf:1
	leaf2 = `[[1,"076c656166"],[2,"0545746832"]]`                               // a chassis by name, port Eth2
)

func TestLocalLinkConnection(t *testing.T) {
	type links map[string]map[string]any
	known := func(llc map[string]any) []node.Port {
		p := ports(macA, macB)
		p[0].LocalLinkConnection = llc
		return p
	}
	all := map[string]any{"switch_id": "02:00:5e:10:00:01", "port_id": "Eth1", "switch_info": "leaf:1"}
	for _, c := range []struct {
		name, top, first string
		ports            []node.Port
		want             links // of the ports that changed
		note             string
	}{
		{"what the ramdisk's collector heard", `"lldp_raw":{"eno1":` + leaf1 + `,"eno2":` + leaf2 + `,"eno3":` + leaf1 + `}`, "", known(nil), links{macA: all, macB: {"port_id": "Eth2"}}, ""},
		{"what is in the inventory", "", `"lldp":` + leaf1, known(nil), links{macA: all}, ""},
		{"the collector's goes first", `"lldp_raw":{"eno1":` + leaf2 + `}`, `"lldp":` + leaf1, known(nil), links{macA: {"port_id": "Eth2"}}, ""},
		{"unless it is empty", `"lldp_raw":{"eno1":[],"eno2":null}`, `"lldp":` + leaf1, known(nil), links{macA: all}, ""},
		{"as somebody parsed it already", `"parsed_lldp":{"eno1":{"switch_chassis_id":"02:00:5E:10:00:01","switch_port_id":"Eth1","switch_system_name":"leaf:1"}}`, "", known(nil), links{macA: all}, ""},
		{"as the inspector service keeps it", `"all_interfaces":{"eno1":{"mac":"x","lldp_processed":{"switch_chassis_id":"leaf","switch_port_id":"Eth1"}}}`, "", known(nil), links{macA: {"port_id": "Eth1"}}, ""},
		{"what is there is never overwritten", `"lldp_raw":{"eno1":` + leaf1 + `}`, "", known(map[string]any{"switch_id": "somebody's", "port_id": nil, "network_type": "managed"}),
			links{macA: {"switch_id": "somebody's", "port_id": nil, "network_type": "managed", "switch_info": "leaf:1"}}, ""},
		{"nothing new", `"lldp_raw":{"eno1":` + leaf1 + `}`, "", known(all), links{}, ""},
		{"a bad value among good ones (G20)", `"lldp_raw":{"eno1":[[1,"0402005e100001"],[2,"0545746"],[5,"fffec328"]]}`, "", known(nil), links{macA: {"switch_id": "02:00:5e:10:00:01"}}, `interface "eno1": LLDP entry 1 was left out: the value of type 2 is not hexadecimal`},
		{"nothing was heard", "", "", known(nil), links{}, ""},
		{"odd shapes", `"lldp_raw":[7],"parsed_lldp":"x","all_interfaces":{"eno1":7}`, `"lldp":"none"`, known(nil), links{}, `interface "eno1": the LLDP data were not read`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := runHooks(t, "validate-interfaces,local-link-connection", hooks.Settings{}, hooks.Input{Ports: c.ports}, report(c.top, three(c.first), `"boot":{"pxe_interface":"`+macA+`"}`))
			got := links{}
			for _, p := range f.PortUpdates {
				got[p.Address] = p.LocalLinkConnection
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			noted(t, f, c.note)
		})
	}
}

func TestLocalLinkConnectionOfAPortThatTheSameRunMakes(t *testing.T) {
	body := report(`"lldp_raw":{"eno1":`+leaf1+`}`, three(""), `"boot":{"pxe_interface":"`+macA+`"}`)
	for list, want := range map[string]any{"validate-interfaces,ports,local-link-connection": "Eth1", "validate-interfaces,local-link-connection,ports": nil} {
		f := runHooks(t, list, hooks.Settings{}, hooks.Input{}, body)
		if len(f.NewPorts) != 1 || f.NewPorts[0].LocalLinkConnection["port_id"] != want || len(f.PortUpdates) != 0 {
			t.Errorf("%s: new %+v, changed %+v", list, f.NewPorts, f.PortUpdates)
		}
	}
}

func TestALinkDoesNotChangeThePortThatWasHandedIn(t *testing.T) {
	in := ports(macA)
	in[0].LocalLinkConnection = map[string]any{"port_id": "mine"}
	runHooks(t, "validate-interfaces,local-link-connection", hooks.Settings{}, hooks.Input{Ports: in}, report(`"lldp_raw":{"eno1":`+leaf1+`}`, three(""), ""))
	if len(in[0].LocalLinkConnection) != 1 {
		t.Errorf("it was changed: %v", in[0].LocalLinkConnection)
	}
}

func TestParseLLDP(t *testing.T) {
	one := map[string]any{"switch_chassis_id": "02:00:5e:10:00:01", "switch_port_id": "Eth1", "switch_system_name": "leaf:1"}
	two := map[string]any{"switch_chassis_id": "leaf", "switch_port_id": "Eth2"}
	for _, c := range []struct {
		name, top, first string
		want             any
		note             string
	}{
		{"the collector's and the inventory's", `"lldp_raw":{"eno2":` + leaf2 + `}`, `"lldp":` + leaf1, map[string]any{"eno1": one, "eno2": two}, ""},
		{"an interface without a port, too", `"lldp_raw":{"eno3":` + leaf2 + `}`, "", map[string]any{"eno3": two}, ""},
		{"what was parsed already stays", `"parsed_lldp":{"eno2":{"switch_port_id":"x"},"gone":{"switch_port_id":"y"}}`, `"lldp":` + leaf1,
			map[string]any{"eno1": one, "eno2": map[string]any{"switch_port_id": "x"}, "gone": map[string]any{"switch_port_id": "y"}}, ""},
		{"and what was parsed anew goes first", `"parsed_lldp":{"eno1":{"switch_port_id":"x"}}`, `"lldp":` + leaf1, map[string]any{"eno1": one}, ""},
		{"as the inspector service keeps it", `"all_interfaces":{"eno1":{"lldp_processed":{"switch_port_id":"x"}}}`, "", map[string]any{"eno1": map[string]any{"switch_port_id": "x"}}, ""},
		{"bad values are left out (G20)", "", `"lldp":[[1,"04112233aabbcc"],[5,"fffec328"],[2,"073733345"],[127,"` + strings.Repeat("00", 600) + `"],[0,""]]`,
			map[string]any{"eno1": map[string]any{"switch_chassis_id": "11:22:33:aa:bb:cc"}}, `interface "eno1": LLDP type 5 was left out: its text is not UTF-8`},
		{"nothing but bad values", "", `"lldp":[[1,"04"]]`, nil, "LLDP type 1 was left out"},
		{"nothing was heard", "", `"lldp":null`, nil, ""},
		{"an empty frame", "", `"lldp":[[0,""]]`, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := runHooks(t, "parse-lldp", hooks.Settings{}, hooks.Input{}, report(c.top, three(c.first), ""))
			if diff := cmp.Diff(c.want, pluginData(t, f)["parsed_lldp"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			noted(t, f, c.note)
		})
	}
}

// Both hooks read the same frames; what is wrong with them is told once.
func TestWhatIsWrongWithAFrameIsNotedOnce(t *testing.T) {
	f := runHooks(t, "validate-interfaces,ports,local-link-connection,parse-lldp", hooks.Settings{}, hooks.Input{}, report("", three(`"lldp":[[2,"xyz"]]`), `"boot":{"pxe_interface":"`+macA+`"}`))
	if len(f.Notes) != 1 {
		t.Errorf("notes %q", f.Notes)
	}
}

// G20: the most that can be reported, 64 interfaces with 512 statements each, half of them bad.
func TestAFloodOfLLDPIsBounded(t *testing.T) {
	frame := "[" + strings.TrimSuffix(strings.Repeat(`[127,"0080c2030065037261"],[5,"fffec328"],[127,"0080c20408002642420300aaaa"],`, 400), ",") + "]"
	var nics []string
	for i := range 64 {
		nics = append(nics, fmt.Sprintf(`{"name":"e%d","mac_address":"02:00:5e:00:01:%02x","lldp":%s}`, i, i, frame))
	}
	f := runHooks(t, "default,local-link-connection,parse-lldp", hooks.Settings{}, hooks.Input{}, report("", strings.Join(nics, ","), ""))
	if len(f.Notes) > 201 {
		t.Errorf("%d notes", len(f.Notes))
	}
	if len(pluginData(t, f)["parsed_lldp"].(map[string]any)) != 64 {
		t.Error("not every interface was read")
	}
}

func TestPhysicalNetwork(t *testing.T) {
	var networks []hooks.PhysicalNetwork
	for _, s := range []string{"192.0.2.0/24:rack-7", "192.0.0.0/8:wide", "2001:db8:7::/64:rack-7-v6", "203.0.113.9/24:odd"} {
		n, err := hooks.ParsePhysicalNetwork(s)
		if err != nil {
			t.Fatal(err)
		}
		networks = append(networks, n)
	}
	for _, c := range []struct{ name, first, before, want string }{
		{"by IPv4", `"ipv4_address":"192.0.2.7"`, "", "rack-7"},
		{"the first that fits, of two", `"ipv4_address":"192.0.3.7"`, "", "wide"},
		{"by IPv6, with a zone", `"ipv6_address":"2001:db8:7::5%eno1"`, "", "rack-7-v6"},
		{"IPv4 goes before IPv6", `"ipv4_address":"192.0.2.7","ipv6_address":"2001:db8:7::5"`, "", "rack-7"},
		{"IPv6 where IPv4 fits nothing", `"ipv4_address":"198.51.100.1","ipv6_address":"2001:db8:7::5"`, "", "rack-7-v6"},
		{"a subnet spelt by a host in it", `"ipv4_address":"203.0.113.200"`, "", "odd"},
		{"another one than before", `"ipv4_address":"192.0.2.7"`, "old", "rack-7"},
		{"the same as before", `"ipv4_address":"192.0.2.7"`, "rack-7", "-"},
		{"an address that fits nothing", `"ipv4_address":"198.51.100.1"`, "old", "-"},
		{"no address", "", "old", "-"},
		{"an address that is none", `"ipv4_address":"192.0.2"`, "old", "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := ports(macA, macB)
			in[0].PhysicalNetwork = c.before
			f := runHooks(t, "validate-interfaces,physical-network", hooks.Settings{PhysicalNetworks: networks}, hooks.Input{Ports: in}, report("", three(c.first), ""))
			got := "-"
			for _, p := range f.PortUpdates {
				if p.Address != macA {
					t.Errorf("port %s was changed", p.Address)
				}
				got = p.PhysicalNetwork
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPhysicalNetworksThatAreNone(t *testing.T) {
	for _, s := range []string{"", "192.0.2.0/24", "192.0.2.0/24:", ":rack", "192.0.2.0:rack", "192.0.2.0/33:rack", "2001:db8::/64", "192.0.2.0/24:" + strings.Repeat("x", 65)} {
		if n, err := hooks.ParsePhysicalNetwork(s); err == nil || !strings.Contains(err.Error(), "subnet:name") {
			t.Errorf("%q became %+v, %v", s, n, err)
		}
	}
}
