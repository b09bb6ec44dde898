package redfish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/stmcginnis/gofish"

	"cagenut/node"
)

// Bounds of one walk through a BMC's resources. The largest machine that we have answers of needs some 250 requests.
const (
	mostRequests = 1500     // of one walk
	mostPages    = 100      // of one collection
	mostMembers  = 2000     // of one collection
	mostBytes    = 64 << 20 // of all answers of one walk; the largest machine that we have answers of has 1.5 MB
	mostSilences = 3        // requests without an answer, one after the other, after which the BMC counts as gone
)

// walk reads many resources for one call of a client, one after the other (quirk 42), each of them once. A resource that is
// missing, broken or refused is left out and the walk goes on; what ends a walk is kept in fatal, and everything after it is
// empty.
type walk struct {
	c   *client
	ctx context.Context
	g   *gofish.APIClient

	seen     map[string]resource // by path; nil for what could not be read
	requests int
	bytes    int // of their answers
	silences int
	fatal    error
	failed   error // the first answer that was neither a resource nor "there is none"
	failures int   // how many of those there were
	absent   bool  // the last read found that there is none
	// reading is what the next walk goes on from if this one runs out of time; nil where each walk reads anew.
	reading *reading
}

// walk does something that reads many resources, in bounded time.
func (c *client) walk(ctx context.Context, doing string, do func(*walk, system) error) error {
	return c.withinTime(ctx, c.options.Walk, doing, func(ctx context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		if err != nil {
			return err
		}
		return c.newWalk(ctx, g, s).through(do, s)
	})
}

func (c *client) newWalk(ctx context.Context, g *gofish.APIClient, s system) *walk {
	return &walk{c: c, ctx: ctx, g: g, seen: map[string]resource{tidy(s.path): s.all}}
}

// through goes the whole way.
func (w *walk) through(do func(*walk, system) error, s system) error {
	err := do(w, s)
	if w.fatal != nil {
		return w.fatal
	}
	return err
}

// tidy is a path as it is compared: some BMCs add slashes, or change upper and lower case.
func tidy(path string) string {
	return strings.ToLower(strings.TrimRight(path, "/"))
}

// get is the resource at a path; nil where there is none that can be used.
func (w *walk) get(path string) resource {
	if !strings.HasPrefix(path, "/") {
		return nil
	}
	if r, ok := w.seen[tidy(path)]; ok {
		return r
	}
	r := w.read(path)
	w.saw(path, r)
	return r
}

// saw remembers what was read. That there is none of it is worth knowing too; that it could not be read is, for this walk.
func (w *walk) saw(path string, r resource) {
	w.seen[tidy(path)] = r
	if w.reading != nil && (r != nil || w.absent) {
		w.reading.add(tidy(path), r)
	}
}

// follow is the resource that a link of r leads to.
func (w *walk) follow(r resource, key string) resource { return w.get(link(r[key])) }

func (w *walk) read(path string) resource {
	w.absent = false
	switch {
	case w.fatal != nil:
		return nil
	case w.ctx.Err() != nil:
		w.fatal = w.ctx.Err()
		return nil
	case w.requests >= mostRequests, w.bytes >= mostBytes:
		return nil
	}
	w.requests++
	ctx, cancel := context.WithTimeout(w.ctx, w.c.options.Try+w.c.options.Pause)
	defer cancel()
	body, _, err := read(w.g.WithContext(ctx), path)
	if err != nil {
		w.note(err)
		return nil
	}
	w.silences, w.bytes = 0, w.bytes+len(body)
	r := object(body)
	if r["error"] != nil && r["@odata.id"] == nil {
		return nil // an error that calls itself success
	}
	return r
}

// note keeps an error as far as it matters to the rest of the walk.
func (w *walk) note(err error) {
	var dial *net.OpError
	switch {
	case w.ctx.Err() != nil:
		w.fatal = w.ctx.Err()
	case errors.Is(err, node.ErrCredentials), status(err) == http.StatusUnauthorized, errors.As(err, &dial) && dial.Op == "dial":
		w.fatal = err
	case timeIsUp(err):
		if w.silences++; w.silences >= mostSilences {
			w.fatal = err
		}
	}
	switch status(err) {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusGone:
		w.absent = true
		return // the BMC has no such thing
	}
	w.failures++
	if w.failed == nil {
		w.failed = err
	}
}

// member is one of a collection's.
type member struct {
	path string
	resource
}

// collection reads the members behind a link. Those that cannot be read are left out. The keys are what the caller is after: a
// member that a BMC sent with its collection, but without all of them, is asked for by itself (quirk 55).
func (w *walk) collection(path string, keys ...string) []member {
	var members []member
	for _, raw := range w.list(path) {
		m := w.member(raw, keys)
		if m.resource != nil {
			members = append(members, m)
		}
	}
	return members
}

func (w *walk) member(raw json.RawMessage, keys []string) member {
	m := member{path: link(raw), resource: object(raw)}
	if strings.Contains(text(m.resource["@odata.id"]), "#") {
		m.path = "" // a part of another resource has no address of its own
	}
	if len(m.resource) > 1 && m.first(keys...) != nil {
		if _, ok := w.seen[tidy(m.path)]; m.path != "" && !ok {
			w.seen[tidy(m.path)] = m.resource
		}
		return m
	}
	m.resource = w.get(m.path)
	return m
}

// list is the raw members of a collection, over all its pages.
func (w *walk) list(path string) []json.RawMessage {
	var members []json.RawMessage
	w.pages(path, func(page []json.RawMessage) bool {
		members = append(members, page...)
		return len(members) < mostMembers
	})
	return members[:min(len(members), mostMembers)]
}

// pages reads a collection page by page while more wants them. A page that leads back to one before ends it (the handbook's G4),
// and so does one that begins as one before: some BMCs ignore which page they are asked for.
func (w *walk) pages(path string, more func([]json.RawMessage) bool) {
	seen := map[string]bool{}
	page := w.firstPage(path)
	for n := 1; page != nil; n++ {
		members := items(page["Members"])
		if len(members) > 0 {
			begins := link(members[0])
			if begins != "" && seen[begins] {
				return
			}
			seen[begins] = true
		}
		if !more(members) || n == mostPages {
			return
		}
		next := linkPath(text(page.first("Members@odata.nextLink", "@odata.nextLink")))
		if next == "" || seen[next] || next == path {
			return
		}
		seen[next] = true
		page = w.get(next)
	}
}

// firstPage asks for the members together with their collection where the BMC offers that, and for the bare collection where it
// does not, or fails at it (quirks 43, 55).
func (w *walk) firstPage(path string) resource {
	query := w.c.expansion()
	if !strings.HasPrefix(path, "/") || query == "" || strings.Contains(path, "?") {
		return w.get(path)
	}
	if r, ok := w.seen[tidy(path)]; ok {
		return r
	}
	failed, failures, silences := w.failed, w.failures, w.silences
	r := w.read(path + "?" + query)
	if r != nil && w.complete(r) {
		w.saw(path, r)
		return r
	}
	if w.fatal != nil {
		return nil
	}
	w.failed, w.failures, w.silences = failed, failures, silences
	if r = w.get(path); r != nil {
		w.c.dontExpand()
	}
	return r
}

// complete tells whether a BMC's members are the same with their collection as one by one (quirk 55). The first one with nothing in
// some field is asked for by itself, once for each BMC.
func (w *walk) complete(collection resource) bool {
	if w.c.expansionKnown() {
		return true
	}
	for _, raw := range items(collection["Members"]) {
		m, path := object(raw), link(raw)
		if len(m) < 2 || path == "" || !hasNull(m, nil) {
			continue
		}
		alone := w.get(path)
		if alone == nil {
			continue
		}
		if hasNull(m, alone) {
			return false
		}
		w.c.doExpand()
		return true
	}
	return true
}

// hasNull tells whether a field is null that is not null in another version of the resource; with none, whether any is.
func hasNull(r, other resource) bool {
	for key, v := range r {
		if bytes.Equal(v, []byte("null")) && (other == nil || (len(other[key]) > 0 && !bytes.Equal(other[key], v))) {
			return true
		}
	}
	return false
}

// array follows each link of a list inside a resource. What is a link to a collection instead is read as one.
func (w *walk) array(raw json.RawMessage, keys ...string) []member {
	if path := link(raw); path != "" {
		return w.collection(path, keys...)
	}
	var members []member
	seen := map[string]bool{}
	for _, item := range items(raw) {
		m := w.member(item, keys)
		if m.resource == nil || (m.path != "" && seen[tidy(m.path)]) || len(members) == mostMembers {
			continue
		}
		seen[tidy(m.path)] = true
		members = append(members, m)
	}
	return members
}
