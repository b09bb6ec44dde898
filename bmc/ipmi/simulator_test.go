package ipmi_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

// peer finds a program of somebody else's. Without it the test is skipped, unless the run must have all peers.
func peer(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
		t.Fatalf("%s is not here, and CAGENUT_REQUIRE_PEERS asks for it: apt-get install %s", name, debian)
	}
	t.Skipf("%s is not here: apt-get install %s", name, debian)
	return ""
}

// simulator is OpenIPMI's ipmi_sim, a BMC that nobody of us wrote. It offers cipher suite 3 and no 17. What its machine is can
// be read and changed in the folder state: see testdata/ipmi_sim/chassis_control.
type simulator struct {
	state   string
	port    int
	process *os.Process
}

// startSimulator runs ipmi_sim on a free port until the end of the test. Its machine is off.
func startSimulator(t *testing.T) *simulator {
	t.Helper()
	program := peer(t, "ipmi_sim", "openipmi")
	folder := t.TempDir()
	settings, err := filepath.Abs(filepath.Join("testdata", "ipmi_sim"))
	if err != nil {
		t.Fatal(err)
	}
	s := &simulator{state: filepath.Join(folder, "state"), port: freePort(t)}
	for _, dir := range []string{s.state, filepath.Join(folder, "persist")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.set(t, "power", "0")
	template, err := os.ReadFile(filepath.Join(settings, "lan.conf.in"))
	if err != nil {
		t.Fatal(err)
	}
	conf := strings.NewReplacer("@PORT@", strconv.Itoa(s.port), "@DIR@", settings, "@STATE@", s.state).Replace(string(template))
	if err := os.WriteFile(filepath.Join(folder, "lan.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	output, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	command := exec.Command(program, "-n", "-p", "-c", filepath.Join(folder, "lan.conf"), "-f", filepath.Join(settings, "ipmi_sim.emu"), "-s", filepath.Join(folder, "persist"))
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = command.Process
	t.Cleanup(func() {
		_ = command.Process.Kill() // a test may have ended it
		_ = command.Wait()         // it says that it was killed
	})
	s.ready(t)
	return s
}

// freePort is a UDP port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	return socket.LocalAddr().(*net.UDPAddr).Port
}

// ready waits until the simulator answers a presence ping.
func (s *simulator) ready(t *testing.T) {
	t.Helper()
	ping := []byte{0x06, 0x00, 0xff, 0x06, 0x00, 0x00, 0x11, 0xbe, 0x80, 0x00, 0x00, 0x00}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		conn, err := net.Dial("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(300 * time.Millisecond))
		_, err = conn.Write(ping)
		var k int
		if err == nil {
			k, err = conn.Read(make([]byte, 64))
		}
		_ = conn.Close()
		if err == nil && k > len(ping) {
			return
		}
	}
	t.Fatal("ipmi_sim does not answer")
}

// stop ends the simulator before the test does.
func (s *simulator) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Kill(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.port})
		if err == nil {
			_ = socket.Close()
			return
		}
	}
	t.Fatal("ipmi_sim keeps its port")
}

func (s *simulator) set(t *testing.T, name, value string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.state, name), []byte(value+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// get reads a value of the machine; "" where there is none.
func (s *simulator) get(name string) string {
	b, err := os.ReadFile(filepath.Join(s.state, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (s *simulator) node() node.Node {
	return node.Node{UUID: node.NewUUID(), Driver: node.DriverIPMI, DriverInfo: map[string]any{
		"ipmi_address": "127.0.0.1", "ipmi_port": s.port, "ipmi_username": "admin", "ipmi_password": "admin-pw",
	}}
}

// patient are options for a BMC that starts a program for each answer, on a machine that does other things too.
func patient() ipmi.Options {
	return ipmi.Options{BusyPause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
}

// ipmitool asks the node's BMC with somebody else's program, and gives what it prints.
func ipmitool(t *testing.T, n node.Node, suite string, arguments ...string) string {
	t.Helper()
	program := peer(t, "ipmitool", "ipmitool")
	word := func(key string) string { s, _ := node.Text(n.DriverInfo[key]); return s }
	command := exec.CommandContext(t.Context(), program, append([]string{
		"-I", "lanplus", "-C", suite, "-H", word("ipmi_address"), "-p", word("ipmi_port"), "-U", word("ipmi_username"), "-E", "-L", "OPERATOR",
	}, arguments...)...)
	command.Env = append(os.Environ(), "IPMI_PASSWORD="+word("ipmi_password"))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("ipmitool %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
