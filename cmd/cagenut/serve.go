package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"cagenut/bmc"
	"cagenut/bmc/fake"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/redfish"
	"cagenut/conductor"
	"cagenut/inspect/agent"
	"cagenut/inspect/difference"
	"cagenut/inspect/inspector"
	"cagenut/inspect/inventory/lldp"
	"cagenut/inspect/managedboot"
	"cagenut/inspect/outofband"
	"cagenut/inspect/ramdisklogs"
	"cagenut/inspect/rules"
	"cagenut/node"
	"cagenut/store"
	"cagenut/store/jobs"
	"cagenut/web"
	"cagenut/web/auth"
	"cagenut/web/boot"
	"cagenut/web/extension"
	webintrospection "cagenut/web/introspection"
	"cagenut/web/ironic"
	"cagenut/web/live"
	"cagenut/web/ui"
)

type serveCommand struct {
	settings
}

// Run is kong's.
func (s *serveCommand) Run(ctx context.Context, out io.Writer) error {
	a, err := open(ctx, &s.settings, os.Stderr)
	if err != nil {
		return err
	}
	if err := a.firstUser(ctx, out); err != nil {
		return errors.Join(err, a.close())
	}
	fmt.Fprintf(out, "Dashboard: http://%s/ui\n", a.listener.Addr())
	if a.inspectorListener != nil {
		fmt.Fprintf(out, "Inspector: http://%s\n", a.inspectorListener.Addr())
	}
	return a.run(ctx)
}

// appliance is everything, opened and joined.
type appliance struct {
	settings  *settings
	log       *slog.Logger
	store     *store.Store
	queue     *jobs.Queue
	bmcs      *bmc.Pool
	redfish   *redfish.Driver // one of bmcs'
	conductor *conductor.Conductor
	enroller  *conductor.Enroller
	hub       *live.Hub
	self      *self
	files     *boot.Server
	isos      *boot.ISOs
	lock      *os.File // held while this process uses the data folder

	listener, inspectorListener net.Listener
	app, inspectorApp           *fiber.App
}

// open makes the appliance up to the moment before it serves: its addresses are taken, its database is in order, and
// what the last run left in the middle is put right.
func open(ctx context.Context, s *settings, logTo io.Writer) (*appliance, error) {
	a := &appliance{settings: s, log: s.logger(logTo)}
	for _, step := range []func(context.Context) error{a.listen, a.openStore, a.join, a.recover, a.serveRoutes} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	return a, nil
}

func (a *appliance) listen(context.Context) (err error) {
	if a.listener, err = net.Listen("tcp", a.settings.Listen); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", a.settings.Listen, err)
	}
	// With port 0 the address is known only now.
	a.settings.Listen = a.listener.Addr().String()
	if a.settings.InspectorURL != "" || a.settings.InspectorListen == "" {
		return nil
	}
	if a.inspectorListener, err = net.Listen("tcp", a.settings.InspectorListen); err != nil {
		return fmt.Errorf("cannot listen on %s (the inspector's address): %w", a.settings.InspectorListen, err)
	}
	return nil
}

func (a *appliance) openStore(ctx context.Context) error {
	dir := a.settings.DataDir
	if err := os.MkdirAll(a.settings.bootDir(), 0o755); err != nil {
		return fmt.Errorf("cannot use the data folder %s: %w", dir, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("cannot use the data folder %s: %w", dir, err)
	}
	seal, err := store.OpenSeal(filepath.Join(dir, "secret.key"))
	if err != nil {
		return err
	}
	if a.lock, err = lockFolder(dir); err != nil {
		return err
	}
	if a.store, err = store.Open(ctx, store.Options{Path: filepath.Join(dir, "cagenut.db"), Seal: seal, Log: a.log, InspectionsKept: a.settings.InspectionsKept}); err != nil {
		return err
	}
	if a.queue, err = jobs.New(ctx, a.store.Writer(), a.log); err != nil {
		return err
	}
	a.store.SetQueue(a.queue)
	return nil
}

// join makes the conductor out of the rooms that it needs.
func (a *appliance) join(ctx context.Context) error {
	s := a.settings
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find this machine's name: %w", err)
	}
	a.redfish = redfish.New(redfish.Options{Sessions: bmcSessions{a.store}, Log: a.log})
	if err := a.redfish.Resume(ctx); err != nil {
		return err
	}
	a.bmcs = bmc.NewPool(map[string]bmc.Driver{
		node.DriverRedfish: a.redfish,
		node.DriverIPMI:    ipmi.New(ipmi.Options{}),
		node.DriverFake:    fake.New(),
	}, bmc.PoolOptions{})
	if a.isos, err = boot.OpenISOs(s.bootDir()); err != nil {
		return err
	}
	a.isos.RamdiskURL, a.isos.URL = s.ramdiskBase(), s.ISOURL
	managed := managedboot.New(bootBMCs{a.bmcs}, net.DefaultResolver, managedboot.Settings{
		RamdiskURL: s.ramdiskBase(),
		Kernel:     s.bootSource(s.KernelURL, kernelFile),
		Initrd:     s.bootSource(s.InitrdURL, initrdFile),
		ISOs:       a.isos,
	})
	delegating, err := a.inspector(managed)
	if err != nil {
		return err
	}
	ignored, err := s.hookSettings.ignored()
	if err != nil {
		return err
	}
	inBand, withoutRamdisk, err := s.hookSettings.lists()
	if err != nil {
		return err
	}
	a.conductor = conductor.New(conductor.Needs{
		Nodes:       a.store,
		Moves:       a.store,
		Attempts:    a.store,
		Ports:       a.store,
		Watched:     a.store,
		Audit:       a.store,
		Bulks:       a.store,
		Inspections: a.store,
		Signs:       a.store,
		Rules:       a.store,
		Discovered:  a.store,
		BMCs:        conductorBMCs{a.bmcs},
		Reports:     reports{hooks: inBand, ignored: ignored, stored: a.store},
		Describer:   reports{ignored: ignored},
		Logs:        ramdisklogs.Archives{},
		Comparer:    difference.Comparer{},
		RuleEngine:  ruleEngine{rules.New(rules.Options{Caller: rules.HTTP{}, Log: a.log})},
		Inspect: map[string]conductor.InspectInterface{
			"agent":      agent.New(managed),
			"inspector":  delegating,
			"redfish":    outOfBand{outofband.NewRedfish(hardwareBMCs{a.bmcs}).WithHooks(withoutRamdisk)},
			"no-inspect": outofband.NoInspect{},
			"fake":       outofband.Fake{},
		},
		Clock: conductor.SystemClock{},
		Log:   a.log,
	}, conductor.Settings{
		Host:                  host,
		InspectTimeout:        s.InspectTimeout,
		StartTimeout:          s.StartTimeout,
		PowerSyncInterval:     s.PowerSyncInterval,
		InspectorSyncInterval: s.InspectorSyncInterval,
		Discovery:             s.Discovery,
		AuditKept:             time.Duration(s.AuditKept) * 24 * time.Hour,
	})
	a.self = &self{a: a, started: time.Now(), contact: delegating.Contact}
	return a.prepareBoot(delegating)
}

func (a *appliance) inspector(managed *managedboot.Boot) (*inspector.Interface, error) {
	s := a.settings
	if s.InspectorURL == "" {
		return inspector.NewEmbedded(managed), nil
	}
	password, err := s.inspectorPassword()
	if err != nil {
		return nil, err
	}
	i, err := inspector.NewExternal(managed, inspector.Settings{URL: s.InspectorURL, User: s.InspectorUser, Password: password})
	if err != nil {
		return nil, fmt.Errorf("--inspector-url: %w", err)
	}
	return i, nil
}

// prepareBoot makes the boot server. Without a ramdisk URL there is none: `inspect` says what is missing.
func (a *appliance) prepareBoot(delegating *inspector.Interface) (err error) {
	s := a.settings
	if s.ramdiskBase() == "" {
		return nil
	}
	own := boot.Callback(s.ramdiskBase())
	callback := func(n node.Node, at node.Attempt) string {
		if foreign := delegating.CallbackURL(); foreign != "" && at.Interface == "inspector" {
			return foreign
		}
		return own(n, at)
	}
	a.isos.CallbackURL = callback
	a.files, err = boot.New(boot.Options{
		Conductor: a.conductor, KernelURL: s.bootURL(s.KernelURL, kernelFile), InitrdURL: s.bootURL(s.InitrdURL, initrdFile), Dir: s.bootDir(), ISOs: a.isos, Log: a.log,
		CallbackURL: callback,
	})
	return err
}

// serveRoutes puts every page and API on its address.
func (a *appliance) serveRoutes(ctx context.Context) error {
	s := a.settings
	minor, err := s.maxMinor()
	if err != nil {
		return err
	}
	gate, err := a.gate()
	if err != nil {
		return err
	}
	a.enroller = a.newEnroller()
	pages := ui.New(ui.Options{Conductor: a.conductor, Store: a.store, Self: a.self, Enrolling: a.enroller, SearchDefaults: s.searchDefaults, Discovery: waitingRoom{a.store, a.conductor}, Discovering: s.Discovery, SignIn: gate, People: auth.NewPeople(gate, accounts{a.store}), PublicURL: s.PublicURL, NoRamdisk: s.InspectorURL == "" && s.ramdiskBase() == "", InspectTimeout: s.InspectTimeout, Neighbours: lldp.Neighbours})
	a.hub = live.New(live.Options{Store: a.store, Pages: pages, Log: a.log})
	a.app = web.NewApp(web.AppOptions{Context: ctx, Log: a.log, TrustedProxies: s.TrustedProxies, ReportDoors: largeBodies(), Errors: []web.ErrorShape{
		ironic.ErrorShape(), pages.ErrorShape(), {Prefix: "/cagenut", Answer: web.AnswerError, Bodies: true},
	}})
	ui.RegisterStatic(a.app)
	a.app.Use(gate.Check)
	a.app.Get("/healthz", a.alive)
	a.app.Get("/readyz", a.ready)
	if a.files != nil {
		a.files.Register(a.app)
	}
	pages.Register(a.app, a.hub)
	rest := ironic.Options{Conductor: a.conductor, Store: a.store, Host: a.conductor.Host, MaxMinor: minor, PublicURL: s.PublicURL}
	extension.Register(a.app, extension.Options{
		Conductor: a.conductor, Inspections: a.conductor, Discovery: waitingRoom{a.store, a.conductor}, Store: a.store, Self: a.self, Hub: a.hub, Log: a.log, PublicURL: s.PublicURL,
		API: ironic.Description(rest), MaxMinor: minor, SignIn: s.Auth != auth.None,
	})
	ironic.Register(a.app, rest)
	if a.inspectorListener == nil {
		return nil
	}
	a.serveIntrospections(ctx, a.introspections(), gate.Check, "")
	return nil
}

// serveIntrospections makes the application at the inspector's address. publicURL is the base of its links, "" for that of the
// request.
func (a *appliance) serveIntrospections(ctx context.Context, service webintrospection.Service, guard fiber.Handler, publicURL string) {
	a.inspectorApp = web.NewApp(web.AppOptions{
		Context: ctx, Log: a.log, TrustedProxies: a.settings.TrustedProxies, ReportDoors: webintrospection.LargeBodies(),
		Errors: []web.ErrorShape{webintrospection.ErrorShape()},
	})
	webintrospection.Register(a.inspectorApp, webintrospection.Options{Service: service, Guard: guard, PublicURL: publicURL, Log: a.log})
}

func (a *appliance) alive(c *fiber.Ctx) error { return c.SendString("ok\n") }

// ready tells whether the database answers.
func (a *appliance) ready(c *fiber.Ctx) error {
	if _, err := a.store.LastChange(c.UserContext()); err != nil {
		return fiber.NewError(fiber.StatusServiceUnavailable, "the database does not answer")
	}
	return c.SendString("ok\n")
}

// stopTime is how long requests may take to end when the appliance stops.
const stopTime = 10 * time.Second

// run serves and works until ctx ends, then stops in the reverse order: streams, requests, jobs, database.
func (a *appliance) run(ctx context.Context) error {
	return errors.Join(a.runAll(ctx), a.close())
}

// recover puts in order what the last run left in the middle. It is part of opening, because it takes every held node for
// one that a dead process held: nothing new may have been asked for yet.
func (a *appliance) recover(ctx context.Context) error {
	if err := a.conductor.Recover(ctx); err != nil {
		return err
	}
	return a.queue.Release(ctx)
}

func (a *appliance) runAll(ctx context.Context) error {
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	all, serving := errgroup.WithContext(serving)
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	var work errgroup.Group
	for _, part := range []func() error{
		func() error { return a.queue.Run(working, a.conductor) },
		func() error { return a.conductor.Run(working) },
	} {
		work.Go(func() error {
			// Nothing may be accepted that nobody would carry out.
			defer stopServing()
			return part()
		})
	}
	work.Go(func() error { return a.endStrays(working) })
	work.Go(func() error { return a.enroller.Run(working) })

	all.Go(func() error { return a.hub.Run(serving) })
	for app, l := range map[*fiber.App]net.Listener{a.app: a.listener, a.inspectorApp: a.inspectorListener} {
		if app == nil {
			continue
		}
		serveUntil(serving, all, app, l)
	}
	err := all.Wait()
	stopWorking()
	return errors.Join(err, work.Wait())
}

// endStrays logs out of BMCs that the last run was logged in to and that no node has any more.
func (a *appliance) endStrays(ctx context.Context) error {
	nodes, err := a.store.Nodes(ctx, node.Filter{Driver: node.DriverRedfish, IncludeChildren: true})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		// What this returns is told when the appliance stops, and it serves without: whoever watches has to know now.
		a.log.Error("the nodes cannot be listed: BMC sessions of the last run that no node has any more stay open", "err", err)
		return err
	}
	a.redfish.EndStrays(ctx, nodes)
	return nil
}

// serveUntil serves on l until ctx ends.
func serveUntil(ctx context.Context, all *errgroup.Group, app *fiber.App, l net.Listener) {
	all.Go(func() error { return app.Listener(l) })
	all.Go(func() error {
		<-ctx.Done()
		err := app.ShutdownWithTimeout(stopTime)
		// A shutdown that comes before the server has begun to accept leaves its listener open.
		if e := l.Close(); err == nil && !errors.Is(e, net.ErrClosed) {
			err = e
		}
		return err
	})
}

// close gives back what open took, as far as it came.
func (a *appliance) close() error {
	var errs []error
	for _, l := range []net.Listener{a.listener, a.inspectorListener} {
		if l != nil {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	if a.bmcs != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := a.bmcs.Close(ctx); err != nil {
			a.log.Warn("not every BMC session could be closed", "err", err)
		}
	}
	if a.files != nil {
		errs = append(errs, a.files.Close())
	}
	if a.isos != nil {
		errs = append(errs, a.isos.Close())
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Close())
	}
	return errors.Join(errs...)
}

// lockFolder keeps a second appliance off the data folder: it would take the living one's work for a dead one's.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot use the data folder %s: %w", dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the data folder %s is in use by another appliance", dir), f.Close())
	}
	return f, nil
}
