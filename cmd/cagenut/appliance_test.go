package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"cagenut/node"
)

// testAppliance is the real thing on loopback: real database, real sockets, real wiring.
type testAppliance struct {
	*appliance
	t    *testing.T
	base string
}

// serveForTest opens the appliance and serves it. With work, its jobs and rounds run too.
func serveForTest(t *testing.T, work bool, change ...func(*settings)) *testAppliance {
	t.Helper()
	return serveWithLog(t, work, io.Discard, change...)
}

// serveWithLog is serveForTest with its log.
func serveWithLog(t *testing.T, work bool, logTo io.Writer, change ...func(*settings)) *testAppliance {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &settings{
		Listen: "127.0.0.1:0", InspectorListen: "127.0.0.1:0", APIMaxVersion: "1.96", DataDir: t.TempDir(), Database: "sqlite", Auth: "none",
		InspectTimeout: 30 * time.Minute, LogLevel: "error", LogFormat: "text", ramdiskOnLoopback: true,
	}
	for _, c := range change {
		c(s)
	}
	a, err := open(ctx, s, logTo)
	if err != nil {
		t.Fatal(err)
	}
	if err := bootFiles(a.settings.bootDir()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		if work {
			ended <- a.run(ctx)
			return
		}
		served := make(chan error, 1)
		go func() { served <- a.app.Listener(a.listener) }()
		<-ctx.Done()
		err := a.app.Shutdown()
		<-served
		if e := a.close(); err == nil {
			err = e
		}
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop the appliance: %v", err)
		}
	})
	return &testAppliance{appliance: a, t: t, base: "http://" + a.listener.Addr().String()}
}

// send makes one request; version "" sends no version header.
func (a *testAppliance) send(method, path, version string, body any) (int, http.Header, []byte) {
	a.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		in = bytes.NewReader(b)
	default:
		doc, err := json.Marshal(b)
		if err != nil {
			a.t.Fatal(err)
		}
		in = bytes.NewReader(doc)
	}
	req, err := http.NewRequest(method, a.base+path, in)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if version != "" {
		req.Header.Set("X-OpenStack-Ironic-API-Version", version)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, out
}

// get is the whole document at a path, as the newest version shows it.
func (a *testAppliance) get(path string) map[string]any {
	a.t.Helper()
	status, _, body := a.send("GET", path, "latest", nil)
	if status != http.StatusOK {
		a.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	doc := map[string]any{}
	if err := json.Unmarshal(body, &doc); err != nil {
		a.t.Fatal(err)
	}
	return doc
}

// nodeIn makes a node in a state. Its BMC refuses every connection. A node in `inspect wait` has an attempt that waits.
func (a *testAppliance) nodeIn(state node.State, inspect string) (node.Node, node.Attempt) {
	a.t.Helper()
	driver := node.DriverRedfish
	if inspect == "fake" {
		driver = node.DriverFake
	}
	ctx := a.t.Context()
	first := state
	if state == node.InspectWait {
		first = node.Manageable
	}
	n, err := a.conductor.CreateNode(ctx, node.System(), node.Node{
		Driver: driver, ProvisionState: first, PowerState: node.PowerOn, Interfaces: node.Interfaces{Inspect: inspect},
		DriverInfo: map[string]any{"redfish_address": "http://127.0.0.1:1", "redfish_username": "admin", "redfish_password": "not-a-real-one"},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	if state != node.InspectWait {
		return n, node.Attempt{}
	}
	return a.waiting(n)
}

// waiting brings a node that may be inspected to `inspect wait`, as a start job would.
func (a *testAppliance) waiting(n node.Node) (node.Node, node.Attempt) {
	a.t.Helper()
	ctx, now := a.t.Context(), time.Now()
	at := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: n.Interfaces.Inspect, Token: node.Secret(node.NewUUID()), State: node.RunStarting, StartedAt: now}
	moves := []node.Move{
		{Event: node.Inspect, Hold: "test", Host: "test", NewAttempt: &at, StartedAt: &now, Internal: map[string]any{"agent_url": "http://192.0.2.9:9999", "lookup_bmc_addresses": []string{"192.0.2.10"}}},
		{Event: node.Wait, Held: "test", Attempt: at.ID, AttemptState: node.RunWaiting},
	}
	for _, m := range moves {
		m.Node, m.From, m.At, m.Actor = n.UUID, n.ProvisionState, now, node.System()
		var err error
		if n, err = a.store.Move(ctx, m); err != nil {
			a.t.Fatal(err)
		}
	}
	return n, at
}
