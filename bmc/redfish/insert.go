package redfish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"cagenut/node"
)

// insertTries is how often an insertion is tried that a BMC fails at while it still puts the last image away (quirk 27).
const insertTries = 4

// BeginInsert asks for an image to be put into a drive of its kind, and does not wait until it is in. Another image of that
// kind is ejected first (G35). Drives that refuse are passed over (quirks 23, 28): some are for the BMC's own console alone.
func (c *client) BeginInsert(ctx context.Context, m node.Medium) (task string, err error) {
	drives, err := c.drives(ctx)
	if err != nil {
		return "", c.lacking(err, "attach_virtual_media")
	}
	var fit []virtualDrive
	for _, d := range drives {
		if !d.takes(m.Kind) {
			continue
		}
		if d.Inserted && d.URL == m.URL {
			return "", nil
		}
		fit = append(fit, d)
	}
	if len(fit) == 0 {
		return "", c.unsupported("attach_virtual_media") // no drive takes that kind
	}
	err = c.changing(ctx, "insert the virtual medium", func(ch *change) error {
		free, err := ch.makeRoom(fit, m.Kind)
		if err != nil {
			return err
		}
		ch.begin = true
		err = ch.insertSomewhere(free, m)
		task = ch.task
		return err
	})
	return task, node.HideSecret(err, m.Password)
}

// Inserted looks at the task, where there is one, and at the drives. A drive that shows no image beside "inserted" is believed;
// so is one that spells the image in its own way, because it was empty when the insertion began.
func (c *client) Inserted(ctx context.Context, m node.Medium, task string) (in bool, err error) {
	if task != "" {
		err = c.changing(ctx, "insert the virtual medium", func(ch *change) error {
			now, _, err := ch.glance(task)
			if err == nil {
				_, err = taskEnd(now)
			}
			return err
		})
		if err != nil {
			return false, node.HideSecret(err, m.Password)
		}
	}
	drives, err := c.drives(ctx)
	for _, d := range drives {
		if d.takes(m.Kind) && d.Inserted && (d.URL == "" || d.URL == m.URL || path.Base(d.URL) == path.Base(m.URL)) {
			return true, nil
		}
	}
	return false, err
}

// makeRoom ejects what is of the kind, and lists the drives that are empty then.
func (ch *change) makeRoom(drives []virtualDrive, kind node.MediumKind) (free []virtualDrive, err error) {
	for _, d := range drives {
		if d.holds(kind) {
			failure := ch.eject(d)
			switch {
			case failure == nil:
				d.Inserted = false
			case !refused(failure):
				return nil, failure
			case err == nil:
				err = failure // the console's, perhaps: another drive will do
			}
		}
		if !d.Inserted {
			free = append(free, d)
		}
	}
	if len(free) > 0 {
		return free, nil
	}
	if err == nil {
		err = &node.Conflict{Text: fmt.Sprintf("All drives for %s of BMC %s hold other media.", kind, ch.c.base)}
	}
	return nil, err
}

// lacking names an ability by what was asked for.
func (c *client) lacking(err error, what string) error {
	var u *node.Unsupported
	if errors.As(err, &u) {
		return c.unsupported(what)
	}
	return err
}

func (ch *change) insertSomewhere(drives []virtualDrive, m node.Medium) error {
	var first error
	for _, d := range drives {
		err := ch.insert(d, m)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
		if !refused(err) {
			return err
		}
	}
	if status(first) == http.StatusNotFound || status(first) == http.StatusMethodNotAllowed {
		return ch.c.unsupported("attach_virtual_media")
	}
	return first
}

// refused tells of an answer that the BMC has not done what it was asked.
func refused(err error) bool {
	s := status(err)
	return s/100 == 4 && s != http.StatusUnauthorized && s != http.StatusForbidden || s == http.StatusNotImplemented
}

// insert goes down the ladder of bodies until the drive takes one (quirks 24, 25). After each failure the drive is looked at
// before anything else is sent.
func (ch *change) insert(d virtualDrive, m node.Medium) error {
	var last error
	bodies := insertBodies(m)
	for i, tries := 0, 1; i < len(bodies); {
		err := ch.put(d, bodies[i])
		if err == nil {
			return nil
		}
		last = err
		if now, lookErr := ch.drive(d.path); lookErr == nil && now.Inserted && now.URL == m.URL {
			return nil
		}
		switch {
		case refused(err) && !busy(err):
			bodies = demanded(bodies, i, m, err)
			i++
		case (status(err)/100 == 5 || lost(err)) && tries < insertTries && sleep(ch.ctx, ch.c.options.BusyPause) == nil:
			tries++
		default:
			return err
		}
	}
	return last
}

func (ch *change) put(d virtualDrive, body map[string]any) error {
	if d.insert != "" {
		return ch.post(d.insert, body, "")
	}
	return ch.patch(d.path, body) // a drive without actions is written to (quirk 23)
}

// insertBodies are the usual bodies, the fullest first.
func insertBodies(m node.Medium) []map[string]any {
	bodies := []map[string]any{
		{"Image": m.URL, "Inserted": true, "WriteProtected": true},
		{"Image": m.URL, "Inserted": true},
		{"Image": m.URL},
	}
	if m.User != "" {
		for _, b := range bodies {
			b["UserName"], b["Password"] = m.User, string(m.Password)
		}
	}
	return bodies
}

// demanded adds what the BMC's refusal names: some want to be told how to fetch the image, some want a user whatever he is called
// (quirk 25).
func demanded(bodies []map[string]any, at int, m node.Medium, refusal error) []map[string]any {
	protocol, _, _ := strings.Cut(m.URL, ":")
	said := refusal.Error()
	more := map[string]any{}
	for key, value := range map[string]any{
		"TransferProtocolType": strings.ToUpper(protocol), "TransferMethod": "Stream", "UserName": "none", "Password": "none",
	} {
		if _, sent := bodies[at][key]; !sent && strings.Contains(said, key) {
			more[key] = value
		}
	}
	if len(more) == 0 {
		return bodies
	}
	var out []map[string]any
	for i, b := range bodies {
		out = append(out, b)
		if i != at {
			continue
		}
		fuller := map[string]any{}
		for _, from := range []map[string]any{b, more} {
			for k, v := range from {
				fuller[k] = v
			}
		}
		out = append(out, fuller)
	}
	return out
}

func (ch *change) drive(path string) (virtualDrive, error) {
	body, _, err := read(ch.g, path)
	if err != nil {
		return virtualDrive{}, err
	}
	return newDrive(path, object(body)), nil
}

// emptied polls until the drive shows itself as empty, within the time for media.
func (ch *change) emptied(d virtualDrive) error {
	for {
		now, err := ch.drive(d.path)
		if err != nil {
			return err
		}
		if !now.Inserted {
			return nil
		}
		if sleep(ch.ctx, ch.pause()) != nil {
			if errors.Is(ch.ctx.Err(), context.Canceled) {
				return ch.ctx.Err()
			}
			return &node.Unreachable{What: "BMC " + ch.c.base, Timeout: true, Answered: true, Err: errors.New("the BMC accepted the ejection, but still shows the image as inserted")}
		}
	}
}

// Eject empties the drives of a kind, or all.
func (c *client) Eject(ctx context.Context, kind node.MediumKind) error {
	drives, err := c.drives(ctx)
	if err != nil {
		return c.lacking(err, "detach_virtual_media")
	}
	return c.changing(ctx, "eject the virtual medium", func(ch *change) error {
		var errs []error
		for _, d := range drives {
			if d.holds(kind) {
				errs = append(errs, ch.eject(d))
			}
		}
		return errors.Join(errs...)
	})
}

// EjectIf empties the drives that are chosen.
func (c *client) EjectIf(ctx context.Context, chosen func(node.VirtualDrive) bool) (n int, err error) {
	drives, err := c.drives(ctx)
	if err != nil {
		return 0, c.lacking(err, "detach_virtual_media")
	}
	err = c.changing(ctx, "eject the virtual medium", func(ch *change) error {
		var errs []error
		for _, d := range drives {
			if d.Inserted && chosen(d.VirtualDrive) {
				n++
				errs = append(errs, ch.eject(d))
			}
		}
		return errors.Join(errs...)
	})
	return n, err
}

// eject empties a drive and waits until it says so: some BMCs show the old image for a while (quirk 27). That the drive is empty
// counts, whatever the BMC answered (quirk 26).
func (ch *change) eject(d virtualDrive) error {
	err := ch.takeOut(d)
	if lost(err) {
		if now, lookErr := ch.drive(d.path); lookErr == nil && now.Inserted {
			err = ch.takeOut(d)
		}
	}
	if err != nil {
		if now, lookErr := ch.drive(d.path); lookErr == nil && !now.Inserted {
			return nil
		}
		if d.eject == "" && (status(err) == http.StatusNotFound || status(err) == http.StatusMethodNotAllowed) {
			return ch.c.unsupported("detach_virtual_media")
		}
		return err
	}
	return ch.emptied(d)
}

// takeOut sends the ejection: the action, and to a drive without it what it may take of the properties (quirk 23).
func (ch *change) takeOut(d virtualDrive) (err error) {
	if d.eject != "" {
		return ch.post(d.eject, map[string]any{}, "")
	}
	for _, body := range []map[string]any{{"Image": nil, "Inserted": false}, {"Image": nil}, {"Inserted": false}} {
		if err = ch.patch(d.path, body); err == nil || !refused(err) {
			break
		}
	}
	return err
}
