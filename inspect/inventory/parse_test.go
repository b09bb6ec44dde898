package inventory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// G22: 400, with the field named.
func TestParseRefusesWhatHasNotTheMinimumShape(t *testing.T) {
	const nic = `{"mac_address":"02:00:5e:00:00:01"}`
	for _, c := range []struct{ name, body, want string }{
		{"empty body", "", "Schema error for data: the body is empty"},
		{"blank body", " \n", "Schema error for data: the body is empty"},
		{"not JSON", `{"inventory":`, "Schema error for data: the body is not valid JSON: unexpected end of JSON input"},
		{"a NUL byte behind it", `{"inventory":{"interfaces":[` + nic + `]}}` + "\x00", "Schema error for data: the body is not valid JSON: invalid character '\\x00' after top-level value"},
		{"a NUL byte in a text", `{"inventory":{"interfaces":[{"mac_address":"` + "\x00" + `"}]}}`, "Schema error for data: the body is not valid JSON: invalid character '\\x00' in string literal"},
		{"nothing but NUL bytes", "\x00\x00\x00", "Schema error for data: the body is not valid JSON: invalid character '\\x00' looking for beginning of value"},
		{"bytes that are no text, nowhere near JSON", "\xff\xfe\xfd", "Schema error for data: the body is not valid JSON: invalid character 'ï' looking for beginning of value"},
		{"two documents", `{} {}`, "Schema error for data: the body is not valid JSON: invalid character '{' after top-level value"},
		{"a list", `[]`, "Schema error for data: [] is not of type 'object'"},
		{"a text", `"x"`, `Schema error for data: "x" is not of type 'object'`},
		{"null", `null`, "Schema error for data: null is not of type 'object'"},
		{"no inventory", `{}`, "Schema error for data: 'inventory' is a required property"},
		{"inventory is a list", `{"inventory":[]}`, "Schema error for data: inventory: [] is not of type 'object'"},
		{"inventory is null", `{"inventory":null}`, "Schema error for data: inventory: null is not of type 'object'"},
		{"no interfaces", `{"inventory":{}}`, "Schema error for data: inventory: 'interfaces' is a required property"},
		{"interfaces is empty", `{"inventory":{"interfaces":[]}}`, "Schema error for data: inventory.interfaces: [] is too short"},
		{"interfaces is an object", `{"inventory":{"interfaces":{}}}`, "Schema error for data: inventory.interfaces: {} is not of type 'array'"},
		{"interfaces is null", `{"inventory":{"interfaces":null}}`, "Schema error for data: inventory.interfaces: null is not of type 'array'"},
		{"an interface is a text", `{"inventory":{"interfaces":["eth0"]}}`, `Schema error for data: inventory.interfaces[0]: "eth0" is not of type 'object'`},
		{"an interface without MAC", `{"inventory":{"interfaces":[` + nic + `,{"name":"eth1"}]}}`, "Schema error for data: inventory.interfaces[1]: 'mac_address' is a required property"},
		{"a MAC that is null", `{"inventory":{"interfaces":[{"mac_address":null}]}}`, "Schema error for data: inventory.interfaces[0].mac_address: null is not of type 'string'"},
		{"a BMC address that is a number", `{"inventory":{"interfaces":[` + nic + `],"bmc_address":7}}`, "Schema error for data: inventory.bmc_address: 7 is not of type 'string', 'null'"},
		{"a BMC v6 address that is a list", `{"inventory":{"interfaces":[` + nic + `],"bmc_v6address":[]}}`, "Schema error for data: inventory.bmc_v6address: [] is not of type 'string', 'null'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := inventory.Parse([]byte(c.body))
			var invalid *node.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want *node.Invalid", err)
			}
			if invalid.Text != c.want {
				t.Errorf("\n got %s\nwant %s", invalid.Text, c.want)
			}
		})
	}
}

// G20, G26: bounded before it is understood.
func TestParseRefusesHostileBodiesCheaply(t *testing.T) {
	nics := func(n int) string {
		return `{"inventory":{"interfaces":[` + strings.TrimSuffix(strings.Repeat(`{"mac_address":"x"},`, n), ",") + `]}}`
	}
	for _, c := range []struct{ name, body, want string }{
		{"100 000 lists deep", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "nested deeper than 25 levels"},
		{"100 000 objects deep, never closed", strings.Repeat(`{"a":`, 100_000), "nested deeper than 25 levels"},
		{"26 levels", strings.Repeat("[", 26) + strings.Repeat("]", 26), "nested deeper than 25 levels"},
		{"65 interfaces", nics(65), "inventory.interfaces: a list of more than 64 elements is too long"},
		{"a million interfaces", nics(1_000_000), "inventory.interfaces: a list of more than 64 elements is too long"},
		{"a hundred thousand keys", `{"inventory":{` + many(100_000) + `}}`, "inventory: an object of more than 1024 members is too long"},
		{"a giant text where an object is due", `{"inventory":"` + strings.Repeat("я", 1<<20) + `"}`, "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			_, err := inventory.Parse([]byte(c.body))
			var invalid *node.Invalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want *node.Invalid with %q", err, c.want)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the error repeats %d bytes of the body", len(err.Error()))
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestParseAllowsWhatOnlyLooksDeep(t *testing.T) {
	for name, value := range map[string]string{
		"25 levels":             strings.Repeat("[", 24) + strings.Repeat("]", 24),
		"brackets in a text":    `"` + strings.Repeat("[", 100) + `"`,
		"brackets after a \\\"": `"\"` + strings.Repeat("{", 100) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := inventory.Parse([]byte(`{"x":` + value + `,"inventory":{"interfaces":[{"mac_address":"02:00:5e:00:00:01"}]}}`)); err != nil {
				t.Error(err)
			}
		})
	}
}

// G25: logs of megabytes come through unchanged, and nowhere else.
func TestParseKeepsDocumentsByteForByte(t *testing.T) {
	inv := `{ "interfaces":[{"mac_address":"02:00:5E:00:00:01","weird" : 1e2}],  "counter":18446744073709551615 }`
	logs := strings.Repeat("QUJD", 1<<20)
	body := `{"z":18446744073709551615,"inventory":` + inv + `,"logs":"` + logs + `","error":"no disks \u2013 Ж","a":{"b": 1.10}}`
	r, err := inventory.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Inventory) != inv {
		t.Errorf("inventory: got %s", r.Inventory)
	}
	want := map[string]json.RawMessage{"z": json.RawMessage("18446744073709551615"), "error": json.RawMessage(`"no disks \u2013 Ж"`), "a": json.RawMessage(`{"b": 1.10}`)}
	if diff := cmp.Diff(want, r.PluginData); diff != "" {
		t.Errorf("plugin data (-want +got):\n%s", diff)
	}
	if string(r.Logs) != logs {
		t.Errorf("logs: %d bytes, want %d", len(r.Logs), len(logs))
	}
	if r.Error != "no disks – Ж" {
		t.Errorf("error: got %q", r.Error)
	}
}

func TestParseReadsTheRamdisksError(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`null`, ""}, {`""`, ""}, {`false`, ""}, {`[]`, ""},
		{`"boom"`, "boom"}, {`["a","b"]`, `["a","b"]`}, {`{"code":7}`, `{"code":7}`},
	} {
		t.Run(c.value, func(t *testing.T) {
			r := parse(t, `"error":`+c.value, "")
			if r.Error != c.want {
				t.Errorf("got %q, want %q", r.Error, c.want)
			}
		})
	}
}

// Logs are taken out of what is kept of a report, which stays as it was otherwise.
func TestWithoutLogs(t *testing.T) {
	for _, c := range []struct{ name, body, rest, logs string }{
		{"in the middle", ` { "a" : 1, "logs":"QUJD" , "inventory": {"b":[ "logs" ]} } `, `{"a":1,"inventory":{"b":[ "logs" ]}}`, "QUJD"},
		{"first", `{"logs":"QUJD","a":1}`, `{"a":1}`, "QUJD"},
		{"alone", `{"logs":"QUJD"}`, `{}`, "QUJD"},
		{"twice", `{"logs":"QQ==","a":1,"logs":"QUJD"}`, `{"a":1}`, "QUJD"},
		{"the name spelt oddly, the text with escapes", `{"l\u006fgs":"QU\/D\n","a":1}`, `{"a":1}`, "QU/D\n"},
		{"none", ` {"a":{"logs":"QUJD"}} `, ` {"a":{"logs":"QUJD"}} `, ""},
		{"no text", `{"a":1,"logs":[7]}`, `{"a":1}`, ""},
		{"null", `{"a":1,"logs":null}`, `{"a":1}`, ""},
		{"nothing at all", `{}`, `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest, logs := inventory.WithoutLogs([]byte(c.body))
			if string(rest) != c.rest || string(logs) != c.logs {
				t.Errorf("got %s and %q, want %s and %q", rest, logs, c.rest, c.logs)
			}
		})
	}
}

// One odd field never sinks a report: it is skipped and noted (design.md §5).
func TestParseSkipsAndNotesOddFields(t *testing.T) {
	for _, c := range []struct {
		name, fields string
		notes        []string
	}{
		{"everything is null", `"cpu":null,"memory":null,"disks":null,"boot":null,"system_vendor":null,"hostname":null`, nil},
		{"everything inside is null", `"cpu":{"count":null,"architecture":null,"flags":null},"memory":{"total":null,"physical_mb":null},"disks":[null],"boot":{"pxe_interface":null}`, nil},
		{"cpu is a list", `"cpu":[]`, []string{"inventory.cpu is not an object of usual size but []; ignored"}},
		{"count is a text", `"cpu":{"count":"many"}`, []string{`inventory.cpu.count is not a whole number but "many"; ignored`}},
		{"count is negative", `"cpu":{"count":-1}`, []string{"inventory.cpu.count is not a whole number but -1; ignored"}},
		{"memory beyond 64 bits", `"memory":{"physical_mb":18446744073709551615}`, []string{"inventory.memory.physical_mb is not a whole number but 18446744073709551615; ignored"}},
		{"disks is an object", `"disks":{}`, []string{"inventory.disks is not a list but {}; ignored"}},
		{"a disk is a text", `"disks":["sda"]`, []string{`inventory.disks[0] is not an object of usual size but "sda"; ignored`}},
		{"rotational is a text", `"disks":[{"rotational":"no"}]`, []string{`inventory.disks[0].rotational is not true or false but "no"; ignored`}},
		{"the boot MAC is none", `"boot":{"pxe_interface":"zz"}`, []string{"inventory.boot.pxe_interface is no MAC: zz; ignored"}},
		{"an address that is none", `"bmc_address":"bmc\u0000","disks":[{"size":[],"serial":{}}]`, []string{"inventory.disks[0].size is not a whole number but []; ignored"}},
		{"sizes that no hardware has", `"memory":{"physical_bytes":9223372036854775807}`, []string{"inventory.memory.physical_bytes is not a size that hardware has but 9223372036854775807; ignored"}},
		{"a zero byte in the boot MAC", `"boot":{"pxe_interface":"\u0000"}`, []string{`inventory.boot.pxe_interface is no MAC: \x00; ignored`}},
		{"a line break stays out of the log", `"boot":{"pxe_interface":"a\nb"}`, []string{`inventory.boot.pxe_interface is no MAC: a\nb; ignored`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, "", c.fields)
			if diff := cmp.Diff(c.notes, r.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if r.CPU.Count != 0 || r.Memory.PhysicalMB != 0 {
				t.Errorf("odd values were used: %+v %+v", r.CPU, r.Memory)
			}
		})
	}
}

// Every typed field of a report once with every wrong type: the report is accepted, and the good fields are used.
func TestAWrongTypeAnywhereCostsThatFieldAlone(t *testing.T) {
	const good = `{"inventory":{"interfaces":[{"name":"eth0","mac_address":"02:00:5e:00:00:01","ipv4_address":"192.0.2.5","ipv6_address":"2001:db8::5","has_carrier":true,"client_id":"ff:00","speed_mbps":1000,"lldp":[]}],
		"cpu":{"architecture":"x86_64","count":4,"model_name":"m","frequency":"1","flags":["vmx"]},"memory":{"physical_mb":1024,"total":7},
		"disks":[{"name":"/dev/sda","size":8589934592,"rotational":false}],"boot":{"current_boot_mode":"uefi","pxe_interface":"02:00:5e:00:00:01"},
		"system_vendor":{"manufacturer":"a","product_name":"b","serial_number":"c"},"hostname":"h","bmc_address":"192.0.2.9"},
		"root_disk":{"name":"/dev/sda","size":8589934592},"boot_interface":"01-02-00-5e-00-00-01","lshw":{"children":[]},"logs":"QUJD","error":null}`
	var fields []string
	for _, m := range regexp.MustCompile(`"([a-z_0-9]+)":`).FindAllStringSubmatch(good, -1) {
		if !slices.Contains([]string{"inventory", "interfaces", "mac_address", "bmc_address", "error"}, m[1]) { // the minimum schema, and what fails a run
			fields = append(fields, m[1])
		}
	}
	for _, field := range fields {
		for _, odd := range []string{`7`, `-1`, `1.5`, `1e400`, `"\u0000"`, `"odd"`, `[]`, `[[]]`, `{}`, `{"a":[null]}`, `true`, `null`} {
			var doc map[string]any
			if err := json.Unmarshal([]byte(good), &doc); err != nil {
				t.Fatal(err)
			}
			body := replaced(t, doc, field, odd)
			r, err := inventory.Parse(body)
			if err != nil {
				t.Errorf("%s as %s: %v", field, odd, err)
				continue
			}
			if !slices.Equal(r.MACs(), []string{"02:00:5e:00:00:01"}) || field != "cpu" && field != "architecture" && r.CPU.Architecture != "x86_64" || field != "memory" && field != "physical_mb" && r.Memory.PhysicalMB != 1024 {
				t.Errorf("%s as %s: good fields were lost: %+v", field, odd, r)
			}
		}
	}
}

// replaced is the document with every member of that name replaced by JSON text.
func replaced(t *testing.T, doc map[string]any, field, by string) []byte {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				if k == field {
					v[k] = json.RawMessage(by)
				} else {
					walk(v[k])
				}
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(doc)
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestParseBoundsItsNotes(t *testing.T) {
	disks := strings.TrimSuffix(strings.Repeat(`7,`, 300), ",")
	r := parse(t, "", `"disks":[`+disks+`]`)
	if len(r.Notes) != 101 || r.Notes[100] != "and 157 more" {
		t.Errorf("%d notes, the last %q", len(r.Notes), r.Notes[len(r.Notes)-1])
	}
}

func TestParseRepairsBytesThatAreNoText(t *testing.T) {
	r := parse(t, "", `"hostname":"a`+"\xff"+`b"`)
	if r.Hostname != "a\uFFFDb" || !json.Valid(r.Inventory) || len(r.Notes) != 1 {
		t.Errorf("got %q, notes %v", r.Hostname, r.Notes)
	}
}

func TestParseReadsWhatTheAgentSends(t *testing.T) {
	r := parse(t, "", `"cpu":{"model_name":"Example","frequency":2095.104,"count":"24","architecture":"x86_64","flags":["vmx",1]},
		"memory":{"total":134917259264,"physical_mb":131072.0},"boot":{"current_boot_mode":"UEFI","pxe_interface":"01-52-54-00-AA-00-01"},
		"system_vendor":{"manufacturer":"Example Corp","product_name":"EdgeBox","serial_number":"EB100-0001"},"hostname":"h"`)
	wantCPU := inventory.CPU{Architecture: "x86_64", Count: 24, Model: "Example", Frequency: "2095.104", Flags: []string{"vmx"}}
	if diff := cmp.Diff(wantCPU, r.CPU); diff != "" {
		t.Error(diff)
	}
	if r.Memory != (inventory.Memory{PhysicalMB: 131072, Total: 134917259264}) {
		t.Errorf("memory: %+v", r.Memory)
	}
	if r.Boot != (inventory.Boot{Mode: "uefi", PXEMAC: "52:54:00:aa:00:01"}) {
		t.Errorf("boot: %+v", r.Boot)
	}
	if r.System != (inventory.System{Manufacturer: "Example Corp", ProductName: "EdgeBox", SerialNumber: "EB100-0001"}) {
		t.Errorf("system: %+v", r.System)
	}
}

// G21.
func TestParseUnderstandsTheBootMACInAnyForm(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"01-02-00-5e-00-00-01", "02:00:5e:00:00:01"},
		{"20-02-00-5e-00-00-01", "02:00:5e:00:00:01"},
		{"02:00:5E:00:00:01", "02:00:5e:00:00:01"},
		{"02-00-5e-00-00-01", "02:00:5e:00:00:01"},
		{"01:02:00:5e:00:00:01", "02:00:5e:00:00:01"},
		{"zz", ""}, {"", ""}, {"01-02-00-5e-00-00-01-05", ""}, {"0102-00-5e-00-00-01", ""},
	} {
		t.Run("pxe_interface "+c.given, func(t *testing.T) {
			if r := parse(t, "", fmt.Sprintf(`"boot":{"pxe_interface":%q}`, c.given)); r.Boot.PXEMAC != c.want {
				t.Errorf("got %q, want %q", r.Boot.PXEMAC, c.want)
			}
		})
		t.Run("boot_interface of an older ramdisk "+c.given, func(t *testing.T) {
			if r := parse(t, fmt.Sprintf(`"boot_interface":%q`, c.given), ""); r.Boot.PXEMAC != c.want {
				t.Errorf("got %q, want %q", r.Boot.PXEMAC, c.want)
			}
		})
	}
}

// G52.
func TestParseTakesPlaceholdersForUnknown(t *testing.T) {
	for serial, want := range map[string]string{
		"Not Specified": "", "": "", "0123456789": "", "To Be Filled By O.E.M.": "", "0000000": "", "  ": "", "ABC123": "ABC123", "0000A1": "0000A1",
	} {
		t.Run(serial, func(t *testing.T) {
			if r := parse(t, "", fmt.Sprintf(`"system_vendor":{"serial_number":%q}`, serial)); r.System.SerialNumber != want {
				t.Errorf("got %q, want %q", r.System.SerialNumber, want)
			}
		})
	}
}

// G14, G26, G51.
func TestParseTellsWhichInterfacesAreEthernet(t *testing.T) {
	body := `{"inventory":{"interfaces":[
		{"name":"eth0","mac_address":"02-00-5E-00-00-01","ipv6_address":"fe80::1%eth0","speed_mbps":null},
		{"name":"ib0","mac_address":"80:00:02:08:fe:80:00:00:00:00:00:00:02:00:5e:03:00:29:26:52","speed_mbps":0},
		{"name":"fc0","mac_address":"21:00:02:00:5e:01:02:03","speed_mbps":"25000"},
		{"name":"x","mac_address":"02:00:5e:00:00:01') OR 1=1 --","speed_mbps":-1},
		{"name":"zero","mac_address":"00:00:00:00:00:00","speed_mbps":2.5},
		{"name":"eth0.100","mac_address":"02:00:5e:00:00:01","ipv4_address":"192.0.2.5/24"},
		{"name":"bond0","mac_address":"02:00:5e:00:00:02"},
		{"name":"br-ex","mac_address":"02:00:5e:00:00:02"}]}}`
	r, err := inventory.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"02:00:5e:00:00:01", "02:00:5e:00:00:02"}, r.MACs()); diff != "" {
		t.Errorf("MACs (-want +got):\n%s", diff)
	}
	type brief struct {
		name, mac, address string
		speed              int64
		virtual            bool
	}
	var got []brief
	for _, i := range r.Interfaces {
		got = append(got, brief{i.Name, i.MAC, i.Address(), i.SpeedMbps, i.Virtual})
	}
	want := []brief{
		{"eth0", "02:00:5e:00:00:01", "fe80::1", 0, false},
		{"ib0", "", "", 0, false}, {"fc0", "", "", 25000, false}, {"x", "", "", 0, false}, {"zero", "", "", 0, false},
		{"eth0.100", "02:00:5e:00:00:01", "192.0.2.5", 0, true}, {"bond0", "02:00:5e:00:00:02", "", 0, true}, {"br-ex", "02:00:5e:00:00:02", "", 0, true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(brief{})); diff != "" {
		t.Errorf("interfaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"inventory.interfaces[4].speed_mbps is not a whole number but 2.5; ignored"}, r.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// G27: MACs that many servers have tell nothing.
func TestIgnoredMACs(t *testing.T) {
	r, err := inventory.Parse([]byte(`{"inventory":{"interfaces":[{"name":"usb0","mac_address":"FA:4B:7F:00:00:01"},{"name":"eth0","mac_address":"02:00:5e:00:00:01"},{"name":"eth1","mac_address":"02:00:00:00:00:02"},{"name":"ib0","mac_address":"garbage"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range []string{"fa-4b-7f", " 02:00:00:00:00:02 "} {
		b, err := inventory.ParseMACBeginning(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	r.Ignore(list)
	if diff := cmp.Diff([]string{"02:00:5e:00:00:01"}, r.MACs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, s := range []string{"", "fa4b7f", "fa:4", "fa:4b:", "fa:4b:7g", "fa:4b:7f:00:00:01:02", "*"} {
		if b, err := inventory.ParseMACBeginning(s); err == nil {
			t.Errorf("%q became %q", s, b)
		}
	}
}

// parse reads a report with one good interface and the given further members.
func parse(t *testing.T, top, inv string) inventory.Report {
	t.Helper()
	if top != "" {
		top += ","
	}
	if inv != "" {
		inv = "," + inv
	}
	r, err := inventory.Parse([]byte(`{` + top + `"inventory":{"interfaces":[{"name":"eth0","mac_address":"02:00:5e:00:00:01"}]` + inv + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":0,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func isInvalid(err error) bool {
	var invalid *node.Invalid
	return errors.As(err, &invalid)
}
