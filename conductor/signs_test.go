package conductor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

// A wait that ends for nothing tells where the server got stuck.
func TestATimeOutSaysHowFarTheServerCame(t *testing.T) {
	for _, c := range []struct {
		name string
		come func(w *world, n node.Node, a node.Attempt)
		want string
	}{
		{"nothing was heard", func(*world, node.Node, node.Attempt) {}, "No boot file was fetched: check the cabling of the boot NIC"},
		{"it fetched its script", func(w *world, _ node.Node, _ node.Attempt) {
			_, _, err := w.Booting(w.t.Context(), mac)
			w.must(err)
		}, "The boot script was fetched, but nothing came after it"},
		{"it fetched its kernel", func(w *world, n node.Node, a node.Attempt) {
			w.Sign(w.t.Context(), n.UUID, a.ID, node.SignBootFile, "192.0.2.7")
		}, "The kernel or the ramdisk was fetched, but nothing came from it"},
		{"it read its image", func(w *world, n node.Node, a node.Attempt) {
			w.Sign(w.t.Context(), n.UUID, a.ID, node.SignBootImage, "192.0.2.10")
		}, "The boot image was read, but nothing came from the ramdisk in it"},
		{"its ramdisk looked itself up", func(w *world, _ node.Node, _ node.Attempt) {
			_, _, err := w.Lookup(w.t.Context(), ramdisk, conductor.LookupRequest{MACs: []string{mac}})
			w.must(err)
		}, "The ramdisk runs and has called, but has not sent its report"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
			n := w.enrolled(node.Manageable, "agent")
			w.portOf(n)
			n, a := w.inspected(n)
			c.come(w, n, a)
			w.rounds(func(tick func(time.Duration)) { tick(30*time.Minute + time.Second) })
			got := w.node(n).LastError
			if !strings.HasPrefix(got, "Timeout reached while inspecting the node. ") || !strings.Contains(got, c.want) || strings.Contains(got, "abort") {
				t.Errorf("last_error is %q, want %q in it", got, c.want)
			}
		})
	}
}

func TestSignsOfLifeAreKeptInTheirOrder(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.portOf(n)
	n, a := w.inspected(n)
	at := func(d time.Duration) { w.clock.advance(d) }
	at(time.Second)
	for range 3 { // a firmware that asks again and again at once is one sign
		_, _, err := w.Booting(t.Context(), mac)
		w.must(err)
	}
	at(10 * time.Second)
	_, _, err := w.Booting(t.Context(), mac)
	w.must(err)
	at(time.Minute)
	_, _, err = w.Lookup(t.Context(), ramdisk, conductor.LookupRequest{MACs: []string{mac}})
	w.must(err)
	at(time.Minute)
	w.must(w.post(a.Token, report("")))
	at(time.Second)
	w.work(n.UUID, node.JobFinish)

	signs, advice, err := w.HowFar(t.Context(), w.attempt(w.node(n)))
	w.must(err)
	same(t, "advice after a report", advice, "")
	var got []string
	for _, s := range signs {
		if s.Kind == node.SignPowerSent || s.Kind == node.SignPoweredOn {
			continue
		}
		got = append(got, string(s.Kind))
		if s.Kind == node.SignBootScript && (s.Times != 2 || s.LastAt.Sub(s.FirstAt) != 10*time.Second) {
			t.Errorf("the script was fetched %d times within %s, want twice within 10 s", s.Times, s.LastAt.Sub(s.FirstAt))
		}
	}
	if diff := cmp.Diff([]string{"boot script fetched", "lookup", "report received", "hooks begun", "done"}, got); diff != "" {
		t.Errorf("signs (-want +got):\n%s", diff)
	}
	t.Run("and none come after the end", func(t *testing.T) {
		w.Sign(t.Context(), n.UUID, a.ID, node.SignBootFile, "")
		after, _, err := w.HowFar(t.Context(), w.attempt(w.node(n)))
		w.must(err)
		same(t, "signs", len(after), len(signs))
	})
}
