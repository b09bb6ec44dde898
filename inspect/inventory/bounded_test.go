package inventory_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory"
)

func TestElementsAreCutWhereTheyEnd(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string
	}{
		{`[]`, nil},
		{" [ \n ] ", nil},
		{`[1]`, []string{`1`}},
		{` [ 1 , "a,b" ,[ 2,[3] ], {"x":"]}" , "y":[]} ,null, true ,-1.5e3 ] `, []string{`1`, `"a,b"`, `[ 2,[3] ]`, `{"x":"]}" , "y":[]}`, `null`, `true`, `-1.5e3`}},
		{`["\"", "\\", "\\\"", "a\\"]`, []string{`"\""`, `"\\"`, `"\\\""`, `"a\\"`}},
		{`["["]`, []string{`"["`}},
	} {
		t.Run(c.list, func(t *testing.T) {
			got, err := inventory.Elements(json.RawMessage(c.list), 10)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, e := range got {
				texts = append(texts, string(e))
			}
			if diff := cmp.Diff(c.want, texts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersAreCutWhereTheyEnd(t *testing.T) {
	got, err := inventory.Members(json.RawMessage(` { "a" : 1 , "b\"\u0063" : "}" , "d":{"e":[1,{}]},"a":2 } `))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]json.RawMessage{"a": json.RawMessage("2"), `b"c`: json.RawMessage(`"}"`), "d": json.RawMessage(`{"e":[1,{}]}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOfAListThatIsTooLongTheBeginningIsThere(t *testing.T) {
	got, err := inventory.Elements(json.RawMessage("["+strings.Repeat("0,", 1_000_000)+"0]"), 3)
	if len(got) != 3 || err == nil {
		t.Errorf("%d elements, %v", len(got), err)
	}
	if _, err := inventory.Elements(json.RawMessage(`[1,2,3]`), 3); err != nil {
		t.Errorf("a list that just fits: %v", err)
	}
}

func TestAMemberSaidManyTimesIsOne(t *testing.T) {
	got, err := inventory.Members(json.RawMessage("{" + strings.Repeat(`"a":0,`, 100_000) + `"a":1}`))
	if err != nil || len(got) != 1 || string(got["a"]) != "1" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWhatIsNoListOrObject(t *testing.T) {
	for _, v := range []string{`7`, `"[]"`, `null`, ``, `true`} {
		if _, err := inventory.Elements(json.RawMessage(v), 3); err == nil {
			t.Errorf("%s is no list", v)
		}
		if _, err := inventory.Members(json.RawMessage(v)); err == nil {
			t.Errorf("%s is no object", v)
		}
	}
}

// A part that is grown must not run into its neighbour: all share the report's bytes.
func TestGrowingAPartLeavesItsNeighbourAlone(t *testing.T) {
	body := json.RawMessage(`[1,2]`)
	got, err := inventory.Elements(body, 10)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got[0], "99"...)
	if string(body) != `[1,2]` {
		t.Errorf("the list is now %s", body)
	}
}

// FuzzSplit: on valid JSON the cuts are where encoding/json sees them; on anything else nothing worse than nonsense happens.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x\\\"",{"b":null}],"c":-1e9}`, `[[],{},"\u0022",true]`, `{"a":1,"a":[2]}`, `[`, `{"a"`, `{"a":`, `["\`, `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		elements, err := inventory.Elements(body, 1000)
		fields, err2 := inventory.Members(body)
		if !json.Valid(body) {
			return
		}
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && list != nil && len(list) < 1000 {
			if err != nil || !slices.EqualFunc(list, elements, same) {
				t.Errorf("%s: %v, %v", body, elements, err)
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(body, &object) == nil && object != nil && len(object) < 1000 {
			if err2 != nil || !maps.EqualFunc(object, fields, same) {
				t.Errorf("%s: %v, %v", body, fields, err2)
			}
		}
		if err == nil && err2 == nil {
			t.Errorf("%s is a list and an object", body)
		}
	})
}

func same(a, b json.RawMessage) bool { return string(a) == string(b) }

// FuzzReport: a body is refused as invalid, or read within its bounds.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"inventory":{"interfaces":[{"name":"eth0","mac_address":"02:00:5e:00:00:01"}]}}`))
	f.Add([]byte(`{"inventory":{"interfaces":[{"mac_address":"","ipv4_addresses":[null,7,"192.0.2.1/24"]}],"memory":{"physical_bytes":1e30},"disks":[{"size_bytes":-1,"path":"/dev/x","removable":0}]},"lshw":[{"children":[{"id":"core","children":[{"id":"memory:0","children":[{"id":"bank:0","size":1}]}]}]}],"pci_devices":[{"vendor_id":"0X8086"}],"logs":"a\/b"}`))
	f.Add([]byte(`{"inventory":{"interfaces":[{"mac_address":"\u0000"}],"disks":[{"serial":["a",null]}],"boot":{"pxe_interface":"01-02"}},"error":[1],"ipmi_address":"::/0"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := inventory.Parse(body)
		if err != nil {
			if !isInvalid(err) || len(err.Error()) > 1000 {
				t.Fatalf("refused with %T: %v", err, err)
			}
			return
		}
		if !json.Valid(r.Inventory) || len(r.Interfaces) > 64 || len(r.Disks) > 256 || len(r.Notes) > 102 {
			t.Errorf("%d interfaces, %d disks, %d notes, inventory %s", len(r.Interfaces), len(r.Disks), len(r.Notes), r.Inventory)
		}
		if r.Memory.PhysicalMB < 0 || r.CPU.Count < 0 {
			t.Errorf("%+v %+v", r.Memory, r.CPU)
		}
		for _, mac := range r.MACs() {
			if len(mac) != 17 {
				t.Errorf("MAC %q", mac)
			}
		}
		r.PCIDevices()
		inventory.Disks(r.Inventory)
	})
}
