package ipmi

import (
	"context"
	"sync"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc"
	"cagenut/node"
)

// Rung is how long one try to log in waits for each datagram, and how often it repeats it.
type Rung struct {
	Timeout time.Duration
	Retries int
}

// Options bound what the driver does. Zero values are the defaults.
type Options struct {
	// Ladder is climbed until a login succeeds, each rung with a fresh client: 1 s and 3 repetitions, 5 s and 1, 10 s and none.
	Ladder []Rung
	// Operation bounds a whole method of a client; 45 s.
	Operation time.Duration
	// Walk bounds reading all sensors or the whole event log, which takes hundreds of commands; 2 minutes.
	Walk time.Duration
	// Session is the age at which a session of a walk is closed and a fresh one goes on; 20 s. The library starts to keep a
	// session alive from a goroutine of its own after 30 s, which must not happen (bmc.md §4.4).
	Session time.Duration
	// BusyPause is the pause before a command is repeated that the BMC was too busy for; 2 s.
	BusyPause time.Duration
	// BusyTries is how often such a command is tried; 6.
	BusyTries int
	// Poll is the pause between looks at the power state, where a reboot has to be made of off and on; 1 s.
	Poll time.Duration
}

func (o Options) withDefaults() Options {
	if len(o.Ladder) == 0 {
		o.Ladder = []Rung{{time.Second, 3}, {5 * time.Second, 1}, {10 * time.Second, 0}}
	}
	if o.Operation <= 0 {
		o.Operation = 45 * time.Second
	}
	if o.Walk <= 0 {
		o.Walk = 2 * time.Minute
	}
	if o.Session <= 0 {
		o.Session = 20 * time.Second
	}
	if o.BusyPause <= 0 {
		o.BusyPause = 2 * time.Second
	}
	if o.BusyTries <= 0 {
		o.BusyTries = 6
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	return o
}

// Driver talks IPMI. Between clients it keeps only what worked and which sensors there are; there are no sessions to end.
type Driver struct {
	options Options

	mu     sync.Mutex
	worked map[string]way         // by address
	sdrs   map[string]*repository // by address
	// unfinished is how far the reading of repositories came that did not end; by address.
	unfinished map[string]repositoryWalk
}

// way is how a BMC was reached.
type way struct {
	rung  int
	suite types.CipherSuiteID
}

var _ bmc.Driver = (*Driver)(nil)

// New makes a driver that knows no BMC yet.
func New(o Options) *Driver {
	return &Driver{options: o.withDefaults(), worked: map[string]way{}, sdrs: map[string]*repository{}, unfinished: map[string]repositoryWalk{}}
}

// Validate checks driver_info without the network.
func (d *Driver) Validate(n node.Node) error {
	_, err := readSettings(n)
	return err
}

// Address is the BMC's.
func (d *Driver) Address(n node.Node) (bmc.Address, error) {
	s, err := readSettings(n)
	if err != nil {
		return bmc.Address{}, err
	}
	return bmc.Address{Queue: s.address(), Host: s.host}, nil
}

// Open makes a client.
func (d *Driver) Open(n node.Node) (bmc.Client, error) {
	s, err := readSettings(n)
	if err != nil {
		return nil, err
	}
	return &client{Lacks: bmc.Lacks{Driver: n.Driver}, driver: d, settings: s, name: n.Driver}, nil
}

// Forget drops what worked with the node's BMC, and what it said of its sensors.
func (d *Driver) Forget(_ context.Context, n node.Node) {
	if s, err := readSettings(n); err == nil {
		d.forget(s.address())
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.sdrs, s.address())
		delete(d.unfinished, s.address())
	}
}

// Close has nothing to end: every session ended with the call that needed it.
func (d *Driver) Close(context.Context) error { return nil }

// known is what worked last.
func (d *Driver) known(address string) (way, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w, ok := d.worked[address]
	return w, ok
}

func (d *Driver) remember(address string, w way) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.worked[address] = w
}

// slower lets the next session with a BMC begin on the next rung.
func (d *Driver) slower(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w, ok := d.worked[address]; ok && w.rung < len(d.options.Ladder)-1 {
		w.rung++
		d.worked[address] = w
	}
}

func (d *Driver) forget(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.worked, address)
}

// sensorsOf is what the BMC said of its sensors the last time; nil for nothing.
func (d *Driver) sensorsOf(address string) *repository {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sdrs[address]
}

func (d *Driver) keepSensors(address string, r *repository) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sdrs[address] = r
	delete(d.unfinished, address)
}

// unfinishedOf is how far an earlier reading of the BMC's sensors came; the zero value for nowhere.
func (d *Driver) unfinishedOf(address string) repositoryWalk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unfinished[address]
}

func (d *Driver) keepUnfinished(address string, w repositoryWalk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unfinished[address] = w
}
