package ui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

// Issue 6, point 3: what it is doing now, as it happens (G17, G18).
func TestTheNodesPageHoldsTheTimelineOfTheInspection(t *testing.T) {
	r, n := waitingRack()
	s := serve(t, r, 0)
	page := s.get("/ui/nodes/r07-u21")
	page.has(t, `<details id="progress" class="progress" open>`, english("sign.asked"), "by mara (api)", "Power on confirmed by the BMC", english("sign.waits"), english("sign.timeout"), "in 25 m 48 s", ">14:27:59 ")
	after := regexp.MustCompile(`data-after="([^"]+)"`).FindStringSubmatch(page.body)[1]
	_, stream := s.stream("/ui/events?view=node&node=" + n.UUID + "&after=" + after)
	r.sign(n.AttemptID, node.Sign{Kind: node.SignLookup, FirstAt: noon, LastAt: noon, Times: 1, Detail: "192.0.2.101"})
	r.tell(n.UUID)
	if html := until(t, stream, `id="node"`); !strings.Contains(html, "Lookup by the ramdisk") || !strings.Contains(html, "from <bdi>192.0.2.101") && !strings.Contains(html, "from 192.0.2.101") {
		t.Errorf("the page is %s", html)
	}

	t.Log("when it is over and well, it is folded away")
	r.end(n.UUID, node.Manageable, node.Succeeded, node.Actor{Source: node.SourceRamdisk}, noon)
	s.get("/ui/nodes/r07-u21").has(t, `<details id="progress" class="progress"><summary`)
}

// G44: the node has no times of an aborted run; the attempt has both.
func TestAnAbortedInspectionTellsItsStartAndItsEnd(t *testing.T) {
	r, n := waitingRack()
	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara", Source: node.SourceUI, Address: "192.0.2.77"}, noon.Add(-10*time.Second))
	r.sign(n.AttemptID, node.Sign{Kind: node.SignDone, FirstAt: noon.Add(-10 * time.Second), LastAt: noon.Add(-10 * time.Second), Times: 1, Detail: "aborted"})
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21/attempts/"+n.AttemptID).has(t, `datetime="2026-11-30T13:57:11Z"`, `datetime="2026-11-30T14:02:01Z"`, "by mara (ui, 192.0.2.77)", "4 m 50 s")
	s.get("/ui/nodes/r07-u21").has(t, english("sign.aborted"), "by mara (ui, 192.0.2.77)", "powering off…")
}

// G17: the button of what is possible now, and of the rest why not.
func TestWhatIsPossibleNowHasAButtonAndTheRestAReason(t *testing.T) {
	for state, want := range map[node.State]struct{ buttons, reasons []string }{
		node.InspectWait:   {[]string{"abort", "maintenance", "power-off"}, []string{"Inspect", "Provide", "Manage", "Delete"}},
		node.Inspecting:    {[]string{"maintenance"}, []string{"Abort inspection", "Delete"}},
		node.Manageable:    {[]string{"inspect", "provide", "maintenance", "delete"}, []string{"Abort inspection", "Manage"}},
		node.InspectFailed: {[]string{"inspect", "manage", "maintenance"}, []string{"Abort inspection", "Provide", "Delete"}},
		node.Enroll:        {[]string{"manage", "maintenance", "delete"}, []string{"Inspect"}},
	} {
		t.Run(string(state), func(t *testing.T) {
			r := newRack()
			n := r.add("r07-u21", state)
			page := serve(t, r, 0).get("/ui/nodes/r07-u21")
			for _, b := range want.buttons {
				page.has(t, `id="`+b+`-`+n.UUID+`"`)
			}
			for _, label := range want.reasons {
				if m := regexp.MustCompile(`<dt>` + label + `</dt><dd>([^<]+)</dd>`).FindStringSubmatch(page.body); m == nil {
					t.Errorf("%s gives no reason", label)
				}
			}
		})
	}
}

func TestWhoHoldsANodeIsTold(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.Manageable, func(n *node.Node) {
		n.Reservation, n.ReservationID, n.TargetPowerState, n.PowerAsked, n.PowerAskedAt = "appliance-1", "w1", node.PowerOff, node.ActionOff, noon.Add(-12*time.Second)
	})
	r.add("r07-u22", node.Verifying, func(n *node.Node) { n.Reservation, n.ReservationID = "appliance-1", "w2" })
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21").has(t, "held by appliance-1 for “power off”", "12 s ago", `title="2026-11-30 14:01:59 UTC"`)
	s.get("/ui/nodes/r07-u22").has(t, "by appliance-1, which works on it now", "4 m 12 s ago")
}

// G46: the history says who did what, through which door and from where; also beyond what a page holds.
func TestHistoryAndInspectionsGoOnBeyondThePage(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	long := strings.Repeat("u", 64)
	for i := range 120 {
		r.history = append(r.history, node.History{
			UUID: fmt.Sprintf("h%03d", i), NodeUUID: n.UUID, At: noon.Add(-time.Duration(i) * time.Minute), Event: fmt.Sprintf("Event %03d.", i), Reason: "because",
			Actor: node.Actor{User: long, Source: node.SourceAPI, Address: "192.0.2.77", RequestID: "req-1"}, Count: 1,
		})
	}
	for i := range 25 {
		id := node.NewUUID()
		r.attempts[id] = node.Attempt{ID: id, NodeUUID: n.UUID, Outcome: node.Succeeded, State: node.RunFinished, Interface: "agent", StartedAt: noon.Add(-time.Duration(i) * time.Hour), EndedAt: noon}
	}
	s := serve(t, r, 0)
	page := s.get("/ui/nodes/r07-u21")
	page.has(t, long+" (api, 192.0.2.77)", "req-1", "<q><bdi>because</bdi></q>", "Event 000.", "Event 049.", `id="history-more"`, `id="attempts-more"`, `href="/ui/nodes/r07-u21/history?marker=h049"`)
	page.lacks(t, "Event 050.")

	follow := func(a answer, text string) answer {
		t.Helper()
		m := regexp.MustCompile(`href="([^"]+)"[^>]*>` + text).FindStringSubmatch(a.body)
		if m == nil {
			t.Fatalf("there is no %s", text)
		}
		return s.get(strings.ReplaceAll(m[1], "&amp;", "&"))
	}
	older := follow(page, english("node.olderhistory"))
	older.has(t, "Event 050.", "Event 099.", "<title>History of r07-u21")
	older.lacks(t, "Event 049.", "Event 100.")
	last := follow(older, english("pages.older"))
	last.has(t, "Event 119.")
	last.lacks(t, english("pages.older"))
	follow(last, english("pages.newest")).has(t, "Event 000.")

	all := follow(page, english("node.olderattempts"))
	if n := strings.Count(all.body, `id="attempt-`); n != 15 {
		t.Errorf("the page of older inspections holds %d, want the 15 that are not on the node's", n)
	}
	for _, path := range []string{"/ui/nodes/r07-u21/history?marker=x", "/ui/nodes/r07-u21/attempts?marker=x", "/ui/nodes/nobody/history", "/ui/nodes/nobody/attempts"} {
		if a := s.get(path); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// A long error is there whole, folded, and can be copied with the request that led to it.
func TestALongErrorIsFoldedAndCanBeCopied(t *testing.T) {
	text := strings.Repeat("the BMC said a lot; ", 400) + "THE END"
	r := newRack()
	n := r.add("r07-u21", node.InspectFailed, func(n *node.Node) { n.LastError = text + " Power off not confirmed: no" })
	r.history = []node.History{{NodeUUID: n.UUID, At: noon, Event: "Something later."}, {NodeUUID: n.UUID, At: noon, Event: text, Actor: node.Actor{Source: node.SourceAPI, RequestID: "req-7"}}}
	page := serve(t, r, 0).get("/ui/nodes/r07-u21")
	page.has(t, `data-copy="last-error"`, `<p id="last-error" dir="auto">`+text, `<details id="last-error-whole">`, "<code>req-7</code>")
	r.edit(func() { r.nodes[0].LastError = "short" })
	page = serve(t, r, 0).get("/ui/nodes/r07-u21")
	page.has(t, `<p id="last-error" dir="auto">short</p>`)
	page.lacks(t, "last-error-whole")
}

func TestWhereAServerStandsLeadsToItsRack(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.Manageable, func(n *node.Node) { n.Extra = map[string]any{"rack": "Hall 1/7", "rack_unit": 3} })
	r.add("r07-u22", node.Manageable, func(n *node.Node) { n.Extra = nil })
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21").has(t, `href="/ui/racks/Hall%201%2F7"`, "Hall 1/7 · U3")
	s.get("/ui/nodes/r07-u22").lacks(t, `id="place"`)
}
