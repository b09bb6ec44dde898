package ipmi_test

import (
	"context"
	"encoding/hex"
	"net"
	"sync"
	"testing"

	gobmc "github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/handlers"
	"github.com/bougou/go-ipmi/pkg/server"
	"github.com/bougou/go-ipmi/pkg/transport/udp"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

const standInPassword = "123456"

// answer is what a BMC says to a command's data.
type answer func(request []byte) ([]byte, types.CompletionCode)

type command struct{ name, data string }

// standIn is a BMC on the loopback that answers some commands as a test wants it, and the rest by itself.
type standIn struct {
	answers  map[types.Command]answer
	suites   []types.CipherSuiteID // that it offers; nil for all
	password string                // of "admin"
	chassis  *mock.HAL

	port int
	mu   sync.Mutex
	log  []command
}

// start serves until the end of the test.
func (b *standIn) start(t *testing.T) *standIn {
	t.Helper()
	if b.password == "" {
		b.password = standInPassword
	}
	b.chassis = mock.New()
	m := gobmc.New(gobmc.DeviceInfo{DeviceID: 0x20, FirmwareMajor: 3, FirmwareMinor: 0x45, IPMIVersion: 0x02, ManufacturerID: 0x2a2}, [16]byte{1}, b.chassis)
	if _, err := m.Users.Add(2, "admin"); err != nil {
		t.Fatal(err)
	}
	err := m.Users.Update(2, func(u *gobmc.User) error {
		u.SetPassword([]byte(b.password))
		u.Enabled = true
		u.ChannelAccess[1] = gobmc.UserChannelAccess{MaxPrivilege: gobmc.PrivilegeLevelAdministrator, Enabled: true}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := handlers.NewRegistry()
	registry.Use(b.observe)
	handlers.RegisterAllHandlers(registry)
	for kind, a := range b.answers {
		registry.RegisterFunc(kind, func(_ context.Context, _ *handlers.HandlerContext, data []byte) ([]byte, types.CompletionCode, error) {
			response, code := a(data)
			return response, code, nil
		})
	}
	options := []server.ServerOption{server.WithHandlerRegistry(registry)}
	if b.suites != nil {
		options = append(options, server.WithCipherSuites(b.suites))
	}
	b.serve(t, m, options...)
	return b
}

func (b *standIn) serve(t *testing.T, m *gobmc.BMC, options ...server.ServerOption) {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	b.port = socket.LocalAddr().(*net.UDPAddr).Port
	s := server.NewServer(m, udp.Wrap(socket), options...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(t.Context()) // it always ends with "closed"
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
}

// observe keeps the commands.
func (b *standIn) observe(next handlers.Handler) handlers.Handler {
	return handlers.HandlerFunc(func(ctx context.Context, h *handlers.HandlerContext, data []byte) ([]byte, types.CompletionCode, error) {
		b.mu.Lock()
		b.log = append(b.log, command{h.Command.Name, hex.EncodeToString(data)})
		b.mu.Unlock()
		return next.Handle(ctx, h, data)
	})
}

// sent lists the data of the commands of a kind in hexadecimal, oldest first.
func (b *standIn) sent(kind types.Command) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, c := range b.log {
		if c.name == kind.Name {
			all = append(all, c.data)
		}
	}
	return all
}

func (b *standIn) node() node.Node {
	return node.Node{UUID: node.NewUUID(), Driver: node.DriverIPMI, DriverInfo: map[string]any{
		"ipmi_address": "127.0.0.1", "ipmi_port": b.port, "ipmi_username": "admin", "ipmi_password": b.password,
	}}
}

// refuse is a BMC that does not do it.
func refuse(code types.CompletionCode) answer {
	return func([]byte) ([]byte, types.CompletionCode) { return nil, code }
}

// say always says the same.
func say(response ...byte) answer {
	return func([]byte) ([]byte, types.CompletionCode) { return response, types.CodeOK }
}
