package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func TestTheAuditIsListedByWhoWhatWhereAndWhenTheNewestFirst(t *testing.T) {
	r := newRig(t)
	known := r.add(t, node.Manageable, func(n *node.Node) { n.Name = "r07-u21" })
	gone := node.NewUUID()
	hour := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Hour) }
	ada := node.Actor{User: "ada", Source: node.SourceUI, Address: "192.0.2.7", RequestID: "req-1"}
	bot := node.Actor{User: "bot_1", Source: node.SourceAPI, Address: "192.0.2.8"}
	for _, a := range []node.Audit{
		{At: hour(1), Actor: ada, Action: "power off", NodeUUID: known.UUID, Result: node.AuditAccepted, Reason: "smells of 100% smoke"},
		{At: hour(2), Actor: bot, Action: "power on", NodeUUID: gone, Result: "Node is locked."},
		{At: hour(3), Actor: ada, Action: "abort", NodeUUID: known.UUID, AttemptID: gone, Result: "too late <script>"},
		{At: hour(4), Actor: node.System(), Action: "sign in", Result: node.AuditAccepted},
	} {
		if err := r.Note(t.Context(), nil, &a); err != nil {
			t.Fatal(err)
		}
	}
	yes, no := true, false
	for name, tc := range map[string]struct {
		f    node.AuditFilter
		want string // actions; "create" is the one of the node
	}{
		"all":                              {node.AuditFilter{}, "sign in, abort, power on, power off, create"},
		"a person":                         {node.AuditFilter{User: "ada"}, "abort, power off"},
		"a name that is no pattern":        {node.AuditFilter{User: "bot%1"}, ""},
		"a door":                           {node.AuditFilter{Source: node.SourceAPI}, "power on"},
		"a kind of action":                 {node.AuditFilter{Action: "power"}, "power on, power off"},
		"a node by its name":               {node.AuditFilter{Node: "r07-u21"}, "abort, power off, create"},
		"a node that is gone, by its UUID": {node.AuditFilter{Node: gone}, "power on"},
		"a name that nobody has":           {node.AuditFilter{Node: "nobody"}, ""},
		"refusals":                         {node.AuditFilter{Refused: &yes}, "abort, power on"},
		"what was accepted":                {node.AuditFilter{Refused: &no}, "sign in, power off, create"},
		"a time":                           {node.AuditFilter{From: hour(2), To: hour(3)}, "power on"},
		"text of a result":                 {node.AuditFilter{Search: "<script>"}, "abort"},
		"text of a reason, not a pattern":  {node.AuditFilter{Search: "100% s"}, "power off"},
		"part of the name of a node":       {node.AuditFilter{Search: "7-u2"}, "abort, power off, create"},
		"an address":                       {node.AuditFilter{Search: "192.0.2.8"}, "power on"},
		"a request":                        {node.AuditFilter{Search: "req-1"}, "abort, power off"},
		"everything together":              {node.AuditFilter{User: "ada", Source: node.SourceUI, Action: "abort", Node: known.UUID, Refused: &yes, From: hour(1), Search: "late"}, "abort"},
		"a text that only others have":     {node.AuditFilter{User: "ada", Search: "locked"}, ""},
		"a quotation mark and a backslash": {node.AuditFilter{Search: `'"\`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			// Page by page.
			for f := tc.f; len(got) < 10; {
				f.Limit = 2
				page := must(r.AuditTrail(t.Context(), f))(t)
				for _, l := range page {
					got = append(got, l.Action)
				}
				if len(page) < 2 {
					break
				}
				f.Before = page[1].ID
			}
			if all := strings.Join(got, ", "); all != tc.want {
				t.Errorf("got %q, want %q", all, tc.want)
			}
		})
	}
	all := must(r.AuditTrail(t.Context(), node.AuditFilter{Search: "power"}))(t)
	want := node.AuditLine{NodeName: "r07-u21", NodeKnown: true, Audit: node.Audit{ID: all[1].ID, At: hour(1), Actor: ada, Action: "power off", NodeUUID: known.UUID, Result: node.AuditAccepted, Reason: "smells of 100% smoke"}}
	if d := cmp.Diff(want, all[1]); d != "" {
		t.Errorf("a line (-want +got):\n%s", d)
	}
	if all[0].NodeKnown || all[0].NodeName != "" || all[0].NodeUUID != gone {
		t.Errorf("of a node that is gone: %+v", all[0])
	}
}

func TestOldLinesOfTheAuditAreForgottenAFewAtATime(t *testing.T) {
	r := newRig(t)
	if _, err := r.Writer().ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
		INSERT INTO audit (at, actor, action) SELECT i, '{}', 'line ' || i FROM n`); err != nil {
		t.Fatal(err)
	}
	var rounds []string
	for {
		n, err := r.ForgetAudit(t.Context(), time.UnixMicro(4400))
		if err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, fmt.Sprint(n))
		if n == 0 {
			break
		}
	}
	if d := cmp.Diff([]string{"2000", "2000", "399", "0"}, rounds); d != "" {
		t.Errorf("rounds (-want +got):\n%s", d)
	}
	left := must(r.AuditTrail(t.Context(), node.AuditFilter{}))(t)
	if len(left) != 101 || left[100].Action != "line 4400" {
		t.Errorf("%d lines are left, the oldest is %+v", len(left), left[len(left)-1])
	}
}
