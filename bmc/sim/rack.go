package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/bougou/go-ipmi/pkg/handlers"

	"cagenut/node"
)

// Options describe a rack. Zero values are the defaults.
type Options struct {
	Servers int // how many; 12
	IPMI    int // how many of them have an IPMI BMC, spread over the rack; the others speak Redfish
	Silent  int // how many are cabled wrongly, spread likewise: they power on but never fetch or report anything

	// BootURL is the base of the boot files, "http://host:port": what DHCP would answer is BootURL/boot.ipxe?mac=….
	// SetBootURL sets it later; without it a network boot fails.
	BootURL string

	PowerDelay  time.Duration // from a power command to its effect; none
	ReportDelay time.Duration // from the ramdisk's start to its report, give or take a third; none
	RetryDelay  time.Duration // the ramdisk's first pause between tries, ×1.5 each time; 5 s as in contract.md §6.1

	User     string // of all BMCs; "admin"
	Password string // of all BMCs, at most 20 bytes; "demo-password"

	// TLS lets the Redfish BMCs speak https, with certificates of a CA of the rack's own (Rack.CA). CAFile, where it is given, is
	// written by Start with that CA's certificate, and named in DriverInfo as redfish_verify_ca.
	TLS    bool
	CAFile string

	FirstAddress string // BMC of the first server, the others follow; "127.77.0.1". 127.0.0.1 where that cannot be used
	FirstPort    int    // set: all BMCs are at FirstAddress, and their ports count up from here
	KeepRequests int    // how many requests each BMC's log keeps at most; 4096
	Seed         uint64 // the same seed makes the same hardware
	Log          *slog.Logger
}

// serversPerRack is how many one rack takes, of one unit each.
const serversPerRack = 42

func (o Options) withDefaults() (Options, error) {
	if o.Servers <= 0 {
		o.Servers = 12
	}
	if o.User == "" {
		o.User = "admin"
	}
	if o.Password == "" {
		o.Password = "demo-password"
	}
	if o.FirstAddress == "" {
		o.FirstAddress = "127.77.0.1"
	}
	if o.RetryDelay <= 0 {
		o.RetryDelay = 5 * time.Second
	}
	if o.KeepRequests <= 0 {
		o.KeepRequests = mostRequests
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.IPMI < 0 || o.Silent < 0 || o.IPMI > o.Servers || o.Silent > o.Servers:
		return o, fmt.Errorf("sim: %d IPMI and %d silent servers of %d", o.IPMI, o.Silent, o.Servers)
	case len(o.Password) > 20 || len(o.User) > 16:
		return o, errors.New("sim: user of more than 16 or password of more than 20 bytes, which IPMI does not take")
	case o.Servers > 2000:
		return o, errors.New("sim: at most 2000 servers")
	case o.CAFile != "" && !o.TLS:
		return o, errors.New("sim: a file for the CA, and no TLS")
	case o.FirstPort < 0 || (o.FirstPort > 0 && o.FirstPort+o.Servers > 65536):
		return o, fmt.Errorf("sim: there are not %d ports from %d on", o.Servers, o.FirstPort)
	}
	return o, nil
}

// Rack is a running simulation.
type Rack struct {
	options   Options
	servers   []*Server
	routes    *http.ServeMux     // of all Redfish BMCs
	commands  *handlers.Registry // of all IPMI BMCs
	authority *authority         // with TLS
	cancel    context.CancelFunc
	wg        sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	bootURL string
}

// Start brings up all BMCs. Every server is off. When ctx ends, so does all that the servers run; the BMCs listen until Close,
// which is needed in either case.
func Start(ctx context.Context, o Options) (*Rack, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	first, err := netip.ParseAddr(o.FirstAddress)
	if err != nil {
		return nil, fmt.Errorf("sim: first address: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Rack{options: o, routes: routes(), commands: commands(), cancel: cancel, bootURL: o.BootURL}
	if o.TLS {
		if err := r.makeAuthority(); err != nil {
			cancel()
			return nil, err
		}
	}
	for i := range o.Servers {
		s := newServer(ctx, r, i)
		port := 0
		if o.FirstPort != 0 {
			port = o.FirstPort + i
		}
		if err := s.listen(first, port); err != nil {
			return nil, errors.Join(fmt.Errorf("sim: BMC of %s: %w", s.Name, err), r.Close())
		}
		r.servers = append(r.servers, s)
		if port == 0 {
			first = first.Next()
		}
	}
	return r, nil
}

// Servers lists all servers, from the bottom of the first rack.
func (r *Rack) Servers() []*Server { return append([]*Server(nil), r.servers...) }

// SetBootURL changes where network boots go from now on.
func (r *Rack) SetBootURL(base string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bootURL = base
}

func (r *Rack) currentBootURL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bootURL
}

// HoldReports lets every ramdisk wait before it reports, until ReleaseReports.
func (r *Rack) HoldReports() {
	for _, s := range r.servers {
		s.HoldReport()
	}
}

// ReleaseReports ends HoldReports.
func (r *Rack) ReleaseReports() {
	for _, s := range r.servers {
		s.ReleaseReport()
	}
}

// Close switches everything off, closes all listeners and waits for all goroutines.
func (r *Rack) Close() error {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.stopBMC())
	}
	r.wg.Wait()
	return errors.Join(errs...)
}

// enter counts the caller among those that Close waits for, until leave. It is false when the rack is closing.
func (r *Rack) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.wg.Add(1)
	return true
}

func (r *Rack) leave() { r.wg.Done() }

// start runs f in a goroutine that Close waits for. Nothing starts any more when the rack is closing.
func (r *Rack) start(f func()) {
	if !r.enter() {
		return
	}
	go func() {
		defer r.leave()
		f()
	}()
}

// share tells whether the i-th of n is one of k that are spread evenly.
func share(i, n, k int) bool { return (i+1)*k/n > i*k/n }

// driverOf spreads the IPMI servers.
func (o Options) driverOf(i int) string {
	if share(i, o.Servers, o.IPMI) {
		return node.DriverIPMI
	}
	return node.DriverRedfish
}

// silentAt spreads the silent servers, counted from the middle so that they do not coincide with the IPMI ones.
func (o Options) silentAt(i int) bool {
	return share((i+o.Servers/2)%o.Servers, o.Servers, o.Silent)
}
