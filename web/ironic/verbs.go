package ironic

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
)

// provisionArguments are what PUT states/provision takes beside the target (contract.md §2.3).
var provisionArguments = []string{"configdrive", "clean_steps", "deploy_steps", "service_steps", "rescue_password", "disable_ramdisk", "runbook"}

func (a *api) setProvision(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	args, err := body(c, append([]string{"target"}, provisionArguments...)...)
	if err != nil {
		return err
	}
	req := conductor.ProvisionRequest{Minor: minor(c)}
	if req.Target, err = args.text("target"); err != nil {
		return err
	}
	for _, k := range sortedKeys(args) {
		if k != "target" {
			req.Arguments = append(req.Arguments, k)
		}
	}
	if err := a.Conductor.SetProvisionState(c.UserContext(), actor(c), ident, req); err != nil {
		return err
	}
	return a.accepted(c)
}

func (a *api) setPower(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	args, err := body(c, "target", "timeout")
	if err != nil {
		return err
	}
	req := conductor.PowerRequest{Minor: minor(c)}
	if req.Target, err = args.text("target"); err != nil {
		return err
	}
	if raw, ok := args["timeout"]; ok && !isNull(raw) {
		var seconds int
		if json.Unmarshal(raw, &seconds) != nil || seconds < 1 {
			return node.Invalidf("timeout has to be positive integer")
		}
		req.Timeout = time.Duration(seconds) * time.Second
	}
	if err := a.Conductor.SetPower(c.UserContext(), actor(c), ident, req); err != nil {
		return err
	}
	return a.accepted(c)
}

func (a *api) setMaintenance(c *fiber.Ctx) error {
	args, err := body(c, "reason")
	if err != nil {
		return err
	}
	reason, err := args.optionalText("reason")
	if err != nil {
		return err
	}
	return a.maintain(c, true, reason)
}

func (a *api) endMaintenance(c *fiber.Ctx) error { return a.maintain(c, false, "") }

func (a *api) maintain(c *fiber.Ctx, on bool, reason string) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	if err := a.Conductor.SetMaintenance(c.UserContext(), actor(c), ident, on, reason); err != nil {
		return err
	}
	return empty(c, fiber.StatusAccepted)
}

func (a *api) showBootDevice(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	b, err := a.Conductor.BootDevice(c.UserContext(), ident)
	if err != nil {
		return err
	}
	if b.Device == node.BootNone {
		return c.JSON(map[string]any{"boot_device": nil, "persistent": nil})
	}
	return c.JSON(map[string]any{"boot_device": b.Device, "persistent": b.Persistent})
}

// bootDevices are the words that the wire may use.
var bootDevices = []node.BootDevice{node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS, node.BootSafe}

func (a *api) setBootDevice(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	args, err := body(c, "boot_device", "persistent")
	if err != nil {
		return err
	}
	device, err := args.text("boot_device")
	if err != nil {
		return err
	}
	if !slices.Contains(bootDevices, node.BootDevice(device)) {
		return node.Invalidf("Invalid boot device %s specified.", device)
	}
	persistent, err := args.flag("persistent")
	if err != nil {
		return err
	}
	if err := a.Conductor.SetBootDevice(c.UserContext(), actor(c), ident, node.Boot{Device: node.BootDevice(device), Persistent: persistent}); err != nil {
		return err
	}
	return empty(c, fiber.StatusNoContent)
}

func (a *api) listBootDevices(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	list, err := a.Conductor.SupportedBootDevices(c.UserContext(), ident)
	if err != nil {
		return err
	}
	return c.JSON(map[string]any{"supported_boot_devices": append([]node.BootDevice{}, list...)})
}

// continueInspection is where ramdisks report (contract.md §4.1). The answer comes once the report is stored.
func (a *api) continueInspection(c *fiber.Ctx) error {
	if m := minor(c); m > 1 && m < 84 {
		return &fault{fiber.StatusNotFound, "API version 1.84 or newer is required"}
	}
	q := query(c)
	known := []string{"attempt"}
	if minor(c) >= 84 {
		known = append(known, "node_uuid")
	}
	if err := only(q, known...); err != nil {
		return err
	}
	if u := q.Get("node_uuid"); u != "" && !node.IsUUID(u) {
		return node.Invalidf("Expected UUID for node_uuid: %s", u)
	}
	who := actor(c)
	who.Source = node.SourceRamdisk
	n, err := a.Conductor.Report(c.UserContext(), who, conductor.ReportRequest{
		Body: bytes.Clone(c.Body()), NodeUUID: q.Get("node_uuid"), Token: node.Secret(q.Get("attempt")),
	})
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(map[string]string{"uuid": n.UUID})
}
