package node_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func TestNodeNamesThatCouldNotBeAddressedAreRefusedG59(t *testing.T) {
	for name, ok := range map[string]bool{
		"rack1-u03": true, "ns~host": true, "test.json": true, "test": true, "a_b": true, "ports": true, strings.Repeat("n", 255): true,
		"": false, "bad name!": false, "detail": false, "states": false, "maintenance": false, "management": false, "vendor_passthru": false,
		"validate": false, "ünicode": false, "a/b": false, "a\n": false, strings.Repeat("n", 256): false,
		"1be26c0b-03f2-4d2e-ae87-c02d7f33c123": false,
	} {
		err := node.ValidateName(name)
		if (err == nil) != ok {
			t.Errorf("name %q: %v", name, err)
		}
		var invalid *node.Invalid
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("name %q: %T, not an Invalid", name, err)
		}
	}
	if got, want := node.ValidateName("detail").Error(), `The word "detail" is reserved and can not be used as a node name. Reserved words are: maintenance, management, states, vendor_passthru, detail, validate.`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestMACsAreKeptInOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"52:54:00:AB:cd:01": "52:54:00:ab:cd:01", "52-54-00-ab-cd-01": "52:54:00:ab:cd:01", " 52:54:00:ab:cd:01\n": "52:54:00:ab:cd:01",
		"": "", "52:54:00:ab:cd": "", "52:54:00:ab:cd:0g": "", "52:54:00:ab:cd:01:02": "", "525400abcd01": "",
	} {
		mac, ok := node.ParseMAC(in)
		if ok != (want != "") || ok && mac != want {
			t.Errorf("%q: %q, %v", in, mac, ok)
		}
	}
}

func TestASecretReadsAsItsMaskWhereverItIsWritten(t *testing.T) {
	s := node.Secret("calvin-clear")
	holder := struct{ Password node.Secret }{s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("said", "secret", s, "holder", holder)
	doc, err := json.Marshal(map[string]any{"password": s, "holder": holder})
	if err != nil {
		t.Fatal(err)
	}
	for how, text := range map[string]string{
		"%v": fmt.Sprintf("%v", s), "%+v": fmt.Sprintf("%+v", holder), "%#v": fmt.Sprintf("%#v", holder), "String": s.String(), "%q": fmt.Sprintf("%q", s),
		"slog": log.String(), "json": string(doc),
	} {
		if strings.Contains(text, "clear") || !strings.Contains(text, node.Mask) {
			t.Errorf("%s shows %s", how, text)
		}
	}
}

func TestSecretsAreMaskedAtAnyDepthAndTheDocumentIsLeftAlone(t *testing.T) {
	doc := map[string]any{
		"ipmi_password": "p", "ipmi_username": "u", "Redfish_PASSWORD": json.Number("5"), "agent_secret_token": nil,
		"deep": map[string]any{"auth_key": map[string]any{"a": 1}, "list": []any{map[string]any{"token": "t", "port": 1}, "x"}},
	}
	want := map[string]any{
		"ipmi_password": node.Mask, "ipmi_username": "u", "Redfish_PASSWORD": node.Mask, "agent_secret_token": nil,
		"deep": map[string]any{"auth_key": node.Mask, "list": []any{map[string]any{"token": node.Mask, "port": 1}, "x"}},
	}
	if d := cmp.Diff(want, node.MaskSecrets(doc)); d != "" {
		t.Error(d)
	}
	if doc["ipmi_password"] != "p" {
		t.Error("the document itself was masked")
	}
}

func TestANodesPlaceIsReadFromExtra(t *testing.T) {
	for _, c := range []struct {
		extra map[string]any
		want  node.Location
	}{
		{nil, node.Location{Units: 1}},
		{map[string]any{"rack": "R1", "rack_unit": json.Number("12"), "rack_units": 2.0}, node.Location{Rack: "R1", Unit: 12, Units: 2}},
		{map[string]any{"rack": 7, "rack_unit": "12", "rack_units": -1}, node.Location{Rack: "7", Unit: 12, Units: 1}},
		{map[string]any{"rack": json.Number("7"), "rack_unit": " 3 ", "rack_units": "4"}, node.Location{Rack: "7", Unit: 3, Units: 4}},
		{map[string]any{"rack": []any{"R1"}, "rack_unit": true, "rack_units": map[string]any{}}, node.Location{Units: 1}},
		{map[string]any{"rack": nil, "rack_unit": nil, "rack_units": 0}, node.Location{Units: 1}},
		{map[string]any{"rack_unit": 1.5}, node.Location{Units: 1}},
		{map[string]any{"rack_unit": "1.5", "rack_units": "two"}, node.Location{Units: 1}},
		{map[string]any{"rack_unit": -3}, node.Location{Units: 1}},
		{map[string]any{"rack_unit": 1e9, "rack_units": 1e300}, node.Location{Unit: 1e9, Units: 1}},
		{map[string]any{"rack_unit": json.Number("9223372036854775807"), "rack_units": "99999999999999999999"}, node.Location{Units: 1}},
	} {
		if got := (node.Node{Extra: c.extra}).Location(); got != c.want {
			t.Errorf("%v: %+v", c.extra, got)
		}
	}
}

func TestNumbersCountAsTextWithoutLosingDigitsG38(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
		ok   bool
	}{
		{"p", "p", true}, {"", "", true}, {json.Number("123456"), "123456", true}, {json.Number("00"), "00", true}, {123456.0, "123456", true}, {7, "7", true},
		{node.Secret("s"), "s", true}, {int64(1) << 62, "4611686018427387904", true}, {true, "", false}, {nil, "", false}, {[]any{}, "", false},
	} {
		if got, ok := node.Text(c.in); got != c.want || ok != c.ok {
			t.Errorf("Text(%v): %q, %v", c.in, got, ok)
		}
	}
	for _, c := range []struct {
		in   any
		want int64
		ok   bool
	}{
		{1, 1, true}, {int64(2), 2, true}, {3.0, 3, true}, {json.Number("4"), 4, true}, {json.Number("5.0"), 5, true},
		{1.5, 0, false}, {1e300, 0, false}, {json.Number("1e99"), 0, false}, {"6", 0, false}, {nil, 0, false},
	} {
		if got, ok := node.Int(c.in); got != c.want || ok != c.ok {
			t.Errorf("Int(%v): %d, %v", c.in, got, ok)
		}
	}
}

func TestAnInterfaceThatADriverLacksIsRefusedWithThoseItHas(t *testing.T) {
	d, err := node.DriverNamed(node.DriverFake)
	if err != nil {
		t.Fatal(err)
	}
	err = d.FillInterfaces(&node.Interfaces{Inspect: "redfish"})
	const want = "Could not find the following interface in the 'ironic.hardware.interfaces.inspect' entrypoint: redfish. Valid interfaces are ['fake', 'agent', 'inspector', 'no-inspect']."
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
