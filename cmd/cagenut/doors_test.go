package main

import (
	"net/http"
	"net/url"
	"testing"

	"cagenut/node"
)

// Abort in the dashboard, over REST and at the inspector's port is one function of the conductor: the same end of the
// attempt, the same line in the audit, told apart by the door alone (design.md §3).
func TestAbortIsOneFunctionBehindEveryDoor(t *testing.T) {
	a := serveForTest(t, false)
	inspector := verbs{a.conductor}
	for _, door := range []struct {
		name   string
		source node.Source
		abort  func(node.Node, node.Attempt) error
	}{
		{"REST", node.SourceAPI, func(n node.Node, _ node.Attempt) error {
			a.provision(n.UUID, "abort")
			return nil
		}},
		{"dashboard", node.SourceUI, func(n node.Node, at node.Attempt) error {
			resp, err := http.PostForm(a.base+"/ui/nodes/"+n.UUID+"/provision", url.Values{"verb": {"abort"}, "attempt": {at.ID}})
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		}},
		{"inspector", node.SourceAPI, func(n node.Node, at node.Attempt) error {
			return inspector.Abort(t.Context(), node.Actor{Source: node.SourceAPI}, n.UUID, at.ID)
		}},
	} {
		t.Run(door.name, func(t *testing.T) {
			n, at := a.nodeIn(node.InspectWait, "agent")
			if err := door.abort(n, at); err != nil {
				t.Fatal(err)
			}
			ended, err := a.store.Attempt(t.Context(), at.ID)
			if err != nil || ended.Outcome != node.Aborted || ended.CleanUp != node.CleanUpPending || ended.Ended.Source != door.source {
				t.Errorf("%+v, %v", ended, err)
			}
			audit, err := a.store.Audits(t.Context(), n.UUID)
			if err != nil || len(audit) == 0 {
				t.Fatalf("no audit: %v", err)
			}
			if last := audit[len(audit)-1]; last.Action != "abort" || last.Result != "accepted" || last.Actor.Source != door.source {
				t.Errorf("audit %+v", last)
			}
			checkAborted(t, a.get("/v1/nodes/"+n.UUID), a.get("/v1/nodes/" + n.UUID + "/history?detail=true")["history"].([]any))
		})
	}
}
