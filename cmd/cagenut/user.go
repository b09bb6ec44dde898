package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cagenut/node"
	"cagenut/store"
	"cagenut/web"
	"cagenut/web/auth"
)

// firstUser makes `admin` where nobody could sign in, and prints the password this once.
func (a *appliance) firstUser(ctx context.Context, out io.Writer) error {
	if a.settings.Auth == auth.None || a.settings.HTPasswd != "" {
		return nil
	}
	all, err := a.store.Users(ctx)
	if err != nil || len(all) > 0 {
		return err
	}
	password := rand.Text()
	if err := addUser(ctx, a.store, "admin", password, web.RoleAdmin); err != nil {
		return err
	}
	fmt.Fprintf(out, "There was no user yet. Sign in as admin with the password %s (it is shown only now; change it with cagenut user passwd admin).\n", password)
	return nil
}

func addUser(ctx context.Context, s *store.Store, name, password, role string) error {
	hash, err := auth.HashPassword(password)
	if err != nil {
		return err
	}
	return s.AddUser(ctx, store.User{Name: name, PasswordHash: hash, Role: role}, byCommand("user add", name+": "+role))
}

// byCommand is the line of the audit for what was done on the machine itself, by whoever may read its data.
func byCommand(action, whom string) node.Audit {
	return node.Audit{At: time.Now(), Actor: node.System(), Action: action, Result: "accepted", Reason: whom + " (by command)"}
}

type userCommand struct {
	DataDir string `default:"./cagenut-data" env:"CAGENUT_DATA_DIR" help:"Data folder of the appliance; it may be running."`

	Add    userAdd    `cmd:"" help:"Add somebody; the password is read from standard input."`
	Passwd userPasswd `cmd:"" help:"Change a password, which signs out everywhere; it is read from standard input."`
	List   userList   `cmd:"" help:"List who may sign in."`
	Remove userRemove `cmd:"" help:"Remove somebody, who is signed out everywhere."`
}

func (u *userCommand) open(ctx context.Context) (*store.Store, error) {
	if _, err := os.Stat(filepath.Join(u.DataDir, "cagenut.db")); err != nil {
		return nil, fmt.Errorf("there is no appliance's data in %s: %w", u.DataDir, err)
	}
	seal, err := store.OpenSeal(filepath.Join(u.DataDir, "secret.key"))
	if err != nil {
		return nil, err
	}
	s := settings{LogLevel: "error", LogFormat: "text"}
	return store.Open(ctx, store.Options{Path: filepath.Join(u.DataDir, "cagenut.db"), Seal: seal, Log: s.logger(os.Stderr)})
}

func (u *userCommand) with(ctx context.Context, fn func(*store.Store) error) error {
	s, err := u.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(s), s.Close())
}

// readPassword takes one line, so that the password stands in no list of processes.
func readPassword() (string, error) {
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.Join(errors.New("give the password as one line on standard input"), ignoreEOF(err))
	}
	return line, nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

type userAdd struct {
	Name string `arg:""`
	Role string `default:"operator" enum:"viewer,operator,admin" help:"viewer, operator or admin."`
}

// Run is kong's.
func (a *userAdd) Run(ctx context.Context, c *commands) error {
	if err := auth.CheckName(a.Name); err != nil {
		return err
	}
	return c.User.with(ctx, func(s *store.Store) error {
		var missing *node.NotFound
		if _, err := s.User(ctx, a.Name); err == nil {
			return fmt.Errorf("there is a user %s already", a.Name)
		} else if !errors.As(err, &missing) {
			return err
		}
		password, err := readPassword()
		if err != nil {
			return err
		}
		return addUser(ctx, s, a.Name, password, a.Role)
	})
}

type userPasswd struct {
	Name string `arg:""`
}

// Run is kong's.
func (p *userPasswd) Run(ctx context.Context, c *commands) error {
	return c.User.with(ctx, func(s *store.Store) error {
		if _, err := s.User(ctx, p.Name); err != nil {
			return err
		}
		password, err := readPassword()
		if err != nil {
			return err
		}
		hash, err := auth.HashPassword(password)
		if err != nil {
			return err
		}
		return s.ChangeUser(ctx, p.Name, store.UserChange{PasswordHash: hash}, byCommand("user password", p.Name))
	})
}

type userList struct{}

// Run is kong's.
func (*userList) Run(ctx context.Context, c *commands, out io.Writer) error {
	return c.User.with(ctx, func(s *store.Store) error {
		all, err := s.Users(ctx)
		for _, u := range all {
			fmt.Fprintf(out, "%s\t%s\n", u.Name, u.Role)
		}
		return err
	})
}

type userRemove struct {
	Name string `arg:""`
}

// Run is kong's.
func (r *userRemove) Run(ctx context.Context, c *commands) error {
	return c.User.with(ctx, func(s *store.Store) error { return s.RemoveUser(ctx, r.Name, byCommand("user remove", r.Name)) })
}
