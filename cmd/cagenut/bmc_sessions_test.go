package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/sim"
	"cagenut/node"
	"cagenut/store"
)

// A stop that is asked for logs out everywhere and leaves nothing written down. What a kill leaves is in e2e.
func TestACleanStopLeavesNoSessionAndNoRow(t *testing.T) {
	dir := t.TempDir()
	servers := faultySim(t, sim.Options{FirstAddress: "127.77.74.1"}, "", "", "")
	ctx, stop := context.WithCancel(t.Context())
	a, err := open(ctx, &settings{Listen: "127.0.0.1:0", APIMaxVersion: "1.96", DataDir: dir, Database: "sqlite", Auth: "none", LogLevel: "error", LogFormat: "text", ramdiskOnLoopback: true}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx) }()
	if err := enrol(t.Context(), a.conductor, servers); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		n, err := a.store.Node(t.Context(), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.bmcs.Do(t.Context(), n, func(c bmc.Client) error { _, err := c.Power(t.Context()); return err }); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := a.store.BMCSessions(t.Context())
	if err != nil || len(rows) != len(servers) {
		t.Errorf("while it runs: %d rows, %v", len(rows), err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if c := s.Sessions(); c.Opened != 1 || c.Open != 0 {
			t.Errorf("%s: %+v", s.Name, c)
		}
	}
	seal, err := store.OpenSeal(filepath.Join(dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "cagenut.db"), Seal: seal, Log: a.log})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := again.BMCSessions(t.Context()); err != nil || len(rows) != 0 {
		t.Errorf("afterwards: %d rows, %v", len(rows), err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// A node that gets another BMC has no session at the old one any more.
func TestAnotherAddressEndsTheSessionAtTheOldOne(t *testing.T) {
	a := serveForTest(t, true, withoutRamdisk)
	servers := faultySim(t, sim.Options{FirstAddress: "127.77.75.1"}, "", "")
	a.make("/v1/nodes", map[string]any{"name": "moved", "driver": "redfish", "driver_info": servers[0].DriverInfo()})
	a.provision("moved", "manage")
	a.untilState("moved", node.Manageable)
	patch := []map[string]any{{"op": "replace", "path": "/driver_info/redfish_address", "value": servers[1].Address}}
	if status, _, body := a.send("PATCH", "/v1/nodes/moved", "latest", patch); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	a.wants("GET", "/v1/nodes/moved/management/boot_device", nil, http.StatusOK)
	for deadline := time.Now().Add(20 * time.Second); servers[0].OpenSessions() != 0 || servers[1].OpenSessions() != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions at the old BMC, %d at the new", servers[0].OpenSessions(), servers[1].OpenSessions())
		}
	}
}

// The handbook's §3: old TLS is a setting of one BMC, and validate warns of it.
func TestOldTLSWorksByNameAndIsWarnedOf(t *testing.T) {
	a := serveForTest(t, true, withoutRamdisk)
	s := faultySim(t, sim.Options{FirstAddress: "127.77.76.1", TLS: true}, sim.FaultOldTLS)[0]
	info := s.DriverInfo()
	info["redfish_old_tls"] = "true"
	a.make("/v1/nodes", map[string]any{"name": "old", "driver": "redfish", "driver_info": info})
	a.provision("old", "manage")
	a.untilState("old", node.Manageable)
	var verdicts map[string]struct {
		Result *bool
		Reason string
	}
	if err := json.Unmarshal(a.wants("GET", "/v1/nodes/old/validate", nil, http.StatusOK), &verdicts); err != nil {
		t.Fatal(err)
	}
	if p := verdicts["power"]; p.Result == nil || !*p.Result || !strings.Contains(p.Reason, "redfish_old_tls") {
		t.Errorf("power: %+v", p)
	}
}
