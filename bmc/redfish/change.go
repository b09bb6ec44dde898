package redfish

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"cagenut/node"
)

// change is one command to a BMC, with all that belongs to it. Nothing in here is sent twice unless the BMC has refused it.
type change struct {
	c   *client
	ctx context.Context
	g   *gofish.APIClient
	// once says that not even a refusal for being busy is followed by another try.
	once bool
	// begin says that what the BMC makes a task of is not waited for: task is its path then.
	begin bool
	task  string
}

// changing does something that changes a BMC and may take it a while.
func (c *client) changing(ctx context.Context, doing string, do func(*change) error) error {
	return c.withinTime(ctx, c.options.Media, doing, func(ctx context.Context, g *gofish.APIClient) error {
		return do(&change{c: c, ctx: ctx, g: g})
	})
}

// post carries out an action and waits for its task, if the BMC makes one of it (quirk 37). A BMC that is busy is asked again.
// The body is never empty: some BMCs refuse an action without one (G35).
func (ch *change) post(path string, body map[string]any, etag string) error {
	return ch.send(etag, func(headers map[string]string) (*http.Response, error) {
		return ch.g.PostWithHeaders(path, body, headers)
	})
}

// patch writes properties of a resource with the ETag that it has now: read again when the BMC calls it stale, then as a strong
// one, then left out (quirks 18, 20, 21).
func (ch *change) patch(path string, body map[string]any) error {
	patch := func(headers map[string]string) (*http.Response, error) {
		return ch.g.PatchWithHeaders(path, body, headers)
	}
	var err error
	for range 2 {
		var etag string
		if etag, err = ch.etag(path); err != nil {
			return err
		}
		if err = ch.send(etag, patch); lost(err) {
			continue // to write a property twice is to write it once
		}
		if status(err) != http.StatusPreconditionFailed {
			return err
		}
		if strong, weak := strings.CutPrefix(etag, "W/"); weak {
			if err = ch.send(strong, patch); status(err) != http.StatusPreconditionFailed {
				return err
			}
		}
	}
	if lost(err) {
		return err
	}
	return ch.send("", patch)
}

// etag is the header's, else that in the body.
func (ch *change) etag(path string) (string, error) {
	body, etag, err := read(ch.g, path)
	if etag == "" {
		etag = text(object(body)["@odata.etag"])
	}
	return etag, err
}

func (ch *change) send(etag string, send func(map[string]string) (*http.Response, error)) error {
	headers := map[string]string{}
	if etag != "" {
		headers["If-Match"] = etag
	}
	for try := 1; ; try++ {
		res, err := send(headers)
		if err == nil {
			return ch.finish(res)
		}
		schemas.DeferredCleanupHTTPResponse(res)
		if !busy(err) || ch.once || try >= ch.c.options.BusyTries || sleep(ch.ctx, ch.c.options.BusyPause) != nil {
			return err
		}
	}
}

// finish waits for the task of an accepted command; without one the command is done.
func (ch *change) finish(res *http.Response) error {
	defer schemas.DeferredCleanupHTTPResponse(res)
	if res.StatusCode != http.StatusAccepted {
		return nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	task := object(body)
	path := linkPath(res.Header.Get("Location"))
	if path == "" {
		path = linkPath(text(task["@odata.id"]))
	}
	if path == "" {
		return nil // the caller looks at what the command changes
	}
	if ch.begin {
		ch.task = path
		_, err := taskEnd(task)
		return err
	}
	return ch.follow(path, task)
}

// follow polls a task, or its monitor, which answers 202 while it runs and disappears afterwards.
func (ch *change) follow(path string, task resource) error {
	for {
		done, err := taskEnd(task)
		if done || err != nil {
			return err
		}
		if err := sleep(ch.ctx, ch.pause()); err != nil {
			return err
		}
		if task, done, err = ch.glance(path); done || err != nil {
			return err
		}
	}
}

// glance takes one look at a task; done is that there is nothing more to learn of it.
func (ch *change) glance(path string) (task resource, done bool, err error) {
	body, running, err := ch.look(path)
	switch {
	case status(err) == http.StatusNotFound || status(err) == http.StatusGone:
		return nil, true, nil // finished and forgotten
	case refused(err) && !busy(err):
		return nil, false, &taskError{"HTTP status " + reason(err)} // likewise: it is the command's
	case err != nil:
		return nil, false, err
	case !running && object(body)["TaskState"] == nil:
		return nil, true, nil // the monitor's last answer is that of the command
	}
	return object(body), false, nil
}

func (ch *change) look(path string) (body json.RawMessage, running bool, err error) {
	res, err := ch.g.Get(path)
	if err != nil {
		return nil, false, err
	}
	defer schemas.DeferredCleanupHTTPResponse(res)
	body, err = io.ReadAll(res.Body)
	return body, res.StatusCode == http.StatusAccepted, err
}

// pause is how long a BMC is left alone between two looks at what it is doing.
func (ch *change) pause() time.Duration { return ch.c.options.Poll }

// taskEnd tells whether a task has ended, and how.
func taskEnd(task resource) (done bool, err error) {
	switch task.word("TaskState") {
	case "Completed":
		if health(task["TaskStatus"]) == node.HealthCritical {
			return true, taskFailure(task)
		}
		return true, nil
	case "Exception", "Killed", "Cancelled", "Interrupted":
		return true, taskFailure(task)
	}
	return false, nil
}

// taskError says that a task has failed: the BMC will not do what it had accepted.
type taskError struct{ said string }

func (e *taskError) Error() string { return e.said }

func taskFailure(task resource) error {
	var said []string
	for _, raw := range items(task["Messages"]) {
		if m := object(raw).word("Message", "MessageId"); m != "" {
			said = append(said, m)
		}
	}
	if len(said) == 0 {
		said = append(said, "its task ended as "+task.word("TaskState"))
	}
	return &taskError{printable(strings.Join(said, " "))}
}
