package ipmi_test

import (
	"net"
	"testing"

	gobmc "github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/server"
	"github.com/bougou/go-ipmi/pkg/transport/udp"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

func TestABMCWithOneCipherSuiteOnlyIsReached(t *testing.T) { // G39
	for name, suite := range map[string]types.CipherSuiteID{"only 3": types.CipherSuiteID3, "only 17": types.CipherSuiteID17} {
		t.Run(name, func(t *testing.T) {
			port := serve(t, suite)
			n := node.Node{Driver: node.DriverIPMI, DriverInfo: map[string]any{
				"ipmi_address": "127.0.0.1", "ipmi_port": port, "ipmi_username": "admin", "ipmi_password": 123456,
			}}
			d := ipmi.New(quick())
			for range 2 { // the second time by what is remembered
				if p, err := open(t, d, n).Power(t.Context()); err != nil || p != node.PowerOff {
					t.Errorf("%q, %v", p, err)
				}
			}
		})
	}
}

// serve runs a BMC that offers one cipher suite, and returns its port.
func serve(t *testing.T, suite types.CipherSuiteID) int {
	t.Helper()
	b := gobmc.New(gobmc.DeviceInfo{IPMIVersion: 0x20}, [16]byte{1}, mock.New())
	if _, err := b.Users.Add(2, "admin"); err != nil {
		t.Fatal(err)
	}
	err := b.Users.Update(2, func(u *gobmc.User) error {
		u.SetPassword([]byte("123456"))
		u.Enabled = true
		u.ChannelAccess[1] = gobmc.UserChannelAccess{MaxPrivilege: gobmc.PrivilegeLevelAdministrator, Enabled: true}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := server.NewServer(b, udp.Wrap(socket), server.WithCipherSuites([]types.CipherSuiteID{suite}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(t.Context()) // it always ends with "closed"
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return socket.LocalAddr().(*net.UDPAddr).Port
}
