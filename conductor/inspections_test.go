package conductor_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

// withLogs is a report that brings logs with one file.
func withLogs(t *testing.T, body, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	err := a.WriteHeader(&tar.Header{Name: "journal", Typeflag: tar.TypeReg, Size: int64(len(content))})
	if err == nil {
		_, err = io.WriteString(a, content)
	}
	if err := errors.Join(err, a.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return report(body + `,"logs":"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"`)
}

// G25: the logs of a ramdisk survive whatever becomes of its report.
func TestLogsAreKeptOfEveryAttempt(t *testing.T) {
	journal := func(w *world, n node.Node, a node.Attempt) string {
		w.t.Helper()
		files, err := w.RamdiskLogFiles(w.t.Context(), n.UUID, a.ID)
		w.must(err)
		if diff := cmp.Diff([]node.LogFile{{Name: "journal", Size: int64(len("what happened"))}}, files); diff != "" {
			w.t.Errorf("files (-want +got):\n%s", diff)
		}
		content, err := w.RamdiskLogFile(w.t.Context(), n.UUID, a.ID, "journal")
		w.must(err)
		return string(content)
	}
	for _, c := range []struct {
		name  string
		after func(w *world, n node.Node, a node.Attempt)
		want  node.State
	}{
		{"that succeeds", func(w *world, n node.Node, a node.Attempt) {
			w.must(w.post(a.Token, withLogs(t, "", "what happened")))
			w.work(n.UUID, node.JobFinish)
		}, node.Manageable},
		{"that fails by the ramdisk's own error", func(w *world, n node.Node, a node.Attempt) {
			w.must(w.post(a.Token, withLogs(t, `,"error":"boom"`, "what happened")))
			w.work(n.UUID, node.JobFinish)
		}, node.InspectFailed},
		{"that was aborted before its report came", func(w *world, n node.Node, a node.Attempt) {
			w.must(w.ask(n, node.Abort))
			if err := w.post(a.Token, withLogs(t, "", "what happened")); !errors.Is(err, node.ErrNotReported) {
				t.Errorf("a late report got %v", err)
			}
			_ = w.post(a.Token, withLogs(t, "", "something else"))
		}, node.InspectFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := w.enrolled(node.Manageable, "agent")
			w.portOf(n)
			n, a := w.inspected(n)
			c.after(w, n, a)
			same(t, "state", w.node(n).ProvisionState, c.want)
			same(t, "journal", journal(w, n, a), "what happened")
			if r, err := w.store.Report(t.Context(), a.ID); err == nil && strings.Contains(string(r.Body), "logs") {
				t.Error("the report still carries its logs")
			}
			other := w.enrolled(node.Manageable, "agent")
			var none *node.NotFound
			if _, err := w.RamdiskLogs(t.Context(), other.UUID, a.ID); !errors.As(err, &none) {
				t.Errorf("another node's logs: %v", err)
			}
		})
	}
}

func TestAReportIsAppliedOnceMore(t *testing.T) {
	reported := func(t *testing.T, body string) (*world, node.Node, node.Attempt) {
		t.Helper()
		w := newWorld(t, conductor.Settings{})
		n := w.enrolled(node.Manageable, "agent")
		w.portOf(n)
		n, a := w.inspected(n)
		w.must(w.post(a.Token, report(body)))
		w.work(n.UUID, node.JobFinish)
		return w, w.node(n), a
	}
	t.Run("the stored one, with the rules of now", func(t *testing.T) {
		w, n, a := reported(t, "")
		w.rule(setting("extra/hall", "north"))
		before := len(w.history(n))
		w.must(w.Reapply(t.Context(), operator, n.UUID, nil))
		held := w.node(n)
		same(t, "held while it is worked up", held.Reserved(), true)
		same(t, "run", w.attempt(held).State, node.RunReapplying)
		w.work(n.UUID, node.JobReapply)
		after := w.node(n)
		same(t, "extra.hall", after.Extra["hall"], any("north"))
		same(t, "state", after.ProvisionState, node.Manageable)
		same(t, "free again", after.Reserved(), false)
		ended := w.attempt(after)
		same(t, "run", ended.State, node.RunFinished)
		same(t, "outcome", ended.Outcome, node.Succeeded)
		inv, err := w.store.Inventory(t.Context(), n.UUID)
		w.must(err)
		same(t, "inventory is of the attempt", inv.AttemptID, a.ID)
		same(t, "one line of history", len(w.history(n)), before+1)
	})
	t.Run("another one in its place", func(t *testing.T) {
		w, n, _ := reported(t, "")
		w.must(w.Reapply(t.Context(), operator, n.UUID, []byte(strings.Replace(string(report("")), `"count":4`, `"count":64`, 1))))
		w.work(n.UUID, node.JobReapply)
		cpus, _ := node.Int(w.node(n).Properties["cpus"])
		same(t, "cpus", cpus, 64)
	})
	t.Run("one that failed stays failed, and its run says that the report is good now", func(t *testing.T) {
		w, n, _ := reported(t, `,"error":"boom"`)
		same(t, "state", n.ProvisionState, node.InspectFailed)
		w.must(w.Reapply(t.Context(), operator, n.UUID, report("")))
		w.work(n.UUID, node.JobReapply)
		after := w.node(n)
		same(t, "state", after.ProvisionState, node.InspectFailed)
		same(t, "last_error", after.LastError, n.LastError)
		same(t, "run", w.attempt(after).State, node.RunFinished)
		same(t, "outcome", w.attempt(after).Outcome, node.Failed)
	})
	t.Run("what the hooks have against it is told and changes nothing", func(t *testing.T) {
		w, n, _ := reported(t, "")
		w.must(w.Reapply(t.Context(), operator, n.UUID, report(`,"error":"boom"`)))
		w.work(n.UUID, node.JobReapply)
		after := w.node(n)
		same(t, "state", after.ProvisionState, node.Manageable)
		a := w.attempt(after)
		same(t, "run", a.State, node.RunError)
		if !strings.Contains(a.Error, "boom") {
			t.Errorf("error of the run is %q", a.Error)
		}
	})
	t.Run("its notes take the place of those before", func(t *testing.T) {
		w, n, _ := reported(t, "")
		notes := func(body []byte) []string {
			t.Helper()
			w.must(w.Reapply(t.Context(), operator, n.UUID, body))
			w.work(n.UUID, node.JobReapply)
			return w.attempt(w.node(n)).Notes
		}
		plain := notes(report(""))
		if odd := notes([]byte(strings.Replace(string(report("")), `"count":4`, `"count":[4]`, 1))); len(odd) <= len(plain) {
			t.Fatalf("an odd field is not noted: %q", odd)
		}
		if diff := cmp.Diff(plain, notes(report(""))); diff != "" {
			t.Errorf("notes of a report without it (-want +got):\n%s", diff)
		}
	})
	t.Run("a restart in the middle goes on", func(t *testing.T) {
		w, n, _ := reported(t, "")
		w.must(w.Reapply(t.Context(), operator, n.UUID, nil))
		w.must(w.Recover(t.Context()))
		w.work(n.UUID, node.JobReapply)
		same(t, "run", w.attempt(w.node(n)).State, node.RunFinished)
	})
	t.Run("one of an attempt before, whose logs stay that attempt's", func(t *testing.T) {
		w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
		n := w.enrolled(node.Manageable, "agent")
		w.portOf(n)
		n, first := w.inspected(n)
		w.must(w.post(first.Token, withLogs(t, "", "what happened")))
		w.clock.advance(3 * time.Hour) // too late for its job, which fails it before it looks at the report
		w.work(n.UUID, node.JobFinish)
		n, second := w.inspected(w.node(n))
		w.rounds(func(tick func(time.Duration)) { tick(31 * time.Minute) })
		w.must(w.Reapply(t.Context(), operator, n.UUID, nil))
		w.work(n.UUID, node.JobReapply)
		same(t, "run", w.attempt(w.node(n)).State, node.RunFinished)
		if _, err := w.RamdiskLogs(t.Context(), n.UUID, first.ID); err != nil {
			t.Errorf("logs of the attempt that they came with: %v", err)
		}
		var none *node.NotFound
		if _, err := w.RamdiskLogs(t.Context(), n.UUID, second.ID); !errors.As(err, &none) {
			t.Errorf("logs of the attempt that had no report: %v", err)
		}
		if r, err := w.store.Report(t.Context(), first.ID); err != nil || strings.Contains(string(r.Body), "logs") {
			t.Errorf("the report still carries its logs, or is gone: %v", err)
		}
	})
	t.Run("not while the node is inspected, nor after an abort, nor without a report", func(t *testing.T) {
		w := newWorld(t, conductor.Settings{})
		n := w.enrolled(node.Manageable, "agent")
		w.portOf(n)
		var none *node.NotFound
		if err := w.Reapply(t.Context(), operator, n.UUID, nil); !errors.As(err, &none) {
			t.Errorf("never inspected: %v", err)
		}
		n, _ = w.inspected(n)
		var invalid *node.Invalid
		if err := w.Reapply(t.Context(), operator, n.UUID, report("")); !errors.As(err, &invalid) {
			t.Errorf("in inspection: %v", err)
		}
		w.must(w.ask(n, node.Abort))
		if err := w.Reapply(t.Context(), operator, n.UUID, report("")); !errors.As(err, &invalid) {
			t.Errorf("aborted: %v", err)
		}
		w.is(n, node.InspectFailed, "Inspection was aborted by request.")
	})
}

func TestInspectionsAreKeptAndCompared(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.portOf(n)
	vendor := func(serial string) string {
		return strings.Replace(string(report("")), `"disks":[]`, `"disks":[],"system_vendor":{"serial_number":"`+serial+`"}`, 1)
	}
	inspect := func(body string) node.Attempt {
		t.Helper()
		now, a := w.inspected(w.node(n))
		w.must(w.post(a.Token, []byte(body)))
		w.work(now.UUID, node.JobFinish)
		w.clock.advance(time.Hour)
		return w.attempt(w.node(n))
	}
	first := inspect(vendor("EB-1"))
	var none *node.NotFound
	if _, err := w.Difference(t.Context(), n.UUID, "", ""); !errors.As(err, &none) {
		t.Errorf("one inspection has no difference: %v", err)
	}
	second := inspect(strings.Replace(vendor("EB-1"), `"count":4`, `"count":8`, 1))
	d, err := w.Difference(t.Context(), n.UUID, "", "")
	w.must(err)
	if d.From.AttemptID != first.ID || d.To.AttemptID != second.ID || len(d.Identity) != 0 || len(d.Parts) != 1 || d.Parts[0].Kind != "processors" {
		t.Errorf("the last two differ by %+v", d)
	}

	t.Run("another machine is told of, in the attempt and the history", func(t *testing.T) {
		third := inspect(vendor("EB-2"))
		same(t, "state", w.node(n).ProvisionState, node.Manageable)
		const want = `This is another machine than at the inspection before. The serial number was "EB-1" and is "EB-2" now.`
		if !slices.Contains(third.Notes, want) {
			t.Errorf("notes: %q", third.Notes)
		}
		if !slices.ContainsFunc(w.history(n), func(h node.History) bool { return h.Event == want && h.Severity == node.SeverityError }) {
			t.Errorf("history: %+v", w.history(n))
		}
	})
	t.Run("any two can be compared, in either direction", func(t *testing.T) {
		d, err := w.Difference(t.Context(), n.UUID, second.ID, first.ID)
		w.must(err)
		if len(d.Parts) != 1 || d.Parts[0].Fields[0].Before != "8" || d.Parts[0].Fields[0].After != "4" {
			t.Errorf("%+v", d)
		}
	})
	t.Run("only the newest ten are kept, and they can be paged through", func(t *testing.T) {
		for range 9 {
			inspect(vendor("EB-2"))
		}
		var seen []string
		for marker := ""; ; {
			page, err := w.Kept(t.Context(), n.UUID, marker, 4)
			w.must(err)
			for _, i := range page {
				if i.Inventory != nil {
					t.Fatal("a list brings no documents")
				}
				seen = append(seen, i.AttemptID)
			}
			if len(page) < 4 {
				break
			}
			marker = page[len(page)-1].AttemptID
		}
		same(t, "kept", len(seen), 10)
		same(t, "newest first", seen[0], w.node(n).AttemptID)
		if _, err := w.Inspection(t.Context(), n.UUID, first.ID); !errors.As(err, &none) {
			t.Errorf("the first is not kept any more: %v", err)
		}
	})
}

// Whoever posts an old report in a loop is refused each time, and keeps the database busy only for a while.
func TestRefusalsAreWrittenDownNowAndThen(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.portOf(n)
	n, a := w.inspected(n)
	w.must(w.ask(n, node.Abort))
	late := func() int {
		t.Helper()
		for range 50 {
			if err := w.post(a.Token, report("")); !errors.Is(err, node.ErrNotReported) {
				t.Fatalf("a late report got %v", err)
			}
		}
		h := w.history(n)
		return h[len(h)-1].Count
	}
	same(t, "written down of the first fifty", late(), 20)
	w.clock.advance(time.Minute)
	same(t, "and a minute later", late(), 40)
}

func TestLogsOfOldAttemptsPushOutNoneOfNewOnes(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.portOf(n)
	_, old := w.inspected(w.node(n))
	w.must(w.ask(w.node(n), node.Abort))
	var newest []string
	for range 10 {
		w.clock.advance(time.Hour)
		_, a := w.inspected(w.node(n))
		w.must(w.post(a.Token, withLogs(t, "", "new")))
		w.work(n.UUID, node.JobFinish)
		newest = append([]string{a.ID}, newest...)
	}
	_ = w.post(old.Token, withLogs(t, "", "old")) // it is refused, and not what this is about
	kept, err := w.store.Logged(t.Context(), n.UUID)
	w.must(err)
	if diff := cmp.Diff(newest, kept); diff != "" {
		t.Errorf("attempts whose logs are kept (-want +got):\n%s", diff)
	}
}
