package managedboot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"cagenut/node"
)

// The steps of a boot from an ISO that others do not have.
const (
	stepReading  = "reading the ISO"
	stepISOFound = "ISO found"
	stepCleared  = "nothing of an earlier inspection is left"
	// stepInserting has the number of looks, and what the BMC calls the work where it has a name for it.
	stepInserting = "the BMC inserts the ISO, look "
	stepISOIn     = "ISO inserted"
	stepCDSet     = "boot device set to the virtual CD"
)

// startFromISO does the piece after the attempt's step. What is put in is written down before the BMC is asked for it, so
// that a clean-up knows of it whatever happens then.
func (b *Boot) startFromISO(ctx context.Context, s start) (node.Progress, error) {
	switch step := s.attempt.Step; {
	case step == "" || step == stepReading:
		return b.findISO(ctx, s)
	case step == stepISOFound && s.node.DisablePowerOff:
		return b.withISO(ctx, s, isoStart.clearNow)
	case step == stepISOFound:
		return b.withISO(ctx, s, func(i isoStart, ctx context.Context, c BMC) (node.Progress, error) {
			return powerDown(i.clearOff)(ctx, c)
		})
	case step == stepOffAsked:
		return b.withISO(ctx, s, func(i isoStart, ctx context.Context, c BMC) (node.Progress, error) {
			return afterOff(i.clearOff)(ctx, c)
		})
	case step == stepCleared:
		return b.withISO(ctx, s, isoStart.insert)
	case strings.HasPrefix(step, stepInserting):
		return b.withISO(ctx, s, isoStart.look)
	case step == stepISOIn:
		return b.do(ctx, s.node, s.bootCD)
	case step == stepCDSet:
		return b.do(ctx, s.node, powerUp)
	}
	return node.Progress{}, fmt.Errorf("the start of the inspection is lost at %q", s.attempt.Step)
}

// findISO reads the image before anything is done to the server.
func (b *Boot) findISO(ctx context.Context, s start) (node.Progress, error) {
	reading, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	_, notes, err := b.settings.ISOs.ISO(reading, s.node, s.attempt)
	if errors.Is(err, context.DeadlineExceeded) {
		return node.Progress{Step: stepReading}, nil
	}
	if err != nil {
		return node.Progress{}, err
	}
	return b.recognisable(ctx, s.node, node.Progress{Step: stepISOFound, Notes: notes}), nil
}

// isoStart is a piece of a start that knows its image.
type isoStart struct {
	start
	medium node.Medium
}

// withISO runs a piece with the BMC that needs to know the image. The image's address is not for everybody: errors do not
// tell it.
func (b *Boot) withISO(ctx context.Context, s start, piece func(isoStart, context.Context, BMC) (node.Progress, error)) (node.Progress, error) {
	address, _, err := b.settings.ISOs.ISO(ctx, s.node, s.attempt)
	if errors.Is(err, context.DeadlineExceeded) { // the file is another one now, and has to be read
		return node.Progress{Step: s.attempt.Step}, nil
	}
	if err != nil {
		return node.Progress{}, err
	}
	m, err := node.ParseMedium(node.MediumCD, address)
	if err != nil {
		return node.Progress{}, err
	}
	p, err := b.do(ctx, s.node, func(ctx context.Context, c BMC) (node.Progress, error) {
		return piece(isoStart{start: s, medium: m}, ctx, c)
	})
	return p, untold(err, m.URL)
}

// clearNow clears a server that must not be switched off.
func (i isoStart) clearNow(ctx context.Context, c BMC) (node.Progress, error) {
	return i.clearOff(ctx, c, "")
}

func (i isoStart) clearOff(ctx context.Context, c BMC, now node.PowerState) (node.Progress, error) {
	if err := i.clear(ctx, c); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepCleared, Power: now, BootMedium: i.record(false)}, nil
}

func (i isoStart) record(in bool) *string {
	s := node.MediumRecord{URL: i.medium.URL, In: in}.String()
	return &s
}

// insert asks the BMC to insert the image. That the answer does not come in time says nothing: the drive will be looked at.
func (i isoStart) insert(ctx context.Context, c BMC) (node.Progress, error) {
	if i.node.BootMedium().URL != i.medium.URL { // the setting has changed meanwhile
		return node.Progress{Step: stepCleared, BootMedium: i.record(false)}, nil
	}
	m, err := media(c, i.node)
	if err != nil {
		return node.Progress{BootMedium: forgotten(i.node)}, err
	}
	asking, cancel := context.WithTimeout(ctx, insertLimit)
	defer cancel()
	task, err := m.BeginInsert(asking, i.medium)
	if err != nil && !late(err) {
		return i.refused(err)
	}
	if err == nil && task == "" {
		if in, err := m.Inserted(asking, i.medium, ""); in && err == nil {
			return i.inserted(), nil
		}
	}
	return node.Progress{Step: inserting(1, task), After: pollOn}, nil
}

// look looks whether the image is in by now. How long that may take is the start's own bound. A BMC that has accepted the
// image and does not answer as it should may be inserting it all the same.
func (i isoStart) look(ctx context.Context, c BMC) (node.Progress, error) {
	looks, task := insertingAt(i.attempt.Step)
	m, err := media(c, i.node)
	if err != nil {
		return node.Progress{}, err
	}
	in, err := m.Inserted(ctx, i.medium, task)
	unreachable := (*node.Unreachable)(nil)
	switch unsure := errors.As(err, &unreachable); {
	case in:
		return i.inserted(), nil
	case unsure && unreachable.Trouble == node.TroubleTask:
		return i.refused(err)
	case err != nil && !unsure && !late(err):
		return node.Progress{}, inserts(err)
	case task == "" && looks%askAgain == 0:
		asking, cancel := context.WithTimeout(ctx, insertLimit)
		defer cancel()
		if task, err = m.BeginInsert(asking, i.medium); err != nil && !late(err) {
			return node.Progress{}, inserts(err) // perhaps because it still does what it was asked for at first
		}
	}
	return node.Progress{Step: inserting(looks+1, task), After: pollOn}, nil
}

func (i isoStart) inserted() node.Progress {
	return node.Progress{Step: stepISOIn, BootMedium: i.record(true)}
}

// refused fails the start. A BMC that has said no is not inserting anything: there is nothing to wait for then.
func (i isoStart) refused(err error) (node.Progress, error) {
	p := node.Progress{}
	said := (*node.Unreachable)(nil)
	if !errors.As(err, &said) || said.Answered && said.Trouble != node.TroubleInside {
		p.BootMedium = forgotten(i.node)
	}
	return p, inserts(err)
}

func inserts(err error) error { return fmt.Errorf("insert the ISO: %w", err) }

// bootCD lets the next boot be from the virtual drive; a server that must not be switched off is rebooted in the same piece.
func (s start) bootCD(ctx context.Context, c BMC) (node.Progress, error) {
	if err := c.SetBoot(ctx, node.Boot{Device: node.BootCDROM}); err != nil {
		return node.Progress{}, fmt.Errorf("set the boot device to the virtual CD: %w", err)
	}
	if s.node.DisablePowerOff {
		return rebootIn(ctx, c)
	}
	return node.Progress{Step: stepCDSet}, nil
}

// late tells of an answer that did not come in time: nobody knows what the BMC does.
func late(err error) bool {
	silent := (*node.Unreachable)(nil)
	return errors.As(err, &silent) && silent.Timeout || errors.Is(err, context.DeadlineExceeded)
}

func inserting(looks int, task string) string {
	if task != "" {
		task = " at " + task
	}
	return fmt.Sprintf("%s%d%s", stepInserting, looks, task)
}

func insertingAt(step string) (looks int, task string) {
	count, task, _ := strings.Cut(strings.TrimPrefix(step, stepInserting), " at ")
	_, _ = fmt.Sscan(count, &looks) // our own words
	return looks, task
}

// untold takes an image's address out of an error's text: whoever knows it can read the attempt's token.
func untold(err error, address string) error {
	if err == nil {
		return nil
	}
	short := "…/" + path.Base(node.PublicAddress(address))
	text := strings.ReplaceAll(err.Error(), address, short)
	if _, after, found := strings.Cut(address, "://"); found {
		if _, where, found := strings.Cut(after, "/"); found && where != "" {
			text = strings.ReplaceAll(text, "/"+where, short)
		}
	}
	if text == err.Error() {
		return err
	}
	return told{text: text, error: err}
}

// told is an error with another text.
type told struct {
	text string
	error
}

func (t told) Error() string { return t.text }

func (t told) Unwrap() error { return t.error }
