package sim

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/hal"
	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/handlers"
	ipmiserver "github.com/bougou/go-ipmi/pkg/server"
	"github.com/bougou/go-ipmi/pkg/transport/udp"
	"github.com/bougou/go-ipmi/pkg/types"
	"github.com/google/uuid"

	"cagenut/node"
)

func (s *Server) listenIPMI(addr netip.Addr) error {
	return firstThatWorks(addr, ipmiPort, func(hostport string) error {
		a, err := net.ResolveUDPAddr("udp", hostport)
		if err != nil {
			return err
		}
		socket, err := net.ListenUDP("udp", a)
		if err != nil {
			return err
		}
		local := socket.LocalAddr().(*net.UDPAddr)
		s.host, s.Port, s.Address = local.IP.String(), local.Port, local.IP.String()
		return s.serveIPMI(socket)
	})
}

func (s *Server) serveIPMI(socket *net.UDPConn) error {
	id := uuid.MustParse(s.hardware.uuid)
	b := bmc.New(bmc.DeviceInfo{DeviceID: 0x20, FirmwareMajor: 1, IPMIVersion: 0x20}, id, chassisHAL{mock.New(), &chassis{s: s}}, bmc.WithV15Disabled())
	s.users = &ipmiUsers{store: b.Users, password: string(s.Password)}
	if err := s.users.add(s.User); err != nil {
		_ = socket.Close() // nothing was served on it
		return err
	}
	registry := handlers.NewRegistry()
	registry.Use(s.observe)
	handlers.RegisterAllHandlers(registry)
	s.ipmi = ipmiserver.NewServer(b, &deafSocket{Conn: udp.Wrap(socket), s: s}, ipmiserver.WithHandlerRegistry(registry))
	s.rack.start(func() { _ = s.ipmi.Serve(s.ctx) }) // it always ends with "closed"
	return nil
}

// observe logs every command and answers for a busy BMC.
func (s *Server) observe(next handlers.Handler) handlers.Handler {
	return handlers.HandlerFunc(func(ctx context.Context, h *handlers.HandlerContext, data []byte) ([]byte, types.CompletionCode, error) {
		if !s.rack.enter() {
			return nil, types.CodeNodeBusy, nil
		}
		defer s.rack.leave()
		s.note("IPMI", h.Command.Name, "")
		inSession := h.Session != nil
		if inSession && h.Command.Name != types.CommandCloseSession.Name && s.spend(func(f *Faults) *int { return &f.Busy }) {
			return nil, types.CodeNodeBusy, nil
		}
		return next.Handle(ctx, h, data)
	})
}

// deafSocket drops what it hears while the BMC hangs.
type deafSocket struct {
	*udp.Conn
	s *Server
}

// ReadFrom is the next datagram that the BMC takes note of.
func (d *deafSocket) ReadFrom(buf []byte) (int, net.Addr, error) {
	for {
		n, from, err := d.Conn.ReadFrom(buf)
		if err != nil || !d.s.currentFaults().Hang {
			return n, from, err
		}
		d.s.note("IPMI", "unanswered", "")
	}
}

// ipmiUsers is the one account of an IPMI BMC. A nil one has none.
type ipmiUsers struct {
	store    *bmc.UserStore
	password string
	mu       sync.Mutex
	id       uint8
}

func (u *ipmiUsers) add(name string) error {
	const id = 2
	if _, err := u.store.Add(id, name); err != nil {
		return err
	}
	u.id = id
	return u.store.Update(id, func(user *bmc.User) error {
		user.SetPassword([]byte(u.password))
		user.Enabled = true
		user.ChannelAccess[1] = bmc.UserChannelAccess{MaxPrivilege: bmc.PrivilegeLevelAdministrator, Enabled: true}
		return nil
	})
}

// refuse changes the password to one that nobody knows, or back.
func (u *ipmiUsers) refuse(on bool) {
	if u == nil {
		return
	}
	password := u.password
	if on {
		password = "~" + u.password
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	_ = u.store.Update(u.id, func(user *bmc.User) error { // the account is there: add made it
		user.SetPassword([]byte(password)[:min(len(password), 20)])
		return nil
	})
}

// chassisHAL is the library's pretended hardware with our chassis in it.
type chassisHAL struct {
	*mock.HAL
	c *chassis
}

// Chassis is the simulated machine's.
func (h chassisHAL) Chassis() hal.ChassisHAL { return h.c }

// chassis ties the IPMI chassis commands to the simulated machine.
type chassis struct {
	mock.Chassis
	s *Server
}

// PowerState is the machine's.
func (c *chassis) PowerState(context.Context) (bool, error) {
	on, _ := c.s.machine.power()
	return on, nil
}

// SetPower switches on or off.
func (c *chassis) SetPower(_ context.Context, on bool) error {
	detail := "Power Down"
	if on {
		detail = "Power Up"
	}
	return c.control(detail, on, false)
}

// PowerCycle restarts a machine that is on.
func (c *chassis) PowerCycle(context.Context) error { return c.control("Power Cycle", true, true) }

// ColdReset is the hard reset.
func (c *chassis) ColdReset(context.Context) error { return c.control("Hard Reset", true, true) }

// WarmReset is where the library sends the soft shutdown.
func (c *chassis) WarmReset(context.Context) error { return c.control("Soft Shutdown", false, false) }

func (c *chassis) control(detail string, to, restart bool) error {
	c.s.note("IPMI", "Chassis Control", detail)
	if c.s.spend(func(f *Faults) *int { return &f.ResetConflicts }) {
		return types.CodeNotSupported
	}
	if on, _ := c.s.machine.power(); restart && !on {
		return types.CodeNotSupported
	}
	c.s.machine.command(to, restart)
	return nil
}

var selectorDevices = map[types.BootDeviceSelector]node.BootDevice{
	types.BootDeviceSelectorForcePXE: node.BootPXE, types.BootDeviceSelectorForceHardDrive: node.BootDisk,
	types.BootDeviceSelectorForceHardDriveSafe: node.BootSafe, types.BootDeviceSelectorForceCDROM: node.BootCDROM,
	types.BootDeviceSelectorForceBIOSSetup: node.BootBIOS,
}

// SetBootFlags is the boot override.
func (c *chassis) SetBootFlags(_ context.Context, f *types.BootOptionParam_BootFlags) error {
	device := selectorDevices[f.BootDeviceSelector]
	c.s.note("IPMI", "Boot Flags", "device="+string(device))
	faults := c.s.currentFaults()
	switch {
	case faults.RefuseBoot:
		return types.CodeRequestDataFieldInvalid
	case faults.IgnoreBoot:
		return nil
	}
	o := override{Legacy: f.BIOSBootType == types.BIOSBootTypeLegacy}
	if f.BootFlagsValid && device != node.BootNone {
		o.Boot = node.Boot{Device: device, Persistent: f.Persist}
	}
	c.s.machine.setOverride(o)
	return nil
}

// GetBootFlags shows the override; after the boot that used it up it is no longer valid.
func (c *chassis) GetBootFlags(context.Context) (*types.BootOptionParam_BootFlags, error) {
	o := c.s.machine.override()
	f := &types.BootOptionParam_BootFlags{Persist: o.Persistent, BIOSBootType: types.BIOSBootType(!o.Legacy)}
	for selector, device := range selectorDevices {
		if device == o.Device {
			f.BootFlagsValid, f.BootDeviceSelector = true, selector
		}
	}
	return f, nil
}
