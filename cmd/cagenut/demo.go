package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"cagenut/bmc/sim"
	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web/boot"
)

type demoCommand struct {
	Servers         int           `default:"12" help:"How many servers the rack has."`
	IPMI            int           `default:"4" name:"ipmi" help:"How many of them speak IPMI instead of Redfish."`
	Silent          int           `default:"2" help:"How many are cabled wrongly and never report."`
	VirtualMedia    int           `default:"2" name:"virtual-media" help:"How many of those that speak Redfish and are cabled well boot an ISO from their virtual drive instead of the network."`
	Listen          string        `default:"127.0.0.1:6385" help:"REST API and dashboard."`
	InspectorListen string        `default:"127.0.0.1:5050" help:"The embedded inspector's API."`
	ReportDelay     time.Duration `default:"8s" help:"How long a ramdisk looks at its server before it reports."`
	PowerDelay      time.Duration `default:"1s" help:"How long a server takes to switch on or off."`
	Control         string        `placeholder:"127.0.0.1:7700" help:"Where the simulated BMCs are made sick by HTTP, on loopback; empty: nowhere."`
	LogLevel        string        `default:"warn" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
}

// Run is kong's.
func (d *demoCommand) Run(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "cagenut-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary data folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	rack, err := sim.Start(ctx, sim.Options{
		Servers: d.Servers, IPMI: d.IPMI, Silent: d.Silent, PowerDelay: d.PowerDelay, ReportDelay: d.ReportDelay, Seed: 1,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rack.Close()) }()
	control, err := d.listenControl()
	if err != nil {
		return err
	}
	a, err := d.open(ctx, dir, rack)
	if err != nil {
		if control != nil {
			err = errors.Join(err, control.Close())
		}
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return a.run(ctx) })
	if control != nil {
		fmt.Fprintf(out, "Control: http://%s\n", control.Addr())
		all.Go(func() error { return serveControl(ctx, control, rack.Control()) })
	}
	all.Go(func() error {
		media := d.bootingISO(rack.Servers())
		if err := enrol(ctx, a.conductor, rack.Servers(), media...); err != nil {
			return stopped(ctx, err)
		}
		d.greet(out, a, rack.Servers(), media)
		return nil
	})
	return all.Wait()
}

// bootingISO names the servers that boot from their virtual drives: the last ones that can and report.
func (d *demoCommand) bootingISO(servers []*sim.Server) (names []string) {
	for _, s := range slices.Backward(servers) {
		if len(names) < d.VirtualMedia && s.Driver == node.DriverRedfish && !s.Silent {
			names = append(names, s.Name)
		}
	}
	slices.Reverse(names)
	return names
}

// listenControl opens the control API's address; nil where it is not wanted.
func (d *demoCommand) listenControl() (net.Listener, error) {
	if d.Control == "" {
		return nil, nil
	}
	if !isLoopback(d.Control) {
		return nil, errors.New("--control has no sign-in and listens on loopback only")
	}
	l, err := net.Listen("tcp", d.Control)
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	return l, nil
}

// stopped forgives an error that only says that the demo was ended.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// open makes the appliance with the addresses that the rack knows it by.
func (d *demoCommand) open(ctx context.Context, dir string, rack *sim.Rack) (*appliance, error) {
	s := &settings{
		Listen: d.Listen, InspectorListen: d.InspectorListen, APIMaxVersion: "1.96", DataDir: dir, Database: "sqlite", Auth: "none",
		InspectTimeout: 30 * time.Minute, PowerSyncInterval: time.Minute, LogLevel: d.LogLevel, LogFormat: "text",
	}
	if !isLoopback(d.Listen) || !isLoopback(d.InspectorListen) {
		return nil, errors.New("the demo has no sign-in and listens on loopback only")
	}
	if err := bootFiles(s.bootDir()); err != nil {
		return nil, err
	}
	// The servers of the rack are on this machine, so loopback is what they reach the appliance by.
	s.ramdiskOnLoopback = true
	s.searchDefaults = searchFor(rack.Servers())
	a, err := open(ctx, s, os.Stderr)
	if err != nil {
		return nil, err
	}
	rack.SetBootURL(s.ramdiskBase())
	return a, nil
}

// bootFiles puts something into the boot folder that the simulated servers can fetch; they only pretend to run it.
func bootFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{kernelFile, initrdFile} {
		text := "The demo's servers fetch this file as real ones fetch their " + name + ", and then pretend to run it.\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, boot.DefaultISO), bootISO(), 0o644)
}

// bootISO is the demo's boot medium. It is no ISO that anything could boot: a megabyte of nothing around one line of a boot
// configuration, with a placeholder for kernel parameters as a real one has it. The demo's servers look for no more.
func bootISO() []byte {
	const size, at = 1 << 20, 300 << 10
	placeholder := boot.Placeholder + strings.Repeat("_", 512-len(boot.Placeholder))
	image := make([]byte, size)
	copy(image, "The demo's servers fetch this file as real ones fetch an ISO, and pretend to boot it.\n")
	copy(image[at:], "linux /boot/vmlinuz "+placeholder+"\ninitrd /boot/initrd\n")
	return image
}

// enrol does what a person would do with the API: create each node with its port, and manage it. Those of the names in media
// boot from their virtual drives.
func enrol(ctx context.Context, c *conductor.Conductor, servers []*sim.Server, media ...string) error {
	actor := node.Actor{User: "demo", Source: node.SourceAPI}
	all, ctx := errgroup.WithContext(ctx)
	for _, s := range servers {
		all.Go(func() error {
			var use node.Interfaces
			if slices.Contains(media, s.Name) {
				use.Boot = node.BootVirtualMedia
			}
			n, err := c.CreateNode(ctx, actor, node.Node{
				Name: s.Name, Driver: s.Driver, Interfaces: use, DriverInfo: s.DriverInfo(), Extra: map[string]any{"rack": s.Rack, "rack_unit": s.Unit},
			})
			if err != nil {
				return fmt.Errorf("enrol %s: %w", s.Name, err)
			}
			if _, err := c.CreatePort(ctx, actor, node.Port{NodeUUID: n.UUID, Address: s.BootMAC, PXEEnabled: true}); err != nil {
				return fmt.Errorf("enrol the port of %s: %w", s.Name, err)
			}
			if err := c.SetProvisionState(ctx, actor, n.UUID, conductor.ProvisionRequest{Target: string(node.Manage)}); err != nil {
				return fmt.Errorf("manage %s: %w", s.Name, err)
			}
			return waitManageable(ctx, c, n.UUID)
		})
	}
	return all.Wait()
}

func waitManageable(ctx context.Context, c *conductor.Conductor, uuid string) error {
	for {
		n, err := c.Nodes.Node(ctx, uuid)
		switch {
		case err != nil:
			return err
		case n.ProvisionState == node.Manageable:
			return nil
		case n.ProvisionState == node.Enroll:
			return fmt.Errorf("manage %s: %s", n.Label(), n.LastError)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Clock.After(50 * time.Millisecond):
		}
	}
}

// greet prints what a newcomer needs.
func (d *demoCommand) greet(out io.Writer, a *appliance, servers []*sim.Server, media []string) {
	var silent []string
	for _, s := range servers {
		if s.Silent {
			silent = append(silent, s.Name)
		}
	}
	base := "http://" + a.settings.Listen
	fmt.Fprintf(out, "Dashboard: %s/ui\n", base)
	if a.inspectorListener != nil {
		fmt.Fprintf(out, "Inspector: http://%s\n", a.inspectorListener.Addr())
	}
	if len(silent) > 0 {
		fmt.Fprintf(out, "Wrongly cabled: %s\n", strings.Join(silent, " "))
	}
	if len(media) > 0 {
		fmt.Fprintf(out, "Booting an ISO by virtual media: %s\n", strings.Join(media, " "))
	}
	example := servers[0].Name
	if len(silent) > 0 {
		example = silent[0]
	}
	fmt.Fprintf(out, `
Try, in another terminal (%[2]s is a good one to abort):
  curl -s -X PUT -H 'X-OpenStack-Ironic-API-Version: latest' -H 'Content-Type: application/json' -d '{"target":"inspect"}' %[1]s/v1/nodes/%[2]s/states/provision
  curl -s -X PUT -H 'X-OpenStack-Ironic-API-Version: latest' -H 'Content-Type: application/json' -d '{"target":"abort"}' %[1]s/v1/nodes/%[2]s/states/provision
  OS_AUTH_TYPE=none OS_ENDPOINT=%[1]s openstack baremetal node list

Ctrl-C ends the demo; nothing is kept.
`, base, example)
}
