package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cagenut/node"
)

// schemaError is Ironic's sentence for a document of the wrong shape; path is "" for the document itself.
func schemaError(path, format string, a ...any) error {
	if path != "" {
		path += ": "
	}
	return node.Invalidf("Schema error for data: %s%s", path, fmt.Sprintf(format, a...))
}

// document decodes the top level of a body.
func document(body []byte) (map[string]json.RawMessage, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, schemaError("", "the body is empty")
	}
	if err := checkDepth(body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, new(unread)); err != nil {
		return nil, schemaError("", "the body is not valid JSON: %s", err)
	}
	return object("", bytes.TrimSpace(body))
}

// unread has a document checked and nothing of it kept.
type unread struct{}

func (*unread) UnmarshalJSON([]byte) error { return nil }

func object(path string, v json.RawMessage) (map[string]json.RawMessage, error) {
	if v[0] != '{' {
		return nil, schemaError(path, "%s is not of type 'object'", excerpt(v))
	}
	o, err := Members(v)
	if err != nil {
		return nil, schemaError(path, "%s", err)
	}
	return o, nil
}

// checkInventory refuses what has not the minimum schema of contract.md §4.1. It returns the elements of `interfaces`.
func checkInventory(inventory map[string]json.RawMessage) ([]json.RawMessage, error) {
	const path = "inventory"
	v, ok := inventory["interfaces"]
	if !ok {
		return nil, schemaError(path, "'interfaces' is a required property")
	}
	if v[0] != '[' {
		return nil, schemaError(path+".interfaces", "%s is not of type 'array'", excerpt(v))
	}
	list, err := Elements(v, maxInterfaces)
	if err != nil {
		return nil, schemaError(path+".interfaces", "%s", err)
	}
	if len(list) == 0 {
		return nil, schemaError(path+".interfaces", "[] is too short")
	}
	for i, v := range list {
		where := fmt.Sprintf("%s.interfaces[%d]", path, i)
		fields, err := object(where, v)
		if err != nil {
			return nil, err
		}
		mac, ok := fields["mac_address"]
		if !ok {
			return nil, schemaError(where, "'mac_address' is a required property")
		}
		if mac[0] != '"' {
			return nil, schemaError(where+".mac_address", "%s is not of type 'string'", excerpt(mac))
		}
	}
	for _, key := range []string{"bmc_address", "bmc_v6address"} {
		if v := inventory[key]; !isNull(v) && v[0] != '"' {
			return nil, schemaError(path+"."+key, "%s is not of type 'string', 'null'", excerpt(v))
		}
	}
	return list, nil
}
