package sim

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/hal"
	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/handlers"
	ipmiserver "github.com/bougou/go-ipmi/pkg/server"
	"github.com/bougou/go-ipmi/pkg/types"
	"github.com/google/uuid"

	"cagenut/node"
)

func (s *Server) listenIPMI(addr netip.Addr, port int) error {
	return firstThatWorks(addr, port, ipmiPort, func(hostport string) error {
		a, err := net.ResolveUDPAddr("udp", hostport)
		if err != nil {
			return err
		}
		conn, err := net.ListenUDP("udp", a)
		if err != nil {
			return err
		}
		local := conn.LocalAddr().(*net.UDPAddr)
		s.host, s.Port, s.Address = local.IP.String(), local.Port, local.IP.String()
		return s.serveIPMI(&socket{s: s, conn: conn})
	})
}

func (s *Server) serveIPMI(door *socket) error {
	b := bmc.New(bmc.DeviceInfo{
		DeviceID: 0x20, DeviceRevision: 1, FirmwareMajor: 1, FirmwareMinor: 0x02, IPMIVersion: 0x02, ManufacturerID: 0xfffffe, ProductID: 0x0100, AdditionalDeviceSupport: 0x8f,
	}, uuid.MustParse(s.hardware.uuid), simulatedHAL{mock.New(), s}, bmc.WithV15Disabled())
	s.account = &account{bmc: b, password: string(s.Password), door: door}
	if err := s.account.add(s.User); err != nil {
		_ = door.Close() // nothing was served on it
		return err
	}
	s.opened(true)
	s.ipmi = ipmiserver.NewServer(b, door, ipmiserver.WithHandlerRegistry(s.rack.commands))
	s.rack.start(func() { _ = s.ipmi.Serve(s.ctx) }) // it always ends with "closed"
	return nil
}

// commands are what a BMC answers over IPMI, beside what the library knows. One registry serves all BMCs.
func commands() *handlers.Registry {
	r := handlers.NewRegistry()
	r.Use(observe)
	handlers.RegisterAllHandlers(r)
	add := func(c types.Command, f func(*Server, []byte) ([]byte, types.CompletionCode)) {
		r.RegisterFunc(c, func(_ context.Context, h *handlers.HandlerContext, data []byte) ([]byte, types.CompletionCode, error) {
			answer, code := f(of(h), data)
			return answer, code, nil
		})
	}
	add(types.CommandGetChassisStatus, (*Server).chassisStatus)
	add(types.CommandGetSystemGUID, (*Server).systemGUID)
	add(types.CommandGetSensorReading, (*Server).sensorReading)
	add(types.CommandGetSensorThresholds, (*Server).sensorThresholds)
	add(types.CommandGetSensorHysteresis, (*Server).sensorHysteresis)
	add(types.CommandGetSensorEventStatus, (*Server).sensorEvents)
	add(types.CommandGetSELInfo, (*Server).selInfo)
	add(types.CommandReserveSEL, (*Server).reserveSEL)
	add(types.CommandGetSELEntry, (*Server).selEntry)
	add(types.CommandClearSEL, (*Server).clearSEL)
	add(types.CommandGetSELTime, (*Server).selTime)
	return r
}

// of is the server whose BMC handles a command.
func of(h *handlers.HandlerContext) *Server { return h.BMC.HAL().(simulatedHAL).s }

// observe logs every command and lets the faults strike that a command meets.
func observe(next handlers.Handler) handlers.Handler {
	return handlers.HandlerFunc(func(ctx context.Context, h *handlers.HandlerContext, data []byte) ([]byte, types.CompletionCode, error) {
		s := of(h)
		if !s.rack.enter() {
			return nil, types.CodeNodeBusy, nil
		}
		defer s.rack.leave()
		by := ""
		if h.User != nil {
			by = h.User.Name
		}
		noted := s.note("IPMI", h.Command.Name, commandDetail(h.Command, data), by)
		answer, code, err := s.meet(ctx, next, h, data)
		s.requests.answered(noted, int(code))
		if h.Command == types.CommandCloseSession && code == types.CodeOK {
			s.account.closed.Add(1)
		}
		return answer, code, err
	})
}

func (s *Server) meet(ctx context.Context, next handlers.Handler, h *handlers.HandlerContext, data []byte) ([]byte, types.CompletionCode, error) {
	inSession := h.Session != nil
	switch {
	case inSession && h.Command.Name != types.CommandCloseSession.Name && s.strikes(FaultBusy):
		return nil, types.CodeNodeBusy, nil
	case h.Command == types.CommandChassisControl && len(data) > 0 && data[0]&0x0f == diagnosticInterrupt:
		if !s.machine.interrupt() {
			return nil, types.CodeNotSupported, nil
		}
		return nil, types.CodeOK, nil
	case h.Command == types.CommandSetSystemBootOptions && len(data) > 1 && data[0]&0x7f == flagValidClearing:
		s.keepBoot.Store(data[1]&0x08 != 0)
	case h.Command == types.CommandGetChannelCipherSuites && s.has(FaultSuite17Broken):
		return append([]byte{1}, 0xc0, 3, 0x01, 0x41, 0x81, 0xc0, 17, 0x03, 0x44, 0x81), types.CodeOK, nil
	case h.Command == types.CommandGetLanConfigParam && len(data) > 1 && data[1] == 0 && s.has(FaultLANInProgress):
		return []byte{0x11, 0x01}, types.CodeOK, nil
	case h.Command == types.CommandGetSDR && len(data) > 5 && data[5] > 8 && s.has(FaultShortReads):
		return nil, types.CodeCannotReturnRequestedDataBytes, nil
	case h.Command == types.CommandGetSDR && len(data) > 4 && data[4] > 0 && s.strikes(FaultReservationLost):
		return nil, types.CodeReservationCanceled, nil
	}
	answer, code, err := next.Handle(ctx, h, data)
	if h.Command == types.CommandGetChassisStatus && code == types.CodeOK && len(answer) > 2 {
		answer[2] |= map[node.Indicator]byte{node.IndicatorBlinking: 0x10, node.IndicatorOn: 0x20}[s.machine.currentLight()] // the identify state
	}
	return answer, code, err
}

const (
	diagnosticInterrupt = 0x04 // of Chassis Control
	flagValidClearing   = 0x03 // boot option: when flags expire
)

// simulatedHAL is the library's pretended hardware with our chassis and records in it.
type simulatedHAL struct {
	*mock.HAL
	s *Server
}

// Chassis is the simulated machine's.
func (h simulatedHAL) Chassis() hal.ChassisHAL { return &chassis{s: h.s} }

// Storage is where sensors are described, and the server itself.
func (h simulatedHAL) Storage() hal.StorageHAL { return records{h.s} }

// Network is where the BMC is.
func (h simulatedHAL) Network() hal.NetworkHAL { return network{h.s} }

type network struct{ s *Server }

// GetConfig is the BMC's address.
func (n network) GetConfig(context.Context) (*hal.IPConfig, error) {
	c := &hal.IPConfig{Mask: [4]byte{255, 0, 0, 0}, Port: uint16(n.s.Port)}
	copy(c.IP[:], net.ParseIP(n.s.host).To4())
	mac, err := net.ParseMAC(n.s.hardware.bmcMAC)
	copy(c.MAC[:], mac)
	return c, err
}

// SetConfig is refused.
func (network) SetConfig(context.Context, *hal.IPConfig) error { return hal.ErrNotSupported }

// account is the one account of an IPMI BMC.
type account struct {
	bmc      *bmc.BMC
	door     *socket
	password string
	opened   atomic.Int64 // sessions since the start
	closed   atomic.Int64 // of them, by their owners
}

// sessions counts as SessionCounts does. The BMC drops sessions that nobody uses after a minute.
func (a *account) sessions() SessionCounts {
	c := SessionCounts{Open: a.bmc.Sessions.Count(), Opened: int(a.opened.Load()), Closed: int(a.closed.Load())}
	c.Leaked = max(0, c.Opened-c.Closed-c.Open)
	return c
}

const accountID = 2

func (a *account) add(name string) error {
	if _, err := a.bmc.Users.Add(accountID, name); err != nil {
		return err
	}
	return a.bmc.Users.Update(accountID, func(user *bmc.User) error {
		user.SetPassword([]byte(a.password))
		user.Enabled = true
		user.ChannelAccess[1] = bmc.UserChannelAccess{MaxPrivilege: bmc.PrivilegeLevelAdministrator, Enabled: true}
		return nil
	})
}

// follow sets password and cipher suites as the faults have them, and opens or shuts the door.
func (a *account) follow(s *Server) {
	password := a.password
	if s.has(FaultPasswordCut) {
		password = password[:min(len(password), 16)]
	}
	_ = a.bmc.Users.Update(accountID, func(user *bmc.User) error { // the account is there: add made it
		user.SetPassword([]byte(password))
		return nil
	})
	suites := []types.CipherSuiteID{types.CipherSuiteID3, types.CipherSuiteID17}
	switch {
	case s.has(FaultSuite3Only), s.has(FaultSuite17Broken):
		suites = suites[:1]
	case s.has(FaultSuite17Only):
		suites = suites[1:]
	}
	a.bmc.SetCipherSuites(suites)
	if s.has(FaultRefuse) {
		a.door.shut()
	}
}
