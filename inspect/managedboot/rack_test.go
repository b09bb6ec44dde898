package managedboot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"cagenut/inspect/managedboot"
	"cagenut/node"
)

const (
	ourISO   = "http://192.0.2.1:6385/boot/iso/a1/0123456789abcdef/ipa.iso"
	theirISO = "http://192.0.2.7/rescue.iso"
)

// rack is a server whose BMC has a virtual drive. What it is told of is written down in the server's log.
type rack struct {
	server
	in      string // the image in the drive
	coming  string // the image that the BMC still fetches
	lag     int    // looks that this takes
	task    string // what it calls that
	taskErr error
	shows   func(string) string // how the BMC spells what is in
}

func (r *rack) Do(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error { return fn(r) }

func (r *rack) Look(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	return fn(r)
}

func (r *rack) BeginInsert(ctx context.Context, m node.Medium) (string, error) {
	if _, ok := ctx.Deadline(); !ok {
		return "", errors.New("a call to the BMC without a deadline")
	}
	r.log = append(r.log, "insert "+m.URL)
	if err := r.failing["insert"]; err != nil {
		return "", err
	}
	r.coming = m.URL
	return r.task, nil
}

func (r *rack) arrive() {
	if r.coming == "" {
		return
	}
	if r.lag--; r.lag < 0 {
		r.in, r.coming = r.coming, ""
	}
}

func (r *rack) Inserted(_ context.Context, m node.Medium, task string) (bool, error) {
	if task != r.task {
		return false, fmt.Errorf("asked after %q, the task is %q", task, r.task)
	}
	if r.taskErr != nil {
		return false, r.taskErr
	}
	r.arrive()
	return r.in == m.URL, nil
}

func (r *rack) EjectIf(_ context.Context, chosen func(node.VirtualDrive) bool) (int, error) {
	if err := r.failing["eject"]; err != nil {
		return 0, err
	}
	r.arrive()
	d := node.VirtualDrive{ID: "1", Kinds: []node.MediumKind{node.MediumCD}, Inserted: r.in != "", URL: r.in}
	if r.shows != nil {
		d.URL = r.shows(r.in)
	}
	if !d.Inserted || !chosen(d) {
		return 0, nil
	}
	r.log = append(r.log, "eject "+r.in)
	if r.power == node.PowerOn {
		r.log = append(r.log, "under a server that is on")
	}
	r.in = ""
	return 1, nil
}

// isos has one image for everybody.
type isos struct {
	address string
	notes   []string
	err     error
	reads   int // calls that it takes to read it
}

func (i *isos) Validate(node.Node) error { return i.err }

func (i *isos) ISO(ctx context.Context, _ node.Node, a node.Attempt) (string, []string, error) {
	if _, ok := ctx.Deadline(); !ok {
		return "", nil, errors.New("an image is read without a deadline")
	}
	if i.reads--; i.reads >= 0 {
		return "", nil, fmt.Errorf("read: %w", context.DeadlineExceeded)
	}
	return i.address, i.notes, i.err
}

// life is what the conductor keeps of a node and its attempt between pieces.
type life struct {
	t       *testing.T
	bmcs    managedboot.BMCs
	isos    *isos
	node    node.Node
	attempt node.Attempt
	notes   []string
}

func newLife(t *testing.T, r managedboot.BMCs, n node.Node) *life {
	n.Interfaces.Boot = node.BootVirtualMedia
	n.DriverInternalInfo = map[string]any{}
	return &life{t: t, bmcs: r, isos: &isos{address: ourISO}, node: n}
}

func (l *life) boot() *managedboot.Boot {
	return managedboot.New(l.bmcs, noNames{}, managedboot.Settings{RamdiskURL: "http://192.0.2.1:6385", ISOs: l.isos})
}

func (l *life) keep(p node.Progress) {
	l.attempt.Step, l.notes = p.Step, append(l.notes, p.Notes...)
	if p.BootMedium != nil {
		l.node.DriverInternalInfo[node.BootMediumKey] = *p.BootMedium
	}
}

// piece does one, by a Boot that remembers nothing, and keeps what it says as the conductor does.
func (l *life) piece(do func(*managedboot.Boot) (node.Progress, error)) (ready bool, err error) {
	p, err := do(l.boot())
	if err != nil {
		p.Step = l.attempt.Step
	}
	l.keep(p)
	return p.Ready, err
}

func (l *life) starting(b *managedboot.Boot) (node.Progress, error) {
	return b.Start(l.t.Context(), l.node, l.attempt)
}

func (l *life) cleaning(b *managedboot.Boot) (node.Progress, error) {
	return b.CleanUp(l.t.Context(), l.node, l.attempt, always)
}

func (l *life) all(do func(*managedboot.Boot) (node.Progress, error)) error {
	for range 200 {
		if ready, err := l.piece(do); ready || err != nil {
			return err
		}
		if l.attempt.Step == "" {
			l.t.Fatal("a piece without a step: a restart would begin again")
		}
	}
	return fmt.Errorf("not ready after 200 pieces, last step %q", l.attempt.Step)
}

func (l *life) start() error { return l.all(l.starting) }

// cleanUp is what follows the end of the attempt.
func (l *life) cleanUp() error {
	l.attempt.Step = ""
	return l.all(l.cleaning)
}
