package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"cagenut/conductor"
	"cagenut/inspect/difference"
	"cagenut/inspect/introspection"
	"cagenut/inspect/introspection/alone"
	"cagenut/inspect/introspection/ironic"
	"cagenut/inspect/ramdisklogs"
	"cagenut/inspect/rules"
	"cagenut/node"
	"cagenut/store"
)

// inspectorCommand runs the inspector service alone.
type inspectorCommand struct {
	Config kong.ConfigFlag `help:"YAML file with settings by the names of the flags."`

	IronicURL    string `required:"" env:"CAGENUT_IRONIC_URL" name:"ironic-url" help:"The appliance, or another Ironic API."`
	IronicUser   string `env:"CAGENUT_IRONIC_USER" help:"User there, with basic authentication."`
	IronicPwFile string `env:"CAGENUT_IRONIC_PASSWORD_FILE" name:"ironic-password-file" type:"path" help:"File with that user's password."`

	Listen         string   `default:"127.0.0.1:5050" env:"CAGENUT_INSPECTOR_LISTEN" help:"The inspector's API."`
	PublicURL      string   `env:"CAGENUT_PUBLIC_URL" name:"public-url" help:"Base of links in answers; empty: taken from the request."`
	TrustedProxies []string `env:"CAGENUT_TRUSTED_PROXIES" help:"Addresses or networks whose X-Forwarded headers are believed."`
	DataDir        string   `default:"./cagenut-inspector" env:"CAGENUT_DATA_DIR" help:"Database and key, its own."`

	hookSettings

	Auth           string `default:"basic" enum:"basic,none" env:"CAGENUT_AUTH" help:"basic or none."`
	HTPasswd       string `env:"CAGENUT_HTPASSWD" name:"htpasswd" type:"path" help:"File with further users, bcrypt only; all of them are admins."`
	InsecureNoAuth bool   `env:"CAGENUT_INSECURE_NO_AUTH" name:"insecure-no-auth" help:"Allow --auth none on other addresses than loopback."`

	InspectTimeout  time.Duration `default:"60m" env:"CAGENUT_INSPECT_TIMEOUT" help:"How long a run waits for its ramdisk; 0: for ever."`
	InspectionsKept int           `default:"10" env:"CAGENUT_INSPECTIONS_KEPT" help:"How many inspections are kept of each node, with reports and ramdisk logs."`

	LogLevel  string `default:"info" enum:"debug,info,warn,error" env:"CAGENUT_LOG_LEVEL" help:"debug, info, warn or error."`
	LogFormat string `default:"text" enum:"text,json" env:"CAGENUT_LOG_FORMAT" help:"text or json."`
}

// Validate is kong's: a wrong value stops the start with a sentence that names it.
func (i *inspectorCommand) Validate() error {
	if u, err := url.Parse(i.IronicURL); i.IronicURL != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return fmt.Errorf("--ironic-url=%s: it must be a URL such as http://192.0.2.1:6385", i.IronicURL)
	}
	return i.settings().Validate()
}

// settings are those of the appliance that the inspector shares.
func (i *inspectorCommand) settings() *settings {
	return &settings{
		Listen: i.Listen, PublicURL: i.PublicURL, TrustedProxies: i.TrustedProxies, DataDir: i.DataDir, Auth: i.Auth, HTPasswd: i.HTPasswd,
		InsecureNoAuth: i.InsecureNoAuth, InspectTimeout: i.InspectTimeout, InspectionsKept: i.InspectionsKept, LogLevel: i.LogLevel, LogFormat: i.LogFormat, hookSettings: i.hookSettings,
		APIMaxVersion: "1.96", Database: "sqlite",
	}
}

// Run is kong's.
func (i *inspectorCommand) Run(ctx context.Context, out io.Writer) error {
	a := &appliance{settings: i.settings()}
	a.log = a.settings.logger(os.Stderr)
	service, err := i.open(ctx, a)
	if err != nil {
		return errors.Join(err, a.close())
	}
	if err := a.firstUser(ctx, out); err != nil {
		return errors.Join(err, a.close())
	}
	fmt.Fprintf(out, "Inspector: http://%s\n", a.inspectorListener.Addr())
	return errors.Join(a.serveInspector(ctx, service), a.close())
}

// open makes the inspector up to the moment before it serves.
func (i *inspectorCommand) open(ctx context.Context, a *appliance) (*alone.Inspector, error) {
	password, err := secretIn("--ironic-password-file", i.IronicPwFile)
	if err != nil {
		return nil, err
	}
	client, err := ironic.New(ironic.Settings{URL: i.IronicURL, User: i.IronicUser, Password: password})
	if err != nil {
		return nil, err
	}
	if a.inspectorListener, err = net.Listen("tcp", i.Listen); err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", i.Listen, err)
	}
	if err := a.openStore(ctx); err != nil {
		return nil, err
	}
	if err := a.joinAlone(client); err != nil {
		return nil, err
	}
	if err := a.recover(ctx); err != nil {
		return nil, err
	}
	service := alone.New(alone.Needs{Service: a.introspections(), Ironic: client, Copies: a.store, DNS: net.DefaultResolver, Log: a.log})
	gate, err := a.gate()
	if err != nil {
		return nil, err
	}
	a.serveIntrospections(ctx, service, gate.Check, i.PublicURL)
	return service, nil
}

// joinAlone makes a conductor of copies of nodes, which has no BMC to talk to.
func (a *appliance) joinAlone(client *ironic.Client) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find this machine's name: %w", err)
	}
	inBand, _, err := a.settings.hookSettings.lists()
	if err != nil {
		return err
	}
	ignored, err := a.settings.hookSettings.ignored()
	if err != nil {
		return err
	}
	a.conductor = conductor.New(conductor.Needs{
		Nodes: a.store, Moves: writing{a.store, alone.Writing{Ironic: client, Copies: a.store}}, Attempts: a.store, Ports: a.store, Watched: a.store,
		Inspections: a.store, Signs: a.store, Rules: a.store, BMCs: noBMCs{}, Reports: reports{hooks: inBand, ignored: ignored, stored: a.store}, Logs: ramdisklogs.Archives{},
		Comparer: difference.Comparer{}, RuleEngine: ruleEngine{rules.New(rules.Options{Caller: rules.HTTP{}, Log: a.log})},
		Inspect: map[string]conductor.InspectInterface{alone.Interface: alone.Ramdisk{DNS: net.DefaultResolver}},
		Clock:   conductor.SystemClock{}, Log: a.log,
	}, conductor.Settings{Host: host, InspectTimeout: a.settings.InspectTimeout})
	return nil
}

// introspections is the inspector service of the nodes in the database.
func (a *appliance) introspections() *introspection.Service {
	return introspection.New(introspection.Needs{
		Nodes: a.store, Runs: a.store, Verbs: verbs{a.conductor}, Reports: door{a.conductor}, Stored: reported{a.conductor}, Rules: rulebook{a.conductor},
	})
}

// serveInspector serves and works until ctx ends, then stops in the reverse order.
func (a *appliance) serveInspector(ctx context.Context, service *alone.Inspector) error {
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	var work errgroup.Group
	for _, part := range []func() error{
		func() error { return a.queue.Run(working, a.conductor) },
		func() error { return a.conductor.Run(working) },
		func() error { return service.Run(working) },
	} {
		work.Go(func() error {
			// Nothing may be accepted that nobody would carry out.
			defer stopServing()
			return part()
		})
	}
	all, serving := errgroup.WithContext(serving)
	serveUntil(serving, all, a.inspectorApp, a.inspectorListener)
	err := all.Wait()
	stopWorking()
	return errors.Join(err, work.Wait())
}

// writing are the moves of copies, which reach Ironic first.
type writing struct {
	*store.Store
	alone.Writing
}

// EndAttempt is conductor.Moves'.
func (w writing) EndAttempt(ctx context.Context, e node.Ending) (node.Node, error) {
	e, err := w.Ending(ctx, e)
	if err != nil {
		return node.Node{}, err
	}
	return w.Store.EndAttempt(ctx, e)
}

// Move is conductor.Moves'.
func (w writing) Move(ctx context.Context, m node.Move) (node.Node, error) {
	m, err := w.Writing.Move(ctx, m)
	if err != nil {
		return node.Node{}, err
	}
	return w.Store.Move(ctx, m)
}

// noBMCs is what a conductor of copies has: their BMCs are Ironic's.
type noBMCs struct{}

func (noBMCs) Validate(node.Node) error { return nil }
func (noBMCs) Warn(node.Node) string    { return "" }
func (noBMCs) Forget(node.Node)         {}

func (noBMCs) Do(_ context.Context, n node.Node, _ func(conductor.BMC) error) error {
	return &node.Unsupported{Driver: n.Driver, Extension: "power"}
}

func (b noBMCs) Look(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return b.Do(ctx, n, fn)
}
