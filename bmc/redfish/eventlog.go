package redfish

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
)

// Bounds of one look at the log.
const (
	mostEntries    = 10_000
	mostEntryReads = 200 // where the BMC lists mere links, each of which is a request (the handbook's G10)
)

// Events reads the log of the hardware, the newest entry first. "All" are the newest 10,000.
func (c *client) Events(ctx context.Context, limit int) (entries []node.LogEntry, err error) {
	if limit <= 0 || limit > mostEntries {
		limit = mostEntries
	}
	err = c.walk(ctx, "read the event log", func(w *walk, s system) error {
		service, ok := w.logService(s)
		if !ok && w.failed != nil {
			return w.failed
		}
		if !ok {
			return c.unsupported("event log")
		}
		entries = w.entries(link(service.resource["Entries"]), limit)
		return nil
	})
	return entries, err
}

// ClearLog clears the log that Events reads. It is sent without If-Match first, which some BMCs do not take on actions (quirk
// 19), and with it to those that demand it (quirk 18). It is not repeated after a failure of another kind.
func (c *client) ClearLog(ctx context.Context) error {
	var target, path string
	err := c.walk(ctx, "look for the event log", func(w *walk, s system) error {
		service, ok := w.logService(s)
		if !ok && w.failed != nil {
			return w.failed
		}
		action := object(object(service.resource["Actions"])["#LogService.ClearLog"])
		target, path = linkPath(text(action["target"])), service.path
		if !ok || target == "" {
			return c.unsupported("clear event log")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.changing(ctx, "clear the event log", func(ch *change) error {
		err := ch.post(target, map[string]any{}, "")
		if status(err) == http.StatusPreconditionFailed || status(err) == http.StatusPreconditionRequired {
			etag, readErr := ch.etag(path)
			if readErr != nil {
				return readErr
			}
			err = ch.post(target, map[string]any{}, etag)
		}
		return err
	})
}

// logService is the log of the hardware: a BMC has several, beside it those of logins, of its own doings, and of diagnoses. Of
// those whose entries can be read the most likely one is taken.
func (w *walk) logService(s system) (member, bool) {
	services := w.collection(link(s.all["LogServices"]), "Id", "Entries")
	for _, m := range w.managers(s) {
		services = append(services, w.collection(link(m.resource["LogServices"]), "Id", "Entries")...)
	}
	services = slices.DeleteFunc(services, func(m member) bool { return rankOf(m) == 0 })
	slices.SortStableFunc(services, func(a, b member) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, m := range services {
		failures := w.failures
		if w.get(link(m.resource["Entries"])) != nil {
			return m, true
		}
		if w.failures > failures {
			break // it is there and cannot be read now: another one would be the wrong one
		}
	}
	return member{}, false
}

// rankOf orders log services, the likeliest first; 0 is none of them.
func rankOf(m member) int {
	id, kind := strings.ToLower(m.word("Id")), m.word("LogEntryType")
	switch {
	case link(m.resource["Entries"]) == "":
		return 0
	case id == "sel":
		return 1
	case id == "iml": // HPE's
		return 2
	case containsAny(id, "audit", "security", "diagnos", "dump", "crash", "post", "maintenance", "journal", "lclog", "iel") || id == "sl" || id == "salog":
		return 0
	case kind == "SEL" && !containsAny(id, "fault", "bios"):
		return 3
	case containsAny(id, "event", "platform"):
		return 4
	case kind != "OEM":
		return 5
	}
	return 6
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// entries reads the newest entries. Most BMCs list the oldest first, so that all pages have to be read; of one that begins with
// the newest, only as many as are wanted.
func (w *walk) entries(path string, limit int) []node.LogEntry {
	var found []node.LogEntry
	var links []json.RawMessage
	w.entryPages(path, func(page []json.RawMessage) bool {
		for _, raw := range page {
			if e := object(raw); len(e) > 1 {
				found = append(found, logEntry(e))
			} else {
				links = append(links, raw)
			}
		}
		return len(found)+len(links) < mostEntries && (len(found) < limit || !descending(found))
	})
	for _, raw := range newestLinks(links, min(limit-min(len(found), limit), mostEntryReads)) {
		if e := w.get(link(raw)); e != nil {
			found = append(found, logEntry(e))
		}
	}
	newestFirst(found)
	return found[:min(limit, len(found))]
}

// entryPages does not ask for expansion: entries come with their collection, by the standard.
func (w *walk) entryPages(path string, more func([]json.RawMessage) bool) {
	w.get(path)
	w.pages(path, more)
}

func logEntry(r resource) node.LogEntry {
	e := node.LogEntry{
		ID: r.word("Id"), At: moment(r["Created"]), Severity: health(r.first("Severity", "MessageSeverity")),
		Message: shortened(text(r["Message"]), 2000), Sensor: r.word("SensorType", "OemSensorType"),
	}
	if e.At.IsZero() {
		e.At = moment(r["EventTimestamp"])
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(r.word("MessageId", "MessageID", "Name") + " " + printable(strings.Join(texts(r["MessageArgs"]), ", ")))
	}
	if n := r.number("SensorNumber"); n != nil && *n > 0 && *n < 255 {
		e.Sensor = strings.TrimSpace(fmt.Sprintf("%s #%d", e.Sensor, int(*n)))
	}
	return e
}

// descending tells whether a list begins with the newest.
func descending(list []node.LogEntry) bool {
	first, last := list[0], list[len(list)-1]
	if first.At.IsZero() || last.At.IsZero() || first.At.Equal(last.At) {
		a, errA := strconv.Atoi(first.ID)
		b, errB := strconv.Atoi(last.ID)
		return errA == nil && errB == nil && a > b
	}
	return first.At.After(last.At)
}

// newestFirst sorts by time, entries of one moment by number; all by number where a clock was not set for some.
func newestFirst(list []node.LogEntry) {
	timed := !slices.ContainsFunc(list, func(e node.LogEntry) bool { return e.At.IsZero() })
	slices.SortStableFunc(list, func(a, b node.LogEntry) int {
		if timed && !a.At.Equal(b.At) {
			return b.At.Compare(a.At)
		}
		numA, _ := strconv.Atoi(a.ID)
		numB, _ := strconv.Atoi(b.ID)
		return cmp.Compare(numB, numA)
	})
}

// newestLinks are the links with the highest numbers at their ends.
func newestLinks(links []json.RawMessage, limit int) []json.RawMessage {
	end := func(raw json.RawMessage) int {
		path := strings.TrimRight(link(raw), "/")
		n, _ := strconv.Atoi(path[strings.LastIndex(path, "/")+1:])
		return n
	}
	slices.SortStableFunc(links, func(a, b json.RawMessage) int { return cmp.Compare(end(b), end(a)) })
	return links[:min(max(limit, 0), len(links))]
}
