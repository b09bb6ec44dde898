package redfish

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"cagenut/node"
)

// mostSystems bounds how many systems of one BMC are looked at to find the server.
const mostSystems = 16

// system is a ComputerSystem as far as we use it.
type system struct {
	path         string
	etag         string
	power        string
	manufacturer string
	boot         bootState
	reset        resetAction
	settings     string // path of its settings object, "" without one
	all          resource
}

type bootState struct {
	enabled, target, mode string
	targets               []string // allowed targets; empty: not said
	enabledValues         []string // allowed values of enabled; empty: not said
}

type resetAction struct {
	target string
	types  []string // allowed types; empty: not said
}

func decodeSystem(path, etag string, body []byte) system {
	o := object(body)
	s := system{
		path: path, etag: etag, all: o, power: text(o["PowerState"]), manufacturer: text(o["Manufacturer"]),
		settings: link(object(o["@Redfish.Settings"])["SettingsObject"]),
	}
	if s.etag == "" {
		s.etag = text(o["@odata.etag"])
	}
	b := object(o["Boot"])
	s.boot = bootState{
		enabled: text(b["BootSourceOverrideEnabled"]), target: text(b["BootSourceOverrideTarget"]), mode: text(b["BootSourceOverrideMode"]),
		targets:       texts(b["BootSourceOverrideTarget@Redfish.AllowableValues"]),
		enabledValues: texts(b["BootSourceOverrideEnabled@Redfish.AllowableValues"]),
	}
	a := object(object(o["Actions"])["#ComputerSystem.Reset"])
	s.reset = resetAction{target: linkPath(text(a["target"])), types: texts(a["ResetType@Redfish.AllowableValues"])}
	return s
}

// read gets a resource, with the ETag of the header.
func read(g *gofish.APIClient, path string) (body []byte, etag string, err error) {
	res, err := g.Get(path)
	if err != nil {
		return nil, "", err
	}
	defer schemas.DeferredCleanupHTTPResponse(res)
	body, err = io.ReadAll(res.Body)
	return body, res.Header.Get("ETag"), err
}

// fetch reads the node's system anew.
func (c *client) fetch(g *gofish.APIClient) (system, error) {
	known := c.remembered()
	path, err := c.find(g)
	if err != nil {
		return system{}, err
	}
	s, err := c.fetchAt(g, path)
	if c.system == "" && known != "" && c.remembered() == "" { // what was remembered is gone: firmware updates rename systems
		if path, err = c.find(g); err == nil {
			s, err = c.fetchAt(g, path)
		}
	}
	return s, err
}

func (c *client) fetchAt(g *gofish.APIClient, path string) (system, error) {
	body, etag, err := read(g, path)
	if status(err) == 404 {
		c.choose("")
		return system{}, node.Invalidf("The BMC %s has no system %s: check driver_info['redfish_system_id'] on node %s.", c.base, path, c.node.UUID)
	}
	if err != nil {
		return system{}, err
	}
	s := decodeSystem(path, etag, body)
	if len(s.reset.types) == 0 {
		s.reset.types = actionInfo(g, body)
	}
	return s, nil
}

// actionInfo reads the allowed reset types where only a link leads to them; an odd answer counts as "not said".
func actionInfo(g *gofish.APIClient, systemBody []byte) []string {
	a := object(object(object(systemBody)["Actions"])["#ComputerSystem.Reset"])
	path := linkPath(text(a["@Redfish.ActionInfo"]))
	if path == "" {
		return nil
	}
	body, _, err := read(g, path)
	if err != nil {
		return nil
	}
	for _, p := range items(object(body)["Parameters"]) {
		if o := object(p); text(o["Name"]) == "ResetType" {
			return texts(o["AllowableValues"])
		}
	}
	return nil
}

// find is the path of the node's system: driver_info's, the one remembered, or the one that can be reset and told what to boot
// (quirk 44: BMCs list accelerator boards as systems, sometimes first).
func (c *client) find(g *gofish.APIClient) (string, error) {
	if c.system != "" {
		return c.system, nil
	}
	if path := c.remembered(); path != "" {
		return path, nil
	}
	body, _, err := read(g, c.systemsPath())
	if err != nil {
		return "", err
	}
	var paths []string
	for _, m := range items(object(body)["Members"]) { // an odd list is an empty one
		if p := link(m); p != "" {
			paths = append(paths, p)
		}
	}
	switch len(paths) {
	case 0:
		return "", node.Invalidf("The BMC %s lists no system: set driver_info['redfish_system_id'] on node %s.", c.base, c.node.UUID)
	case 1:
		return c.choose(paths[0]), nil
	}
	path, err := c.best(g, paths[:min(len(paths), mostSystems)])
	if err != nil {
		return "", err
	}
	return c.choose(path), nil
}

func (c *client) best(g *gofish.APIClient, paths []string) (string, error) {
	resettable := ""
	for _, p := range paths {
		s, err := c.fetchAt(g, p)
		if err != nil {
			var missing *node.Invalid
			if status(err) != 0 || errors.As(err, &missing) {
				continue // a board that is off answers 503, one that is gone 404
			}
			return "", err
		}
		if s.reset.target == "" || (len(s.reset.types) > 0 && !slices.Contains(s.reset.types, "On")) {
			continue
		}
		if len(s.boot.targets) > 0 || s.boot.target != "" {
			return p, nil
		}
		if resettable == "" {
			resettable = p
		}
	}
	if resettable != "" {
		return resettable, nil
	}
	return paths[0], nil
}

// choose remembers the system of this BMC; "" forgets it.
func (c *connection) choose(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chosen = path
	return path
}

func (c *connection) remembered() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chosen
}

func (c *connection) systemsPath() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.systems
}

// powerState is the state in node's words: a server on its way counts as what it still is, so that only a confirmed state ends a
// wait.
func (s system) powerState() node.PowerState {
	switch s.power {
	case "On", "Paused", "PoweringOff":
		return node.PowerOn
	case "Off", "PoweringOn":
		return node.PowerOff
	}
	return ""
}

func (s system) supermicro() bool {
	return strings.Contains(strings.ToLower(s.manufacturer), "supermicro")
}
