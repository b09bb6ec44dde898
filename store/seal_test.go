package store_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
	"cagenut/store"
)

func full() node.Node {
	yes, no := true, false
	doc := func(k string) map[string]any {
		return map[string]any{k: json.Number("18446744073709551615"), "list": []any{"a", json.Number("1.50")}}
	}
	return node.Node{
		UUID: node.NewUUID(), Name: "ns~full", Driver: node.DriverRedfish,
		Interfaces:     node.Interfaces{BIOS: "1", Boot: "2", Console: "3", Deploy: "4", Firmware: "5", Inspect: "6", Management: "7", Network: "8", Power: "9", RAID: "10", Rescue: "11", Storage: "12", Vendor: "13"},
		ProvisionState: node.Manageable, PowerState: node.PowerOn, TargetPowerState: node.PowerOff, PowerCheckedAt: begin.Add(time.Second), LastError: "e",
		BMCUnreachableSince: begin.Add(2 * time.Second), BMCError: "it is silent", Moved: 9, PowerAsked: node.ActionReboot, PowerAskedAt: begin.Add(5 * time.Second),
		Reservation: "rack", ReservationID: "w1", AttemptID: node.NewUUID(), InspectionStartedAt: begin.Add(2 * time.Second), InspectionFinishedAt: begin.Add(3 * time.Second),
		UpdatedAt: begin.Add(4 * time.Second), Version: 7, Maintenance: true, MaintenanceReason: "m", Fault: "power failure", Protected: true, ProtectedReason: "p",
		Retired: true, RetiredReason: "r", ConsoleEnabled: true, DisablePowerOff: true, AutomatedClean: &yes, SecureBoot: &no, BootMode: "uefi",
		Properties: doc("cpus"), Extra: doc("rack_unit"), NetworkData: doc("n"), CleanStep: doc("c"), DeployStep: doc("d"), ServiceStep: doc("s"), RAIDConfig: doc("r"), TargetRAIDConfig: doc("t"),
		DriverInfo: map[string]any{"redfish_address": "https://bmc", "redfish_password": "clear-calvin-1", "deep": map[string]any{"auth_key": "clear-calvin-2"},
			"list": []any{map[string]any{"token": "clear-calvin-5"}, "plain"}},
		DriverInternalInfo: map[string]any{"agent_secret_token": "clear-calvin-3"},
		InstanceInfo:       map[string]any{"configdrive": map[string]any{"user": "clear-calvin-4"}, "pin_password": json.Number("123456")},
		InstanceUUID:       node.NewUUID(), InstanceName: "i", ChassisUUID: node.NewUUID(), ResourceClass: "rc", ConductorGroup: "g", Description: "d", Owner: "o",
		Lessee: "l", Shard: "s", Conductor: "c", Traits: []string{"CUSTOM_A", "CUSTOM_B"},
	}
}

func TestANodeComesBackAsItWasAlsoAfterAReopen(t *testing.T) {
	r := newRig(t)
	want := full()
	want.ParentNode = r.add(t, node.Enroll).UUID
	want.ID, want.CreatedAt, want.ProvisionUpdatedAt = 2, begin, begin
	if d := cmp.Diff(want, must(r.CreateNode(t.Context(), want, node.Audit{}))(t)); d != "" {
		t.Errorf("created (-want +got):\n%s", d)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, r.folder)
	if d := cmp.Diff(want, must(again.Node(t.Context(), "ns~full"))(t)); d != "" {
		t.Errorf("after a reopen (-want +got):\n%s", d)
	}
}

func TestNoSecretStandsInTheClearInAnyFile(t *testing.T) {
	r := newRig(t)
	must(r.CreateNode(t.Context(), full(), node.Audit{}))(t)
	n, a := r.waiting(t)
	files := must(filepath.Glob(filepath.Join(r.folder, "cagenut.db*")))(t)
	if len(files) < 2 {
		t.Fatalf("only %v: the journal is not looked at", files)
	}
	for _, f := range files {
		b := must(os.ReadFile(f))(t)
		for _, clear := range []string{"clear-calvin", string(a.Token)} {
			if bytes.Contains(b, []byte(clear)) {
				t.Errorf("%s contains %q in the clear", filepath.Base(f), clear)
			}
		}
	}
	if got := must(r.AttemptByToken(t.Context(), a.Token))(t); got.NodeUUID != n.UUID || got.Token != a.Token {
		t.Error("the token does not find its attempt")
	}
}

func TestTheKeyFileIsPrivateOrRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	must(store.OpenSeal(path))(t)
	if mode := must(os.Stat(path))(t).Mode().Perm(); mode != 0o600 {
		t.Errorf("made with mode %#o", mode)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenSeal(path); err == nil || !strings.Contains(err.Error(), "make it 0600") {
		t.Errorf("a key that others can read: %v", err)
	}
	damaged := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(damaged, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenSeal(damaged); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged key: %v", err)
	}
}

func TestASealedValueCannotBeMovedToAnotherNode(t *testing.T) {
	r := newRig(t)
	secret := func(n *node.Node) { n.DriverInfo = map[string]any{"ipmi_password": "p"} }
	from, to := r.add(t, node.Enroll, secret), r.add(t, node.Enroll, secret)
	db := must(sql.Open("sqlite", filepath.Join(r.folder, "cagenut.db")))(t)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE nodes SET driver_info = (SELECT driver_info FROM nodes WHERE uuid = ?) WHERE uuid = ?`, from.UUID, to.UUID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Node(t.Context(), to.UUID); err == nil || !strings.Contains(err.Error(), "unseal") {
		t.Errorf("got %v", err)
	}
	must(r.Node(t.Context(), from.UUID))(t)
}
