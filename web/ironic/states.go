package ironic

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web/openapi"
)

// provisionArguments are what PUT states/provision takes beside the target (contract.md §2.3).
var provisionArguments = []string{"configdrive", "clean_steps", "deploy_steps", "service_steps", "rescue_password", "disable_ramdisk", "runbook"}

func (a *api) stateOperations() []operation {
	op := func(method, path, does string, body openapi.Body, answer openapi.Answer, do func(*request) error) operation {
		o := openapi.Operation{Method: method, Path: "/v1/nodes/:node" + path, Does: does, Tag: "states", Body: body, Answers: []openapi.Answer{answer}}
		if method != "GET" {
			o.May = []int{403, 409}
		}
		return operation{o, nil, do}
	}
	since := func(n int, older error, o operation) operation { o.Since, o.older = n, older; return o }
	asks := func(o operation) operation { o.May = append(o.May, 409, 502, 504); return o }
	accepted := openapi.Answer{Status: 202}
	verb := openapi.Answer{Status: 202, Location: true}
	none := openapi.Answer{Status: 204}
	shows := func(s *openapi.Schema) openapi.Answer { return openapi.Answer{Status: 200, Shows: openapi.Shows(s)} }
	target := func(k openapi.Kind) openapi.Parameter {
		return openapi.Parameter{Name: "target", Required: true, Kind: k}
	}
	provision := openapi.Arguments{target(openapi.Text(255))}
	for _, name := range provisionArguments {
		provision = append(provision, openapi.Parameter{Name: name, Kind: openapi.Anything()})
	}
	modes := &fault{404, "This endpoint is supported starting with the API version 1.76"}
	console := op("GET", "/states/console", "Show the console.", nil, shows(openapi.Record(map[string]*openapi.Schema{"console_enabled": openapi.Typed("boolean"), "console_info": openapi.Typed("object", "null")})), a.showConsole)
	turned := console // Ironic's routing serves it this way round too, and its API tests ask so
	turned.Path = "/v1/nodes/states/console/:node"
	device := openapi.Arguments{{Name: "boot_device", Required: true, Kind: bootDevices()}, {Name: "persistent", Kind: openapi.Flag()}}
	return []operation{
		op("GET", "/states", "Show the states of a node.", nil, openapi.Answer{Status: 200, Shows: a.statesSchema}, a.showStates),
		asks(op("PUT", "/states/provision", "Ask for a change of the provision state, such as an abort.", provision, verb, a.setProvision)),
		op("PUT", "/states/power", "Ask for a change of the power.", openapi.Arguments{target(openapi.Text(255)),
			{Name: "timeout", Does: "Seconds that it may take.", Kind: timeout()}}, verb, a.setPower),
		console, turned,
		op("PUT", "/states/console", "Switch the console on or off.", openapi.Arguments{{Name: "enabled", Required: true, Kind: openapi.Flag()}}, accepted, a.setConsole),
		since(12, node.ErrNotAcceptable, op("PUT", "/states/raid", "Say which RAID configuration the node shall get.", raidBody{}, none, a.setRAID)),
		since(76, modes, op("PUT", "/states/boot_mode", "Set the boot mode.", openapi.Arguments{target(openapi.Text(255))}, verb, a.setBootMode)),
		since(76, modes, op("PUT", "/states/secure_boot", "Switch secure boot on or off.", openapi.Arguments{target(openapi.Flag())}, verb, a.setSecureBoot)),
		op("PUT", "/maintenance", "Put a node into maintenance.", openapi.Arguments{{Name: "reason", Kind: openapi.Text(4096)}}, accepted, a.setMaintenance),
		op("DELETE", "/maintenance", "Take a node out of maintenance.", nil, accepted, a.endMaintenance),
		asks(op("GET", "/management/boot_device", "Ask the BMC what the node boots from.", nil,
			shows(openapi.Record(map[string]*openapi.Schema{"boot_device": openapi.Typed("string", "null"), "persistent": openapi.Typed("boolean", "null")})), a.showBootDevice)),
		asks(op("PUT", "/management/boot_device", "Set what the node boots from.", device, none, a.setBootDevice)),
		asks(op("GET", "/management/boot_device/supported", "Ask the BMC what the node can boot from.", nil,
			shows(openapi.Record(map[string]*openapi.Schema{"supported_boot_devices": openapi.ListOf(openapi.Typed("string"))})), a.listBootDevices)),
	}
}

// bootDevices are the words that the wire may use; which of them a node knows is its driver's business.
func bootDevices() openapi.Kind {
	var words []string
	for _, d := range []node.BootDevice{node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS, node.BootSafe, node.BootWANBoot} {
		words = append(words, string(d))
	}
	return openapi.Word(func(said string) error { return node.Invalidf("Invalid boot device %s specified.", said) }, words...)
}

// timeout is the kind of a number of seconds from 1 on.
func timeout() openapi.Kind {
	inner := openapi.Integer(1, "timeout has to be positive integer")
	return openapi.Custom(inner.Reads(0), inner.Takes(0), func(name string, raw json.RawMessage) error {
		if inner.Check(name, raw, 0) != nil {
			return node.Invalidf("timeout has to be positive integer")
		}
		return nil
	})
}

// stateFields are the keys of GET states; each equals the node's own.
var stateFields = []string{"console_enabled", "last_error", "power_state", "provision_state", "target_power_state", "target_provision_state",
	"provision_updated_at", "raid_config", "target_raid_config", "boot_mode", "secure_boot"}

func (a *api) statesSchema(minor int) *openapi.Schema {
	keys := map[string]*openapi.Schema{}
	for _, name := range stateFields {
		if f, _ := a.nodes.field(name); f.since <= minor {
			keys[name] = f.kind.Reads(minor)
		}
	}
	return openapi.Record(keys)
}

func (a *api) showStates(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	return r.JSON(a.nodes.show(n, r.minor, stateFields))
}

func (a *api) setProvision(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	req := conductor.ProvisionRequest{Minor: r.minor, Target: r.args.Text("target")}
	for _, k := range slices.Sorted(maps.Keys(r.args)) {
		if k != "target" {
			req.Arguments = append(req.Arguments, k)
		}
	}
	if err := a.Conductor.SetProvisionState(r.UserContext(), r.actor(), ident, req); err != nil {
		return err
	}
	return a.accepted(r)
}

func (a *api) setPower(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	req := conductor.PowerRequest{Minor: r.minor, Target: r.args.Text("target")}
	seconds := 0
	if err := r.args.Into("timeout", &seconds); err != nil {
		return err
	}
	req.Timeout = time.Duration(seconds) * time.Second
	if err := a.Conductor.SetPower(r.UserContext(), r.actor(), ident, req); err != nil {
		return err
	}
	return a.accepted(r)
}

func (a *api) showConsole(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	on, info, err := a.Conductor.Console(r.UserContext(), ident)
	if err != nil {
		return err
	}
	return r.JSON(map[string]any{"console_enabled": on, "console_info": info})
}

func (a *api) setConsole(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	if err := a.Conductor.SetConsole(r.UserContext(), r.actor(), ident, r.args.Flag("enabled")); err != nil {
		return err
	}
	return r.empty(202)
}

// raidBody is the body of PUT states/raid: the configuration itself.
type raidBody struct{}

func (raidBody) Takes(int) *openapi.Schema { return openapi.Typed("object") }

func (a *api) setRAID(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	if err := openapi.Object().Check("target_raid_config", r.Body(), r.minor); err != nil {
		return err
	}
	if err := a.Conductor.SetRAIDConfig(r.UserContext(), r.actor(), ident, readDocument(r.Body())); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) setBootMode(r *request) error {
	if mode := r.args.Text("target"); mode != "uefi" && mode != "bios" {
		return node.Invalidf("Invalid boot mode %s specified.", mode)
	}
	return a.unsupported("set_boot_mode")(r)
}

func (a *api) setSecureBoot(r *request) error { return a.unsupported("set_secure_boot")(r) }

func (a *api) setMaintenance(r *request) error { return a.maintain(r, true, r.args.Text("reason")) }

func (a *api) endMaintenance(r *request) error { return a.maintain(r, false, "") }

func (a *api) maintain(r *request, on bool, reason string) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	if err := a.Conductor.SetMaintenance(r.UserContext(), r.actor(), ident, on, reason); err != nil {
		return err
	}
	return r.empty(202)
}

func (a *api) showBootDevice(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	b, err := a.Conductor.BootDevice(r.UserContext(), ident)
	if err != nil {
		return err
	}
	if b.Device == node.BootNone {
		return r.JSON(map[string]any{"boot_device": nil, "persistent": nil})
	}
	return r.JSON(map[string]any{"boot_device": b.Device, "persistent": b.Persistent})
}

func (a *api) setBootDevice(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	b := node.Boot{Device: node.BootDevice(r.args.Text("boot_device")), Persistent: r.args.Flag("persistent")}
	if err := a.Conductor.SetBootDevice(r.UserContext(), r.actor(), ident, b); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) listBootDevices(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	list, err := a.Conductor.SupportedBootDevices(r.UserContext(), ident)
	if err != nil {
		return err
	}
	return r.JSON(map[string]any{"supported_boot_devices": append([]node.BootDevice{}, list...)})
}
