package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
	"cagenut/store"
)

const sessionSecret = "token-of-a-session-4711"

func TestBMCSessionsAreSealedAndThereAfterARestart(t *testing.T) {
	folder := t.TempDir()
	r := open(t, folder)
	want := []store.BMCSession{
		{ID: "a", Address: "https://192.0.2.10", Secret: sessionSecret}, {ID: "b", Address: "https://192.0.2.11", Secret: ""},
	}
	for _, s := range want {
		if err := r.KeepBMCSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.KeepBMCSession(t.Context(), want[0]); err == nil {
		t.Error("the same ID was kept twice")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if content, err := os.ReadFile(f); err != nil || bytes.Contains(content, []byte(sessionSecret)) {
			t.Errorf("%s: the secret is in there, or %v", f, err)
		}
	}
	r = open(t, folder)
	got, err := r.BMCSessions(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestABMCSessionThatCannotBeUnsealedIsListedWithoutItsSecret(t *testing.T) {
	r := open(t, t.TempDir())
	if err := r.KeepBMCSession(t.Context(), store.BMCSession{ID: "a", Secret: sessionSecret}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Writer().Exec("UPDATE bmc_sessions SET id = 'moved'"); err != nil { // the seal belongs to its place
		t.Fatal(err)
	}
	got, err := r.BMCSessions(t.Context())
	if diff := cmp.Diff([]store.BMCSession{{ID: "moved"}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestManyBMCSessionsAreDroppedAtOnce(t *testing.T) {
	r := open(t, t.TempDir())
	var ids []string
	for i := range 1200 {
		ids = append(ids, fmt.Sprint(i))
	}
	for _, id := range []string{"0", "700", "1199", "stays"} {
		if err := r.KeepBMCSession(t.Context(), store.BMCSession{ID: id, Secret: node.Secret("s")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.DropBMCSessions(t.Context(), ids...); err != nil {
		t.Fatal(err)
	}
	if left, err := r.BMCSessions(t.Context()); err != nil || len(left) != 1 || left[0].ID != "stays" {
		t.Errorf("left: %v, %v", left, err)
	}
}
