package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"cagenut/node"
)

// patchedAtOnce sends n JSON patches to path at the same time; every one must be taken. Each adds a key of its own to
// `extra`, and all of them must be there afterwards: what was answered with 200 is stored (G40).
func (a *testAppliance) patchedAtOnce(path string, n int) {
	a.t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			patch := []map[string]any{{"op": "add", "path": fmt.Sprintf("/extra/k%d", i), "value": i}}
			if status, _, body := a.send("PATCH", path, "latest", patch); status != http.StatusOK {
				a.t.Errorf("PATCH %d: %d %s", i, status, body)
			}
		})
	}
	all.Wait()
	extra, _ := a.get(path)["extra"].(map[string]any)
	for i := range n {
		if v, ok := node.Int(extra[fmt.Sprintf("k%d", i)]); !ok || v != int64(i) {
			a.t.Errorf("/extra/k%d is %v", i, extra[fmt.Sprintf("k%d", i)])
		}
	}
}

func TestNoPatchOfAChassisIsLostToAnother(t *testing.T) {
	a := serveForTest(t, false)
	uuid := a.make("/v1/chassis", map[string]any{"extra": map[string]any{}})
	a.patchedAtOnce("/v1/chassis/"+uuid, 20)
}

func TestNoPatchOfAPortIsLostToAnotherOrRefusedForIt(t *testing.T) {
	a := serveForTest(t, false)
	n, _ := a.nodeIn(node.Manageable, "fake")
	uuid := a.make("/v1/ports", map[string]any{"address": "02:00:5e:00:00:01", "node_uuid": n.UUID})
	a.patchedAtOnce("/v1/ports/"+uuid, 30)
}
