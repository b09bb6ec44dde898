package agent_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/agent"
	"cagenut/inspect/managedboot"
	"cagenut/node"
)

// server is a BMC whose power follows at once.
type server struct {
	power node.PowerState
	log   []string
}

func (s *server) Do(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	return fn(s)
}

func (s *server) Look(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	return fn(s)
}

func (s *server) Power(context.Context) (node.PowerState, error) { return s.power, nil }

func (s *server) SetPower(_ context.Context, a node.PowerAction) error {
	s.power = a.Result()
	s.log = append(s.log, string(a))
	return nil
}

func (s *server) SetBoot(_ context.Context, b node.Boot) error {
	s.log = append(s.log, "boot "+string(b.Device))
	return nil
}

func TestAnAttemptFromStartToCleanUp(t *testing.T) {
	s := &server{power: node.PowerOn}
	i := agent.New(managedboot.New(s, net.DefaultResolver, managedboot.Settings{RamdiskURL: "http://192.0.2.1:6385", Kernel: "k", Initrd: "i"}))
	n := node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10"}}
	if err := i.Validate(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	var a node.Attempt
	for ready := false; !ready; {
		p, err := i.Inspect(t.Context(), n, a)
		if err != nil {
			t.Fatal(err)
		}
		a.Step, ready = p.Step, p.Ready
	}
	commands := len(s.log)

	end, err := i.Abort(t.Context(), n, a)
	if err != nil {
		t.Fatal(err)
	}
	want := node.Ending{Outcome: node.Aborted, LastError: "Inspection was aborted by request.", Error: "Canceled by operator", CleanUp: true}
	if diff := cmp.Diff(want, end); diff != "" {
		t.Errorf("ending (-want +got):\n%s", diff)
	}
	if len(s.log) != commands {
		t.Errorf("an abort must not touch the BMC: %v", s.log[commands:])
	}

	for ready := false; !ready; {
		p, err := i.CleanUp(t.Context(), n, a, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		a.Step, ready = p.Step, p.Ready
	}
	if diff := cmp.Diff([]string{"power off", "boot ", "boot pxe", "power on", "power off", "boot "}, s.log); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestValidateAsksForTheRamdiskURL(t *testing.T) {
	err := agent.New(managedboot.New(&server{}, net.DefaultResolver, managedboot.Settings{})).Validate(t.Context(), node.Node{})
	var invalid *node.Invalid
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "--ramdisk-url") {
		t.Errorf("got %v", err)
	}
}
