package ironic

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cagenut/node"
	"cagenut/web/openapi"
)

func (a *api) mediaOperations() []operation {
	op := func(method, does string, since int, older error, answer openapi.Answer, do func(*request) error) operation {
		o := openapi.Operation{Method: method, Path: "/v1/nodes/:node/vmedia", Does: does, Tag: "states", Since: since, Answers: []openapi.Answer{answer}, May: []int{409, 502, 504}}
		return operation{o, older, do}
	}
	drive := openapi.Record(map[string]*openapi.Schema{
		"media_types": openapi.ListOf(openapi.OneOf("CD", "USBStick", "Floppy")), "inserted": openapi.Typed("boolean"), "image": openapi.Typed("string", "null"),
	})
	list := op("GET", "Ask the BMC what is in the virtual drives.", 93, &node.NotFound{Text: "The resource could not be found."},
		openapi.Answer{Status: 200, Shows: openapi.Shows(openapi.ListOf(drive))}, a.listMedia)
	attach := op("POST", "Put an image into a virtual drive.", 89, nil, openapi.Answer{Status: 204}, a.attachMedium)
	attach.Body = openapi.Arguments{
		{Name: "device_type", Required: true, Kind: openapi.Word(invalidDevice, mediumKinds()...)},
		{Name: "image_url", Does: "Where the BMC gets the image, by http or https.", Required: true, Kind: imageAddress()},
		{Name: "image_download_source", Does: "Always http: the BMC gets the image from image_url itself.", Kind: openapi.Word(func(said string) error {
			return node.Invalidf("Invalid image_download_source %s: here BMCs get images from image_url themselves, which is http", said)
		}, "http")},
	}
	detach := op("DELETE", "Empty virtual drives.", 89, nil, openapi.Answer{Status: 204}, a.detachMedia)
	detach.Query = []openapi.Parameter{{Name: "device_types", Does: "Of which kinds; all without it.", Kind: deviceTypes{}}}
	return []operation{list, attach, detach}
}

// mediumKinds are the words of the wire (contract.md §3.6).
func mediumKinds() []string {
	return []string{string(node.MediumDisk), string(node.MediumCD), string(node.MediumFloppy)}
}

func invalidDevice(said string) error {
	return node.Invalidf("Invalid device type(s) %s (valid are %s)", said, strings.Join(mediumKinds(), ", "))
}

// deviceTypes is the kind of a comma list of kinds of media.
type deviceTypes struct{}

func (d deviceTypes) Reads(minor int) *openapi.Schema { return d.Takes(minor) }

func (deviceTypes) Takes(int) *openapi.Schema { return openapi.ListOf(openapi.OneOf(mediumKinds()...)) }

func (deviceTypes) Check(_ string, raw json.RawMessage, _ int) error {
	var list string
	if json.Unmarshal(raw, &list) != nil || list == "" {
		return nil
	}
	var invalid []string
	for _, kind := range strings.Split(list, ",") {
		if !slices.Contains(mediumKinds(), kind) {
			invalid = append(invalid, kind)
		}
	}
	if len(invalid) > 0 {
		return invalidDevice(strings.Join(invalid, ", "))
	}
	return nil
}

var webAddress = regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\s]`)

// longestAddress is in characters.
const longestAddress = 4096

// imageAddress is the kind of an address that a BMC can get an image from. Refusals do not quote it: it may hold a
// password.
func imageAddress() openapi.Kind {
	most := longestAddress
	s := &openapi.Schema{Type: "string", Pattern: webAddress.String(), MaxLength: &most}
	return openapi.Custom(s, s, func(name string, raw json.RawMessage) error {
		var address string
		if openapi.IsNull(raw) || json.Unmarshal(raw, &address) != nil {
			return node.Invalidf("Expected string for %s", name)
		}
		if !webAddress.MatchString(address) {
			return node.Invalidf("Unsupported or missing URL scheme: %s has to begin with http:// or https:// and a host", name)
		}
		if utf8.RuneCountInString(address) > most {
			return node.Invalidf("Schema error for %s: the value is longer than %d characters", name, most)
		}
		return nil
	})
}

func (a *api) listMedia(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	drives, err := a.Conductor.VirtualMedia(r.UserContext(), ident)
	if err != nil {
		return err
	}
	// Ironic shows Redfish's words here, not those by which media are attached.
	words := map[node.MediumKind]string{node.MediumCD: "CD", node.MediumDisk: "USBStick", node.MediumFloppy: "Floppy"}
	out := []map[string]any{}
	for _, d := range drives {
		types := []string{}
		for _, k := range d.Kinds {
			if word, ok := words[k]; ok {
				types = append(types, word)
			}
		}
		out = append(out, map[string]any{"media_types": types, "inserted": d.Inserted, "image": textOrNull(d.URL)})
	}
	return r.JSON(out)
}

func (a *api) attachMedium(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	kind := node.MediumKind(r.args.Text("device_type"))
	if err := a.Conductor.AttachVirtualMedia(r.UserContext(), r.actor(), ident, kind, r.args.Text("image_url")); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) detachMedia(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	var kinds []node.MediumKind
	if list := r.query.Get("device_types"); list != "" {
		for _, k := range strings.Split(list, ",") {
			kinds = append(kinds, node.MediumKind(k))
		}
	}
	if err := a.Conductor.DetachVirtualMedia(r.UserContext(), r.actor(), ident, kinds); err != nil {
		return err
	}
	return r.empty(204)
}
