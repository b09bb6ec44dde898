package conductor_test

import (
	"context"
	"sync"
	"sync/atomic"

	"cagenut/conductor"
	"cagenut/node"
)

// rack holds one BMC per node.
type rack struct {
	mu    sync.Mutex
	bmcs  map[string]*testBMC
	first func() // called once, when somebody has got a BMC to themselves
	looks atomic.Int64
}

func newRack() *rack { return &rack{bmcs: map[string]*testBMC{}} }

// testBMC obeys at once, unless it fails or is told to call somebody before each command.
type testBMC struct {
	mu      sync.Mutex
	power   node.PowerState
	boot    node.Boot
	fail    error
	noBoot  error           // answers every change of the override
	noPower error           // answers every command about the power
	silent  bool            // answers nothing until the caller gives up
	stuck   node.PowerState // what the power stays, whatever is asked
	log     []string
	calls   int
	before  func(command string)
	// looking is called while the power is being read; what is read is what it was before.
	looking func()
}

func (r *rack) of(uuid string) *testBMC {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bmcs[uuid] == nil {
		r.bmcs[uuid] = &testBMC{power: node.PowerOff}
	}
	return r.bmcs[uuid]
}

func (r *rack) Validate(n node.Node) error {
	if n.DriverInfo["redfish_address"] == nil {
		return node.Invalidf("driver_info of node %s lacks redfish_address", n.UUID)
	}
	return nil
}

func (r *rack) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	b := r.of(n.UUID)
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	b.mu.Lock()
	b.calls++
	fail, silent := b.fail, b.silent
	b.mu.Unlock()
	if silent {
		<-ctx.Done()
		return &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: ctx.Err()}
	}
	if fail != nil {
		return fail
	}
	return fn(b)
}

// Look is Do: this rack leaves no BMC alone.
func (r *rack) Look(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	r.looks.Add(1)
	return r.Do(ctx, n, fn)
}

func (r *rack) Forget(n node.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.bmcs, n.UUID)
}

func (b *testBMC) Power(context.Context) (node.PowerState, error) {
	b.mu.Lock()
	power, looking := b.power, b.looking
	b.mu.Unlock()
	if looking != nil {
		looking()
	}
	return power, nil
}

func (b *testBMC) SetPower(_ context.Context, a node.PowerAction) error {
	if b.before != nil {
		b.before(string(a))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.noPower != nil {
		return b.noPower
	}
	b.log = append(b.log, string(a))
	b.power = a.Result()
	if b.stuck != "" {
		b.power = b.stuck
	}
	return nil
}

func (b *testBMC) Boot(context.Context) (node.Boot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.boot, nil
}

func (b *testBMC) SetBoot(_ context.Context, boot node.Boot) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.noBoot != nil {
		return b.noBoot
	}
	b.log = append(b.log, "boot "+string(boot.Device))
	b.boot = boot
	return nil
}

func (b *testBMC) SupportedBoot(context.Context) ([]node.BootDevice, error) {
	return []node.BootDevice{node.BootPXE}, nil
}

// set changes the BMC's behaviour and forgets what it was told before.
func (b *testBMC) set(change func(*testBMC)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log, b.calls = nil, 0
	change(b)
}

func (b *testBMC) seen() (calls int, log []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, append([]string{}, b.log...)
}
