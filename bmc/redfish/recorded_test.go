package redfish_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cagenut/node"
)

// recorded is a BMC that answers what a real one answered, takes resets and boot overrides, and enforces ETags. Handlers change
// how it takes a PATCH.
type recorded struct {
	t      *testing.T
	root   string // folder of /redfish/v1
	system string // path of the server

	mu      sync.Mutex
	changes map[string]any // what differs from the recording, in the system
	version int
	resets  []string
	patches []map[string]any
	reads   []string
	spoil   func(any) any             // makes odd what it shows, but for the system itself
	expands bool                      // answers $expand
	wrote   []string                  // writes beside resets and boot overrides: "POST path"
	drives  map[string]map[string]any // what differs from the recording, in virtual drives
}

// sharedFolder finds the recordings, which are kept beside the repository and not in it.
func sharedFolder(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("CAGENUT_SHARED")
	for dir, err := os.Getwd(); shared == "" && err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			shared = filepath.Join(filepath.Dir(dir), "shared")
		}
	}
	folder := filepath.Join(shared, "redfish")
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
			t.Fatalf("the recorded answers of real BMCs are not here, and CAGENUT_REQUIRE_PEERS asks for them: %s", err)
		}
		t.Skipf("the recorded answers of real BMCs are not here: %s (set CAGENUT_SHARED to the folder that holds redfish/)", err)
	}
	return folder
}

func (r *recorded) document(path string) map[string]any {
	path = strings.TrimPrefix(strings.TrimRight(path, "/"), "/redfish/v1")
	b, err := os.ReadFile(filepath.Join(r.folder(path), "index.json"))
	if err != nil {
		return nil
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		r.t.Errorf("%s: %v", path, err)
	}
	maps.Copy(doc, r.drives["/redfish/v1"+path])
	if r.spoil != nil && "/redfish/v1"+path != r.system {
		doc, _ = r.spoil(doc).(map[string]any)
	}
	return doc
}

// folder finds a path's folder in whatever case its letters are, as iLO does.
func (r *recorded) folder(path string) string {
	folder := r.root
	for _, name := range strings.Split(strings.Trim(path, "/"), "/") {
		next := filepath.Join(folder, name)
		if _, err := os.Stat(next); err != nil {
			entries, _ := os.ReadDir(folder)
			for _, e := range entries {
				if strings.EqualFold(e.Name(), name) {
					next = filepath.Join(folder, e.Name())
				}
			}
		}
		folder = next
	}
	return folder
}

// expand puts the members into their collection.
func (r *recorded) expand(doc map[string]any) {
	members, _ := doc["Members"].([]any)
	for i, m := range members {
		ref, _ := m.(map[string]any)
		path, _ := ref["@odata.id"].(string)
		if whole := r.document(path); whole != nil {
			members[i] = whole
		}
	}
}

func (r *recorded) tag() string { return `"v` + string(rune('a'+r.version)) + `"` }

func (r *recorded) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := r.document(q.URL.Path)
	switch {
	case q.Method != http.MethodGet && r.aside(w, q):
	case q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, "ComputerSystem.Reset"):
		var body struct{ ResetType string }
		_ = json.NewDecoder(q.Body).Decode(&body)
		r.resets = append(r.resets, body.ResetType)
		r.changes["PowerState"] = "On"
		if body.ResetType == "ForceOff" || body.ResetType == "GracefulShutdown" {
			r.changes["PowerState"] = "Off"
		}
		w.WriteHeader(http.StatusNoContent)
	case doc == nil:
		http.Error(w, "not recorded", http.StatusNotFound)
	case q.Method == http.MethodPatch && q.Header.Get("If-Match") != r.tag():
		http.Error(w, `{"error":{}}`, http.StatusPreconditionFailed)
	case q.Method == http.MethodPatch:
		var body struct{ Boot map[string]any }
		_ = json.NewDecoder(q.Body).Decode(&body)
		r.patches = append(r.patches, body.Boot)
		boot, _ := r.changes["Boot"].(map[string]any)
		if boot == nil {
			boot = map[string]any{}
		}
		maps.Copy(boot, body.Boot)
		r.changes["Boot"] = boot
		r.version++
		w.WriteHeader(http.StatusNoContent)
	default:
		if q.URL.Path == r.system {
			merge(doc, r.changes)
			delete(doc, "@odata.etag")
			w.Header().Set("ETag", r.tag())
		}
		r.reads = append(r.reads, q.URL.Path)
		if q.URL.Query().Has("$expand") {
			if !r.expands {
				http.Error(w, "no such query", http.StatusNotImplemented)
				return
			}
			r.expand(doc)
		}
		_ = json.NewEncoder(w).Encode(doc)
	}
}

// aside takes what is written to virtual drives, logs and lights, at the addresses that the recording names.
func (r *recorded) aside(w http.ResponseWriter, q *http.Request) bool {
	var body map[string]any
	what, path := "", q.URL.Path
	for _, action := range []string{"VirtualMedia.InsertMedia", "VirtualMedia.EjectMedia", "LogService.ClearLog", "LogService.Reset"} {
		if at, ok := strings.CutSuffix(path, "/Actions/"+action); ok {
			what, path = action, at
		}
	}
	isDrive := strings.Contains(path, "/VirtualMedia/")
	switch {
	case q.Method == http.MethodPatch && path == r.system:
		saved, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(saved))
		if _ = json.Unmarshal(saved, &body); body["Boot"] != nil {
			return false
		}
	case what == "" && !isDrive:
		return false
	default:
		_ = json.NewDecoder(q.Body).Decode(&body)
	}
	r.wrote = append(r.wrote, q.Method+" "+strings.TrimPrefix(q.URL.Path, "/redfish/v1"))
	if isDrive {
		image, inserted := body["Image"].(string)
		r.drives[path] = map[string]any{"Inserted": inserted, "Image": image}
		if actions, ok := r.document(path)["Actions"].(map[string]any); ok { // Supermicro shows this one only while something is in
			actions["#VirtualMedia.EjectMedia"] = map[string]any{"target": path + "/Actions/VirtualMedia.EjectMedia"}
			r.drives[path]["Actions"] = actions
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

func merge(into, from map[string]any) {
	for k, v := range from {
		inner, isMap := v.(map[string]any)
		if outer, ok := into[k].(map[string]any); ok && isMap {
			merge(outer, inner)
			continue
		}
		into[k] = v
	}
}

func TestRealBMCsAreUnderstood(t *testing.T) {
	folder := sharedFolder(t)
	for _, machine := range []struct {
		folder, system string
		boot           node.Boot // as recorded
		devices        int
		mode           string // that goes with an override; "" where the BMC tells none
	}{
		{"dell-r750-idrac9/redfish/v1", "/redfish/v1/Systems/System.Embedded.1", node.Boot{}, 4, "UEFI"},
		{"dmtf-public-rackmount1", "/redfish/v1/Systems/437XR1138R2", node.Boot{Device: node.BootPXE}, 4, "UEFI"},
		{"gigabyte-h262-ami", "/redfish/v1/Systems/Self", node.Boot{}, 4, "Legacy"},
		{"hpe-dl360-ilo5", "/redfish/v1/Systems/1", node.Boot{}, 4, "UEFI"},
		{"lenovo-sr670-xcc/redfish/v1", "/redfish/v1/Systems/1", node.Boot{}, 4, "UEFI"},
		{"supermicro-x13/redfish/v1", "/redfish/v1/Systems/1", node.Boot{}, 4, "UEFI"},
	} {
		t.Run(strings.Split(machine.folder, "/")[0], func(t *testing.T) {
			root := filepath.Join(folder, filepath.FromSlash(machine.folder))
			if _, err := os.Stat(filepath.Join(root, "redfish", "v1")); err == nil {
				root = filepath.Join(root, "redfish", "v1")
			}
			r := &recorded{t: t, root: root, system: machine.system, changes: map[string]any{}}
			server := httptest.NewServer(r)
			defer server.Close()
			n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": server.URL}}
			c := open(t, newDriver(t, quick()), n)
			ctx := t.Context()

			if p, err := c.Power(ctx); err != nil || p != node.PowerOn {
				t.Fatalf("power %q, %v", p, err)
			}
			if b, err := c.Boot(ctx); err != nil || b != machine.boot {
				t.Errorf("boot %+v, %v; want %+v", b, err, machine.boot)
			}
			if d, err := c.SupportedBoot(ctx); err != nil || len(d) != machine.devices {
				t.Errorf("devices %v, %v", d, err)
			}
			for _, a := range []node.PowerAction{node.ActionOff, node.ActionOn, node.ActionReboot, node.ActionSoftReboot, node.ActionSoftOff} {
				if err := c.SetPower(ctx, a); err != nil {
					t.Errorf("%s: %v", a, err)
				}
			}
			if err := c.SetBoot(ctx, node.Boot{Device: node.BootPXE}); err != nil {
				t.Errorf("network boot: %v", err)
			}
			if len(r.patches) == 0 {
				t.Fatal("no PATCH arrived")
			}
			sent := r.patches[len(r.patches)-1]
			if mode, _ := sent["BootSourceOverrideMode"].(string); mode != machine.mode || sent["BootSourceOverrideTarget"] != "Pxe" || sent["BootSourceOverrideEnabled"] != "Once" {
				t.Errorf("sent %v", sent)
			}
			if err := c.SetBoot(ctx, node.Boot{}); err != nil {
				t.Errorf("removing it: %v", err)
			}
			if b, err := c.Boot(ctx); err != nil || b != (node.Boot{}) {
				t.Errorf("afterwards %+v, %v", b, err)
			}
			if len(r.resets) < 5 {
				t.Errorf("resets %v", r.resets)
			}
		})
	}
}
