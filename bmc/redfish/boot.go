package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"cagenut/node"
)

// verifyReads is how often the override is read back before it counts as not taken: some BMCs show it a moment later.
const verifyReads = 3

// targets are the boot sources of a device, the preferred first.
func (s system) targetsOf(d node.BootDevice) []string {
	switch d {
	case node.BootPXE:
		return []string{"Pxe"}
	case node.BootDisk:
		return []string{"Hdd"}
	case node.BootCDROM:
		if s.supermicro() {
			return []string{"UsbCd", "Cd"} // quirk 12
		}
		return []string{"Cd"}
	case node.BootBIOS:
		return []string{"BiosSetup"}
	}
	return nil
}

// target is the boot source to send for a device.
func (s system) targetOf(d node.BootDevice) (string, bool) {
	for _, t := range s.targetsOf(d) {
		if len(s.boot.targets) == 0 || slices.Contains(s.boot.targets, t) {
			return t, true
		}
	}
	return "", false
}

func deviceOf(target string) node.BootDevice {
	switch target {
	case "Pxe":
		return node.BootPXE
	case "Hdd":
		return node.BootDisk
	case "Cd", "UsbCd":
		return node.BootCDROM
	case "BiosSetup":
		return node.BootBIOS
	}
	return node.BootNone
}

// Boot reads the override.
func (c *client) Boot(ctx context.Context) (b node.Boot, err error) {
	err = c.within(ctx, "read the boot device", func(_ context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		if err == nil && !s.boot.none() {
			b.Device = deviceOf(s.boot.target)
			b.Persistent = b.Device != node.BootNone && s.boot.enabled == "Continuous"
		}
		return err
	})
	return b, err
}

// none tells that no override is set; some BMCs keep showing a target beside "Disabled".
func (b bootState) none() bool {
	return b.enabled == "" || b.enabled == "Disabled" || b.target == "" || b.target == "None"
}

// SupportedBoot is what the BMC allows; where it does not say, what every BMC has.
func (c *client) SupportedBoot(ctx context.Context) (devices []node.BootDevice, err error) {
	err = c.within(ctx, "read the boot devices", func(_ context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		for _, d := range []node.BootDevice{node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS} {
			if _, ok := s.targetOf(d); ok && err == nil {
				devices = append(devices, d)
			}
		}
		return err
	})
	return devices, err
}

// SetBoot writes the override and reads it back. Bodies are minimal: BMCs refuse what they sent themselves (quirk 5).
func (c *client) SetBoot(ctx context.Context, b node.Boot) error {
	return c.within(ctx, "set the boot device", func(ctx context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		if err != nil {
			return err
		}
		if b.Device == node.BootNone && s.boot.none() {
			return nil
		}
		bodies, err := c.bootBodies(s, b)
		if err != nil {
			return err
		}
		pending, err := c.write(ctx, g, s, bodies)
		if err != nil || pending {
			return err
		}
		return c.confirm(ctx, g, s.path, b)
	})
}

// bootBodies are the bodies to try, one after the other while the BMC refuses them (quirks 7 to 10).
func (c *client) bootBodies(s system, b node.Boot) ([]map[string]string, error) {
	if b.Device == node.BootNone {
		return []map[string]string{
			{"BootSourceOverrideEnabled": "Disabled"},
			{"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"},
			{"BootSourceOverrideTarget": "None"},
		}, nil
	}
	target, ok := s.targetOf(b.Device)
	if !ok {
		return nil, c.unsupported("boot device " + string(b.Device))
	}
	enabled := "Once"
	if b.Persistent {
		enabled = "Continuous"
	}
	if len(s.boot.enabledValues) > 0 && !slices.Contains(s.boot.enabledValues, enabled) {
		return nil, c.unsupported("a persistent boot device")
	}
	short := map[string]string{"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target}
	mode := s.boot.mode
	if mode == "" || mode == "None" {
		return []map[string]string{short}, nil
	}
	switch c.node.BootMode {
	case "uefi":
		mode = "UEFI"
	case "bios":
		mode = "Legacy"
	}
	full := map[string]string{"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target, "BootSourceOverrideMode": mode}
	return []map[string]string{full, short}, nil
}

// write patches the system, else its settings object (quirks 3 and 4); pending says that it went there and shows only after the
// next reset.
func (c *client) write(ctx context.Context, g *gofish.APIClient, s system, bodies []map[string]string) (pending bool, err error) {
	for _, body := range bodies {
		if err = c.patch(ctx, g, s.path, s.etag, body); err == nil || !refusedBody(err) {
			return false, err
		}
	}
	if s.settings == "" || s.settings == s.path {
		return false, err
	}
	_, etag, readErr := read(g, s.settings)
	if readErr != nil {
		return false, err
	}
	for _, body := range bodies {
		if c.patch(ctx, g, s.settings, etag, body) == nil {
			return true, nil
		}
	}
	return false, err
}

// patch sends one body. A stale ETag is read again once, then left out (quirks 18, 20, 21); a busy BMC is asked again.
func (c *client) patch(ctx context.Context, g *gofish.APIClient, path, etag string, body map[string]string) error {
	stale := 0
	for try := 1; ; try++ {
		headers := map[string]string{}
		if etag != "" {
			headers["If-Match"] = etag
		}
		res, err := g.PatchWithHeaders(path, map[string]any{"Boot": body}, headers)
		schemas.DeferredCleanupHTTPResponse(res)
		switch {
		case err == nil:
			return nil
		case status(err) == http.StatusPreconditionFailed && stale < 2:
			if stale++; stale == 1 {
				if _, etag, err = read(g, path); err != nil {
					return err
				}
				continue
			}
			etag = ""
		case busy(err) && try < c.options.BusyTries && sleep(ctx, c.options.BusyPause) == nil:
			if _, fresh, readErr := read(g, path); readErr == nil && etag != "" {
				etag = fresh
			}
		default:
			return err
		}
	}
}

// is tells whether the override is what was asked for. One that stays although it was asked for once will do: the end of an
// inspection removes it.
func (b bootState) is(want node.Boot) bool {
	if want.Device == node.BootNone || b.none() {
		return want.Device == node.BootNone && b.none()
	}
	return deviceOf(b.target) == want.Device && (!want.Persistent || b.enabled == "Continuous")
}

// confirm reads the override back: some BMCs say yes and keep what they had.
func (c *client) confirm(ctx context.Context, g *gofish.APIClient, path string, want node.Boot) error {
	for try := 1; ; try++ {
		s, err := c.fetchAt(g, path)
		if err != nil {
			return err
		}
		if s.boot.is(want) {
			return nil
		}
		if try == verifyReads {
			return &node.Unreachable{What: "BMC " + c.base, Answered: true, Err: errors.New("set the boot device: accepted, but it is not what the BMC shows afterwards")}
		}
		if err := sleep(ctx, c.options.Poll); err != nil {
			return err
		}
	}
}
