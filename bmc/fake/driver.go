package fake

import (
	"context"
	"slices"
	"sync"

	"cagenut/bmc"
	"cagenut/node"
)

// Driver keeps the pretended power state and boot device of each node, by UUID, until Forget or Close.
type Driver struct {
	mu       sync.Mutex
	machines map[string]*machine
}

type machine struct {
	power node.PowerState
	boot  node.Boot
}

var _ bmc.Driver = (*Driver)(nil)

// New makes a driver that knows no node yet.
func New() *Driver { return &Driver{machines: map[string]*machine{}} }

// Validate accepts any driver_info.
func (d *Driver) Validate(node.Node) error { return nil }

// Address is the node itself: each has its own pretended BMC.
func (d *Driver) Address(n node.Node) (bmc.Address, error) { return bmc.Address{Queue: n.UUID}, nil }

// Open gives the node's machine; a new one has the power state that the node has, else is off, and boots from the network.
func (d *Driver) Open(n node.Node) (bmc.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.machines[n.UUID]
	if !ok {
		m = &machine{power: n.PowerState, boot: node.Boot{Device: node.BootPXE}}
		if m.power != node.PowerOn {
			m.power = node.PowerOff
		}
		d.machines[n.UUID] = m
	}
	return &client{d: d, m: m, driver: n.Driver}, nil
}

// Forget drops the node's machine.
func (d *Driver) Forget(_ context.Context, n node.Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.machines, n.UUID)
}

// Close drops all machines.
func (d *Driver) Close(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.machines)
	return nil
}

type client struct {
	d      *Driver
	m      *machine
	driver string
}

// Power is the pretended state.
func (c *client) Power(ctx context.Context) (node.PowerState, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.m.power, ctx.Err()
}

// SetPower is done when it returns.
func (c *client) SetPower(ctx context.Context, action node.PowerAction) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	to := action.Result()
	if to == "" {
		return &node.Unsupported{Driver: c.driver, Extension: string(action)}
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.m.power = to
	return nil
}

// Boot is what SetBoot left.
func (c *client) Boot(ctx context.Context) (node.Boot, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.m.boot, ctx.Err()
}

// SetBoot keeps the device for Boot.
func (c *client) SetBoot(ctx context.Context, b node.Boot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.Device != node.BootNone && !slices.Contains(bootDevices(), b.Device) {
		return &node.Unsupported{Driver: c.driver, Extension: "boot device " + string(b.Device)}
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.m.boot = b
	return nil
}

// SupportedBoot is every device.
func (c *client) SupportedBoot(ctx context.Context) ([]node.BootDevice, error) {
	return bootDevices(), ctx.Err()
}

func bootDevices() []node.BootDevice {
	return []node.BootDevice{node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS, node.BootSafe}
}
