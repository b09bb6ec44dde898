package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"cagenut/bmc/sim"
	"cagenut/node"
)

type simCommand struct {
	Servers      int           `default:"12" help:"How many servers, where --redfish and --ipmi do not say it."`
	Redfish      share         `help:"How many speak Redfish; without a number: those that do not speak IPMI."`
	IPMI         share         `name:"ipmi" help:"How many speak IPMI; without a number: those that do not speak Redfish, or half."`
	Silent       int           `help:"How many are cabled wrongly and never report."`
	Listen       string        `default:"127.77.0.1" help:"Address of the first BMC, the others follow; with a port, all are at this address and the ports follow."`
	Control      string        `default:"127.0.0.1:7700" help:"Where the control API listens, on loopback."`
	BootURL      string        `name:"boot-url" help:"Base of the boot files for network boots, such as http://127.0.0.1:6385: what DHCP would answer."`
	PowerDelay   time.Duration `default:"0s" help:"From a power command to its effect."`
	ReportDelay  time.Duration `default:"0s" help:"From a ramdisk's start to its report, give or take a third."`
	HoldReports  bool          `help:"Ramdisks wait before they report, until the control API lets them."`
	KeepRequests int           `default:"1000" help:"How many requests each BMC's log keeps at most."`
	TLS          bool          `name:"tls" help:"The Redfish BMCs speak https, with certificates of a CA that is made for this run."`
	CAFile       string        `name:"ca-file" type:"path" placeholder:"cagenut-sim-ca.pem" help:"With --tls: where the certificate of that CA is written, for redfish_verify_ca."`
	Seed         uint64        `default:"1" help:"The same seed makes the same hardware."`
	LogLevel     string        `default:"warn" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
}

// share is a number, or, without one, the rest.
type share struct {
	asked bool
	n     int // 0: the rest
}

// IsBool lets kong take the flag without a value.
func (share) IsBool() bool { return true }

// Decode is kong's: "--ipmi", "--ipmi 3" or "--ipmi=3".
func (s *share) Decode(c *kong.DecodeContext) error {
	s.asked = true
	next := c.Scan.Peek()
	text, isText := next.Value.(string)
	_, err := strconv.Atoi(text)
	if next.Type != kong.FlagValueToken && (!isText || err != nil) {
		return nil
	}
	c.Scan.Pop()
	if s.n, err = strconv.Atoi(fmt.Sprint(next.Value)); err != nil || s.n < 0 {
		return fmt.Errorf("expected a number of servers but got %q", fmt.Sprint(next.Value))
	}
	return nil
}

// counts are how many servers there are, and how many of them speak IPMI.
func (s *simCommand) counts() (servers, ipmi int, err error) {
	servers = s.Servers
	switch r, i := s.Redfish, s.IPMI; {
	case r.n > 0 && i.n > 0:
		servers, ipmi = r.n+i.n, i.n
	case r.n > 0 && i.asked:
		ipmi = servers - r.n
	case r.n > 0:
		servers = r.n
	case i.n > 0 && r.asked:
		ipmi = i.n
	case i.n > 0:
		servers, ipmi = i.n, i.n
	case r.asked && i.asked:
		ipmi = servers / 2
	case i.asked:
		ipmi = servers
	}
	if servers <= 0 || ipmi < 0 || ipmi > servers {
		return 0, 0, fmt.Errorf("--servers, --redfish and --ipmi do not fit together: %d of %d servers would speak IPMI", ipmi, servers)
	}
	return servers, ipmi, nil
}

// address splits --listen; port 0 is the usual one, at an address for each BMC.
func (s *simCommand) address() (host string, port int, err error) {
	if addr, err := netip.ParseAddr(s.Listen); err == nil {
		return addr.String(), 0, nil
	}
	both, err := netip.ParseAddrPort(s.Listen)
	if err != nil || both.Port() == 0 {
		return "", 0, fmt.Errorf("--listen %q is neither an address nor an address with a port", s.Listen)
	}
	return both.Addr().String(), int(both.Port()), nil
}

// Run is kong's.
func (s *simCommand) Run(ctx context.Context, out io.Writer) (err error) {
	servers, ipmi, err := s.counts()
	if err != nil {
		return err
	}
	host, port, err := s.address()
	if err != nil {
		return err
	}
	if !isLoopback(s.Control) {
		return errors.New("--control has no sign-in and listens on loopback only")
	}
	if u, err := url.Parse(s.BootURL); s.BootURL != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		return fmt.Errorf("--boot-url %q is not an address of http or https", s.BootURL)
	}
	switch {
	case s.CAFile != "" && !s.TLS:
		return errors.New("--ca-file is for --tls")
	case s.CAFile == "" && s.TLS:
		s.CAFile = kong.ExpandPath("cagenut-sim-ca.pem")
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Control)
	if err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	rack, err := sim.Start(ctx, sim.Options{
		Servers: servers, IPMI: ipmi, Silent: s.Silent, BootURL: s.BootURL, PowerDelay: s.PowerDelay, ReportDelay: s.ReportDelay,
		FirstAddress: host, FirstPort: port, TLS: s.TLS, CAFile: s.CAFile, KeepRequests: s.KeepRequests, Seed: s.Seed,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, rack.Close()) }()
	if s.HoldReports {
		rack.HoldReports()
	}
	greetSim(out, listener.Addr().String(), rack.Servers(), s.CAFile)
	return serveControl(ctx, listener, rack.Control())
}

// serveControl serves until the context ends.
func serveControl(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	all.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	return all.Wait()
}

// mostShown is how many servers are printed one by one.
const mostShown = 24

// greetSim prints what a newcomer needs.
func greetSim(out io.Writer, control string, servers []*sim.Server, caFile string) {
	for i, s := range servers {
		if i == mostShown {
			fmt.Fprintf(out, "… and %d more: curl -s http://%s/servers\n", len(servers)-i, control)
			break
		}
		address := s.Address
		if s.Driver == node.DriverIPMI {
			address = "udp " + net.JoinHostPort(s.Address, strconv.Itoa(s.Port))
		}
		fmt.Fprintf(out, "%-8s %-8s %s\n", s.Name, s.Driver, address)
	}
	if caFile != "" {
		fmt.Fprintf(out, "\nTheir CA, for redfish_verify_ca: %s\n", caFile)
	}
	first := servers[0]
	fmt.Fprintf(out, `
User %[3]s, password %[4]s, of all BMCs; it protects nothing.
Control: http://%[1]s

Try, in another terminal:
  curl -s http://%[1]s/servers/%[2]s
  curl -s -X PUT -d '{"count":3}' http://%[1]s/servers/%[2]s/faults/busy
  curl -s -X PUT -d '{"delay":"5s"}' 'http://%[1]s/servers/*/faults/slow'
  curl -s http://%[1]s/servers/%[2]s/requests

Ctrl-C ends it; nothing is kept.
`, control, first.Name, first.User, string(first.Password))
}
