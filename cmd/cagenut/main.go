// Command cagenut is the appliance: the only place where rooms meet. It reads settings, wires the rooms together and holds
// no logic of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cagenut:", err)
		os.Exit(1)
	}
}

type commands struct {
	Serve     serveCommand     `cmd:"" help:"Run the appliance."`
	Demo      demoCommand      `cmd:"" help:"Run the appliance in front of a simulated rack, on loopback, with nothing kept."`
	Inspector inspectorCommand `cmd:"" help:"Run the inspector service alone, beside an appliance or another Ironic."`
	Sim       simCommand       `cmd:"" help:"Run simulated BMCs alone, with faults that an HTTP call switches on."`
	User      userCommand      `cmd:"" help:"Say who may sign in, and with which role."`
}

// run is main without the process around it.
func run(ctx context.Context, args []string, out, errs io.Writer) error {
	var (
		c     commands
		ended *exited
	)
	parser, err := kong.New(&c,
		kong.Name("cagenut"),
		kong.Description("A rack-side appliance for bare-metal servers: enrols and inspects them, and stops an inspection at once."),
		kong.Writers(out, errs),
		kong.Exit(func(code int) { panic(&exited{code}) }),
		kong.Configuration(yamlSettings),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(out, (*io.Writer)(nil)),
	)
	if err != nil {
		return err
	}
	parsed, err := parse(parser, args, &ended)
	if ended != nil {
		return nil // --help has said everything
	}
	if err != nil {
		return oneSentence(err)
	}
	return parsed.Run()
}

type exited struct{ code int }

// parse stops where kong wants to end the process.
func parse(p *kong.Kong, args []string, ended **exited) (k *kong.Context, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *exited:
			*ended = v
		default:
			panic(v)
		}
	}()
	return p.Parse(args)
}

// oneSentence makes what kong says of a bad setting one line.
func oneSentence(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
