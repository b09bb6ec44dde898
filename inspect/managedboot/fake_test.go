package managedboot_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"cagenut/inspect/managedboot"
	"cagenut/node"
)

// server is a BMC that writes down every command. Power follows a command after lag further reads.
type server struct {
	power   node.PowerState
	boot    node.Boot
	lag     int
	stuck   bool // the power never follows
	failing map[string]error
	log     []string
	rests   error // what a look is told, while the BMC is left alone

	coming node.PowerState
	reads  int
}

var errBMC = errors.New("redfish: 500 Internal Server Error: flash busy")

func (s *server) Do(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	return fn(s)
}

func (s *server) Look(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	if s.rests != nil {
		return s.rests
	}
	return fn(s)
}

func (s *server) Power(ctx context.Context) (node.PowerState, error) {
	if _, ok := ctx.Deadline(); !ok {
		return "", errors.New("a call to the BMC without a deadline")
	}
	if err := s.failing["read"]; err != nil {
		return "", err
	}
	if s.coming != "" && !s.stuck {
		if s.reads++; s.reads > s.lag {
			s.power, s.coming, s.reads = s.coming, "", 0
		}
	}
	return s.power, nil
}

func (s *server) SetPower(_ context.Context, a node.PowerAction) error {
	s.log = append(s.log, string(a))
	if err := s.failing[string(a)]; err != nil {
		return err
	}
	s.coming, s.reads = a.Result(), 0
	return nil
}

func (s *server) SetBoot(_ context.Context, b node.Boot) error {
	what := "override " + string(b.Device)
	switch {
	case b.Device == node.BootNone:
		what = "override removed"
	case b.Persistent:
		what += " for ever"
	}
	s.log = append(s.log, what)
	if err := s.failing[what]; err != nil {
		return err
	}
	s.boot = b
	return nil
}

// run calls a piece of work again with its own last step, as the conductor does, until it is ready.
func run(t *testing.T, piece func(step string) (node.Progress, error)) (node.Progress, error) {
	t.Helper()
	step := ""
	for range 50 {
		p, err := piece(step)
		if err != nil || p.Ready {
			return p, err
		}
		if p.Step == "" {
			t.Fatal("a piece without a step: a restart would begin again")
		}
		step = p.Step
	}
	return node.Progress{}, fmt.Errorf("not ready after 50 pieces, last step %q", step)
}

// noNames is a resolver that knows nobody.
type noNames struct{}

func (noNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, errors.New("no such host")
}

func always(context.Context) error { return nil }
