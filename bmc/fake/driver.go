package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

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
	light node.Indicator
}

var (
	_ bmc.Driver    = (*Driver)(nil)
	_ bmc.Abilities = (*client)(nil)
)

// New makes a driver that knows no node yet.
func New() *Driver { return &Driver{machines: map[string]*machine{}} }

const (
	delayKey = "fake_answer_delay"
	maxDelay = 300 * time.Second
)

// Validate checks fake_answer_delay, the one thing that a pretended BMC can be told.
func (d *Driver) Validate(n node.Node) error {
	_, err := answerDelay(n)
	return err
}

// answerDelay is how long the node's BMC takes for every answer.
func answerDelay(n node.Node) (time.Duration, error) {
	v := n.DriverInfo[delayKey]
	if v == nil {
		return 0, nil
	}
	text, _ := node.Text(v)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxDelay.Seconds()) {
		return 0, node.Invalidf("driver_info/%s has to be a number of seconds from 0 to %g: %v", delayKey, maxDelay.Seconds(), v)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// Address is the node itself: each has its own pretended BMC.
func (d *Driver) Address(n node.Node) (bmc.Address, error) {
	return bmc.Address{Queue: n.UUID}, d.Validate(n)
}

// Open gives the node's machine; a new one has the power state that the node has, else is off, and boots from the network.
func (d *Driver) Open(n node.Node) (bmc.Client, error) {
	delay, err := answerDelay(n)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.machines[n.UUID]
	if !ok {
		m = &machine{power: n.PowerState, boot: node.Boot{Device: node.BootPXE}, light: node.IndicatorOff}
		if m.power != node.PowerOn {
			m.power = node.PowerOff
		}
		d.machines[n.UUID] = m
	}
	return &client{Lacks: bmc.Lacks{Driver: n.Driver}, d: d, m: m, driver: n.Driver, name: "pretended BMC of node " + n.UUID, delay: delay}, nil
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

// client has the light alone of what BMCs have beyond power and boot.
type client struct {
	bmc.Lacks
	d            *Driver
	m            *machine
	driver, name string
	delay        time.Duration
}

// answer lets the BMC take its time, then look at its machine or change it.
func (c *client) answer(ctx context.Context, act func(*machine)) error {
	if c.delay > 0 {
		t := time.NewTimer(c.delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return &node.Unreachable{What: c.name, Timeout: true, Err: err}
		}
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	act(c.m)
	return nil
}

// Power is the pretended state.
func (c *client) Power(ctx context.Context) (power node.PowerState, err error) {
	err = c.answer(ctx, func(m *machine) { power = m.power })
	return power, err
}

// SetPower is done when it returns.
func (c *client) SetPower(ctx context.Context, action node.PowerAction) error {
	to := action.Result()
	if to == "" {
		return &node.Unsupported{Driver: c.driver, Extension: string(action)}
	}
	return c.answer(ctx, func(m *machine) { m.power = to })
}

// Boot is what SetBoot left.
func (c *client) Boot(ctx context.Context) (boot node.Boot, err error) {
	err = c.answer(ctx, func(m *machine) { boot = m.boot })
	return boot, err
}

// SetBoot keeps the device for Boot.
func (c *client) SetBoot(ctx context.Context, b node.Boot) error {
	if b.Device != node.BootNone && !slices.Contains(bootDevices(), b.Device) {
		return node.Invalidf("Invalid boot device %s specified.", b.Device)
	}
	return c.answer(ctx, func(m *machine) { m.boot = b })
}

// SupportedBoot is the network alone, as with Ironic's fake hardware.
func (c *client) SupportedBoot(ctx context.Context) ([]node.BootDevice, error) {
	return bootDevices(), c.answer(ctx, func(*machine) {})
}

func bootDevices() []node.BootDevice { return []node.BootDevice{node.BootPXE} }

// Indicator is what SetIndicator left; off before.
func (c *client) Indicator(ctx context.Context) (light node.Indicator, err error) {
	err = c.answer(ctx, func(m *machine) { light = m.light })
	return light, err
}

// SetIndicator is done when it returns.
func (c *client) SetIndicator(ctx context.Context, to node.Indicator) error {
	return c.answer(ctx, func(m *machine) { m.light = to })
}
