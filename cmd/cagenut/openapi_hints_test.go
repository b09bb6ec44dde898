package main

import (
	"net/url"

	"github.com/google/jsonschema-go/jsonschema"
)

type resolvedShapes = map[*jsonschema.Schema]*jsonschema.Resolved

func encodeText(s string) string { return url.QueryEscape(s) }

// hintsFor are values that make requests meaningful: a schema cannot tell which words an operation knows.
func hintsFor(name string, here things) []any {
	var out []any
	for _, known := range here[name] {
		out = append(out, known)
	}
	return append(out, hints[name]...)
}

// What the ramdisks of waiting nodes show, and where they listen.
const (
	testToken    = "the-token-of-no-real-ramdisk-at-all"
	testCallback = "https://127.0.0.1:9999"
)

var hints = map[string][]any{
	"target":            {"manage", "provide", "inspect", "abort", "manage", "provide", "inspect", "abort", "deploy", "active", "rebuild", "deleted", "clean", "adopt", "rescue", "unhold", "fail", "power on", "power off", "rebooting", "soft rebooting", "uefi", true},
	"name":              {"n-1", "rack~n-2", "detail", "n.json", nil},
	"driver_info":       {map[string]any{"redfish_address": "http://127.0.0.1:1", "redfish_username": "admin", "redfish_password": "******"}, map[string]any{}},
	"path":              {"/extra/a", "/extra", "/name", "/description", "/driver_info/redfish_password", "/maintenance", "/inspect_interface", "/address", "/priority", "/actions", "/conditions", "/node_uuid", "/owner", "/protected", "/driver"},
	"value":             {"x", "fake", "no-inspect", true, 5, nil, "02:00:5e:00:00:03", map[string]any{"a": map[string]any{"b": 1}}, []any{map[string]any{"op": "log", "args": map[string]any{"msg": "m"}}}},
	"address":           {"02:00:5e:00:00:01", "02:00:5E:00:00:02", "02-00-5e-00-00-03"},
	"callback_url":      {testCallback, testCallback, "http://127.0.0.1:9999", "nonsense"},
	"agent_version":     {"9.1"},
	"agent_token":       {"not-the-token", testToken, testToken},
	"traits":            {[]any{"CUSTOM_A", "HW_CPU_X86_VMX"}, []any{"bogus"}},
	"actions":           {[]any{map[string]any{"op": "set-attribute", "args": map[string]any{"path": "/extra/x", "value": "1"}}}, []any{map[string]any{"op": "fail", "args": []any{"no"}}}, []any{map[string]any{"op": "log", "args": map[string]any{"bogus": 1}}}},
	"conditions":        {[]any{map[string]any{"op": "!eq", "args": map[string]any{"values": []any{"{node.uuid}", "x"}}}}, []any{map[string]any{"op": "is-true", "args": map[string]any{"value": "yes"}}}},
	"op":                {"add", "replace", "remove", "eq", "log"},
	"phase":             {"main", "early", nil},
	"priority":          {0, 9999, 10000},
	"version":           {"1.1", "1.96", "1.97", "2"},
	"inspect_interface": {"fake", "agent", "no-inspect", "nosuch"},
}
