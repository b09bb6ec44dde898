package main

import (
	"io"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The settings of the hooks hold for the inspector alone as they do for the embedded one (G27).
func TestTheInspectorAloneIgnoresMACsOfManyServersToo(t *testing.T) {
	i := &inspectorCommand{
		IronicURL: "http://127.0.0.1:1", Listen: "127.0.0.1:0", DataDir: t.TempDir(), Auth: "none", InspectionsKept: 1, hookSettings: hookSettings{IgnoreMACs: []string{"fa:4b:7f"}},
	}
	a := &appliance{settings: i.settings(), log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := i.open(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	keys, err := a.conductor.Reports.Keys([]byte(`{"inventory":{"interfaces":[{"name":"usb0","mac_address":"fa:4b:7f:00:00:01"},{"name":"eno1","mac_address":"02:00:5e:00:01:01"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"02:00:5e:00:01:01"}, keys.MACs); diff != "" {
		t.Errorf("MACs by which a report is recognised (-want +got):\n%s", diff)
	}
}
