package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"

	ipmiserver "github.com/bougou/go-ipmi/pkg/server"

	"cagenut/node"
)

// Server is one simulated server with its BMC. The fields are what a person would type when enrolling it; they do not change.
type Server struct {
	Name     string
	Driver   string // node.DriverRedfish or node.DriverIPMI
	Address  string // of the BMC: "http://127.77.0.1:8000" for Redfish (https:// with Options.TLS), "127.77.0.2" for IPMI
	Port     int    // of the BMC
	User     string
	Password node.Secret
	BootMAC  string // of the port that boots over the network
	Rack     string
	Unit     int  // lowest unit
	Silent   bool // cabled wrongly: it never fetches or reports anything

	rack     *Rack
	ctx      context.Context
	host     string // of the BMC, without port
	hardware hardware
	machine  *machine
	requests requestLog
	news     news

	mu       sync.Mutex
	faults   map[Fault]*activeFault
	dice     *rand.Rand
	lifted   chan struct{} // closed when the faults change
	released chan struct{} // closed while reports are not held
	hold     bool
	report   reportChanges
	listener net.Listener // of Redfish

	listening atomic.Bool
	http      *http.Server
	tls       tlsSide
	inFlight  atomic.Int32
	overlaps  atomic.Int64 // how often somebody used the BMC while somebody else did
	listRead  atomic.Bool  // whether the list of boot options was read
	psuTold   atomic.Bool  // whether the log tells of the failed power supply
	sessions  sessions
	tasks     tasks
	events    eventLog
	ipmi      *ipmiserver.Server
	account   *account
	keepBoot  atomic.Bool // of IPMI: boot flags do not expire
}

func newServer(ctx context.Context, r *Rack, i int) *Server {
	h := newHardware(r.options.Seed, i)
	s := &Server{
		Name: fmt.Sprintf("r%d-u%02d", i/serversPerRack+1, i%serversPerRack+1), Driver: r.options.driverOf(i),
		User: r.options.User, Password: node.Secret(r.options.Password), BootMAC: h.nics[0].mac,
		Rack: fmt.Sprintf("R%d", i/serversPerRack+1), Unit: i%serversPerRack + 1, Silent: r.options.silentAt(i),
		rack: r, ctx: ctx, hardware: h, lifted: make(chan struct{}), released: make(chan struct{}), dice: rand.New(rand.NewPCG(r.options.Seed, uint64(i)+1)),
	}
	close(s.released)
	s.machine = &machine{server: s, delay: r.options.PowerDelay}
	if s.Driver == node.DriverRedfish {
		s.machine.drives = newDrives()
	}
	s.requests.most = r.options.KeepRequests
	s.events.add(eventCleared) // in the factory
	return s
}

// DriverInfo is the node's driver_info for this server.
func (s *Server) DriverInfo() map[string]any {
	if s.Driver == node.DriverIPMI {
		return map[string]any{"ipmi_address": s.Address, "ipmi_port": s.Port, "ipmi_username": s.User, "ipmi_password": string(s.Password)}
	}
	info := map[string]any{
		"redfish_address": s.Address, "redfish_system_id": systemPath, "redfish_username": s.User, "redfish_password": string(s.Password),
	}
	if s.speaksTLS() && s.rack.options.CAFile != "" {
		info["redfish_verify_ca"] = s.rack.options.CAFile
	}
	return info
}

func (s *Server) speaksTLS() bool { return s.Driver == node.DriverRedfish && s.rack.authority != nil }

// Usual ports; another is taken where they are in use.
const (
	redfishPort = 8000
	ipmiPort    = 6230
)

// listen opens the BMC's port; 0 is the usual one.
func (s *Server) listen(addr netip.Addr, port int) error {
	if s.Driver == node.DriverIPMI {
		return s.listenIPMI(addr, port)
	}
	return s.listenRedfish(addr, port)
}

// firstThatWorks tries the port that was asked for and nothing else, or else the usual port, any port, and any port of 127.0.0.1
// where the system has no other loopback addresses.
func firstThatWorks(addr netip.Addr, port, usual int, listen func(hostport string) error) error {
	if port != 0 {
		return listen(net.JoinHostPort(addr.String(), strconv.Itoa(port)))
	}
	var err error
	for _, hostport := range []string{
		net.JoinHostPort(addr.String(), strconv.Itoa(usual)), net.JoinHostPort(addr.String(), "0"), "127.0.0.1:0",
	} {
		if err = listen(hostport); err == nil {
			return nil
		}
	}
	return err
}

// Power is the server's real power, whatever its BMC says.
func (s *Server) Power() node.PowerState {
	on, _ := s.machine.power()
	return powerState(on)
}

// Boot is the BMC's boot override as it is now.
func (s *Server) Boot() node.Boot { return s.machine.override().Boot }

// Phase is what the server is doing.
func (s *Server) Phase() Phase { return s.machine.currentPhase() }

// SetPower switches the server by hand, at once: somebody pressed the button.
func (s *Server) SetPower(p node.PowerState) { s.machine.press(p == node.PowerOn) }

// ExpireSessions lets the BMC forget all Redfish logins, as a restart of its web server does.
func (s *Server) ExpireSessions() { s.sessions.clear() }

// OpenSessions counts the BMC's logins.
func (s *Server) OpenSessions() int { return s.Sessions().Open }

// Sessions count the BMC's logins since its start.
func (s *Server) Sessions() SessionCounts {
	if s.account != nil {
		return s.account.sessions()
	}
	return s.sessions.count()
}

// Overlaps counts how often the BMC was used by two at once since its start: a request while another one was served, or an IPMI
// session begun while another one was open (G65).
func (s *Server) Overlaps() int { return int(s.overlaps.Load()) }

// Indicator is the light by which people find the server.
func (s *Server) Indicator() node.Indicator { return s.machine.currentLight() }

// Interrupts counts the diagnostic interrupts (NMI) that the server got.
func (s *Server) Interrupts() int { return s.machine.interrupts() }

// HoldReport lets the ramdisk wait before it reports, until ReleaseReport.
func (s *Server) HoldReport() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hold {
		s.hold, s.released = true, make(chan struct{})
	}
}

// ReleaseReport ends HoldReport.
func (s *Server) ReleaseReport() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold {
		s.hold = false
		close(s.released)
	}
}

func (s *Server) reportGate() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released
}

func (s *Server) stopBMC() error {
	s.machine.press(false)
	switch {
	case s.http != nil:
		return s.http.Close()
	case s.ipmi != nil:
		return s.ipmi.Close()
	}
	return nil
}
