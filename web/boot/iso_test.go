package boot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/node"
	"cagenut/web/boot"
)

// running knows one attempt for as long as it runs.
type running struct {
	expecting
	attempt node.Attempt
	mu      sync.Mutex
	over    bool
	signs   []string
}

func (r *running) BootingAttempt(_ context.Context, id string) (node.Node, node.Attempt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id != r.attempt.ID || r.over {
		return node.Node{}, node.Attempt{}, &node.NotFound{What: "Attempt", Ident: id}
	}
	return node.Node{}, r.attempt, nil
}

func (r *running) Sign(_ context.Context, _, attempt string, kind node.SignKind, from string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signs = append(r.signs, fmt.Sprint(attempt == r.attempt.ID, " ", kind, " from ", from))
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// isoRig serves a folder of images to one attempt.
type isoRig struct {
	t       *testing.T
	dir     string
	base    string
	isos    *boot.ISOs
	running *running
}

const kernelParameters = "ipa-inspection-callback-url=BASE/v1/continue_inspection?attempt=t0k3n ipa-inspection-collectors=default,logs,pci-devices,lldp ipa-collect-lldp=1"

func newISORig(t *testing.T) *isoRig {
	t.Helper()
	r := &isoRig{t: t, dir: t.TempDir(), running: &running{attempt: node.Attempt{ID: node.NewUUID(), Token: "t0k3n"}}}
	var err error
	if r.isos, err = boot.OpenISOs(r.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.isos.Close() })
	r.base = serveWith(t, boot.Options{Conductor: r.running, Dir: r.dir, ISOs: r.isos, CallbackURL: boot.Callback("http://192.0.2.1")})
	r.isos.RamdiskURL, r.isos.CallbackURL = r.base, boot.Callback(r.base)
	return r
}

func (r *isoRig) parameters() string { return strings.ReplaceAll(kernelParameters, "BASE", r.base) }

func (r *isoRig) write(name string, content []byte) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *isoRig) iso(n node.Node) (string, []string, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	return r.isos.ISO(ctx, n, r.running.attempt)
}

// placeholder is one of a length.
func placeholder(n int) string {
	return boot.Placeholder + strings.Repeat("_", n-len(boot.Placeholder))
}

func TestAnAttemptsKernelParametersAreWrittenIntoItsISO(t *testing.T) {
	const chunk = 1 << 20
	for name, at := range map[string][]int{
		"one": {4096}, "at the very beginning": {0}, "at the very end": {3*chunk - 512}, "several": {100, 5000, 2*chunk + 7, 3*chunk - 512},
		"side by side": {1000, 1512}, "its word across two chunks": {chunk - 5}, "its word just before the end of a chunk": {chunk - len(boot.Placeholder)},
		"its underscores across two chunks": {chunk - 300}, "up to the end of a chunk": {chunk - 512}, "all over": {chunk - 600, chunk - 88, 2*chunk - 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newISORig(t)
			dice := rand.New(rand.NewPCG(1, 2))
			block := make([]byte, 4096)
			for i := range block {
				block[i] = byte(dice.IntN(90)) // no underscore
			}
			image := bytes.Repeat(block, 3*chunk/len(block))
			want := bytes.Clone(image)
			for _, p := range at {
				copy(image[p:], placeholder(512))
				copy(want[p:], r.parameters()+strings.Repeat(" ", 512-len(r.parameters())))
			}
			r.write("ipa.iso", image)
			address, notes, err := r.iso(node.Node{})
			if err != nil || len(notes) != 0 {
				t.Fatalf("%v, %v", notes, err)
			}
			if strings.Contains(address, "t0k3n") {
				t.Errorf("the address tells the token: %s", address)
			}
			status, got := get(t, address, "")
			if status != http.StatusOK || got != string(want) {
				t.Errorf("%d, %d bytes; the same: %v", status, len(got), got == string(want))
			}
			for range 40 { // in pieces, as BMCs read it
				from := dice.IntN(len(want))
				if dice.IntN(2) == 0 {
					from = min(max(0, at[dice.IntN(len(at))]+dice.IntN(1024)-256), len(want)-1)
				}
				to := min(from+dice.IntN(2048), len(want)-1)
				status, got := get(t, address, fmt.Sprintf("bytes=%d-%d", from, to))
				if status != http.StatusPartialContent || got != string(want[from:to+1]) {
					t.Fatalf("bytes %d to %d: %d, %q", from, to, status, got)
				}
			}
			if status, got := get(t, r.base+"/boot/ipa.iso", ""); status != http.StatusOK || got != string(image) {
				t.Errorf("the file itself: %d, unchanged: %v", status, got == string(image))
			}
		})
	}
}

func TestTheAddressOfAnISOIsTheAttemptsAlone(t *testing.T) {
	r := newISORig(t)
	r.write("ipa.iso", []byte("x "+placeholder(512)+" y"))
	r.write("other.iso", []byte("other"))
	address, _, err := r.iso(node.Node{})
	if err != nil {
		t.Fatal(err)
	}
	other := r.running.attempt
	other.Token = "another"
	for name, wrong := range map[string]string{
		"another key":         r.base + other.MediumPath("ipa.iso"),
		"the key of nothing":  r.base + "/boot/iso/" + other.ID + "/x/ipa.iso",
		"another file":        strings.Replace(address, "ipa.iso", "other.iso", 1),
		"another attempt":     strings.Replace(address, other.ID, node.NewUUID(), 1),
		"no attempt":          strings.Replace(address, other.ID, "x", 1),
		"outside":             r.base + r.running.attempt.MediumPath("../secret"),
		"a file that is gone": r.base + r.running.attempt.MediumPath("gone.iso"),
	} {
		if status, got := get(t, wrong, ""); status != http.StatusNotFound || strings.Contains(got, "attempt=") {
			t.Errorf("%s: %d %q", name, status, got)
		}
	}
	resp, err := http.Head(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 || resp.ContentLength != 516 || resp.Header.Get("Accept-Ranges") != "bytes" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("HEAD: %d, %d bytes, %v", resp.StatusCode, resp.ContentLength, resp.Header)
	}
	r.running.end()
	if status, got := get(t, address, ""); status != http.StatusNotFound || strings.Contains(got, "t0k3n") {
		t.Errorf("after the end: %d %q", status, got)
	}
}

func TestWhoFetchesWhatAnAttemptBootsGivesASignOfLife(t *testing.T) {
	r := newISORig(t)
	r.write("ipa.iso", []byte(placeholder(512)))
	address, _, err := r.iso(node.Node{})
	if err != nil {
		t.Fatal(err)
	}
	get(t, address, "bytes=0-9")
	get(t, r.base+"/boot/ipa.iso", "")
	get(t, r.base+"/boot/ipa.iso?attempt="+node.NewUUID(), "")
	get(t, r.base+"/boot/ipa.iso?attempt="+r.running.attempt.ID, "")
	want := []string{"true boot image fetched from 127.0.0.1", "true boot file fetched from 127.0.0.1"}
	if !slices.Equal(r.running.signs, want) {
		t.Errorf("got %q, want %q", r.running.signs, want)
	}
}

func TestWhatIsNoPlaceholderIsLeftAlone(t *testing.T) {
	r := newISORig(t)
	text := "write " + boot.Placeholder + "____ into grub.cfg; cagenut-parameters _______" + strings.Repeat("_", 600) + boot.Placeholder[:8]
	r.write("ipa.iso", []byte(text))
	address, notes, err := r.iso(node.Node{})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "not proven") {
		t.Fatalf("%v, %v", notes, err)
	}
	if status, got := get(t, address, ""); status != 200 || got != text {
		t.Errorf("%d %q", status, got)
	}
}

// An image that is replaced is looked through anew, and one that is not is looked through once.
func TestAnImageIsLookedThroughOncePerChange(t *testing.T) {
	r := newISORig(t)
	r.write("ipa.iso", []byte(placeholder(512)))
	if _, notes, err := r.iso(node.Node{}); err != nil || len(notes) != 0 {
		t.Fatalf("%v, %v", notes, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if _, _, err := r.isos.ISO(t.Context(), node.Node{}, r.running.attempt); err != nil {
			t.Fatal(err)
		}
	}
	r.write("ipa.iso", bytes.Repeat([]byte("no placeholder "), 10))
	if _, _, err := r.isos.ISO(gone, node.Node{}, r.running.attempt); !errors.Is(err, context.Canceled) {
		t.Errorf("an image that has to be read, without time: %v", err)
	}
	if _, notes, err := r.iso(node.Node{}); err != nil || len(notes) != 1 {
		t.Errorf("%v, %v", notes, err)
	}
}

func TestWhichISOIsTaken(t *testing.T) {
	marked := []byte(placeholder(512))
	for name, c := range map[string]struct {
		files  map[string][]byte
		change func(*boot.ISOs)
		deploy any
		file   string // of the address, or
		url    string // all of it
		note   string
		err    string
	}{
		"the only one":              {files: map[string][]byte{"x.ISO": marked, "ipa.kernel": nil}, file: "x.ISO"},
		"the one of the usual name": {files: map[string][]byte{"a.iso": marked, "ipa.iso": marked}, file: "ipa.iso"},
		"none":                      {err: "There is no ISO for inspected servers"},
		"which of several":          {files: map[string][]byte{"a.iso": marked, "b.iso": marked}, err: "several ISOs in the boot folder of the data directory (a.iso, b.iso), and none of them is ipa.iso, which would be taken"},
		"that of the settings": {files: map[string][]byte{"ipa.iso": marked}, change: func(i *boot.ISOs) { i.URL = "http://192.0.2.7/x.iso" },
			url: "http://192.0.2.7/x.iso", note: "not proven"},
		"the node's own": {files: map[string][]byte{"ipa.iso": marked}, change: func(i *boot.ISOs) { i.URL = "http://192.0.2.7/x.iso" }, deploy: "https://192.0.2.8/y.iso?sig=hidden",
			url: "https://192.0.2.8/y.iso?sig=hidden", note: "The ISO https://192.0.2.8/y.iso is not this appliance's"},
		"the node's own in our folder": {files: map[string][]byte{"a.iso": marked, "my b.iso": marked}, deploy: "OURS/boot/my%20b.iso", file: "my%20b.iso"},
		"one that is not in our folder": {files: map[string][]byte{"a.iso": marked}, deploy: "OURS/boot/b.iso",
			err: "There is no ISO b.iso in the boot folder of the data directory, which driver_info['deploy_iso'] on node"},
		"that of the settings with a user": {change: func(i *boot.ISOs) { i.URL = "http://u:hidden@192.0.2.7/x.iso" },
			url: "http://u:hidden@192.0.2.7/x.iso", note: "The ISO http://192.0.2.7/x.iso is not this appliance's"},
		"the node's own with a user":         {deploy: "https://u:hidden@192.0.2.8/y.iso", err: "must hold no user and no password"},
		"the node's own with a user in ours": {files: map[string][]byte{"ipa.iso": marked}, deploy: "http://u@192.0.2.8/boot/ipa.iso", err: "must hold no user and no password"},
		"a file on the BMC's own disk":       {deploy: "file:///ipa.iso", err: "the ISO has to have an address with http or https"},
		"a number":                           {deploy: []any{1}, err: "it must be a string"},
		"without an address of ours":         {files: map[string][]byte{"ipa.iso": marked}, change: func(i *boot.ISOs) { i.RamdiskURL = "" }, err: "--ramdisk-url"},
		"elsewhere without one is fine":      {change: func(i *boot.ISOs) { i.RamdiskURL, i.URL = "", "http://192.0.2.7/x.iso" }, url: "http://192.0.2.7/x.iso", note: "not proven"},
		"without a placeholder":              {files: map[string][]byte{"ipa.iso": []byte("plain")}, file: "ipa.iso", note: "ipa.iso has no placeholder"},
		"with one that is too short":         {files: map[string][]byte{"ipa.iso": []byte(placeholder(130))}, err: "its placeholder has 130 bytes, and the kernel parameters need"},
		"with one of several too short":      {files: map[string][]byte{"ipa.iso": []byte(placeholder(512) + "\n" + placeholder(131))}, err: "its placeholder has 131 bytes"},
		"for an address no loader takes":     {files: map[string][]byte{"ipa.iso": marked}, change: func(i *boot.ISOs) { i.CallbackURL = boot.Callback("http://192.0.2.1/;reboot") }, err: "cannot stand in a boot configuration"},
		"with placeholders everywhere":       {files: map[string][]byte{"ipa.iso": []byte(strings.Repeat(placeholder(512)+" ", 300))}, err: "more than 256 placeholders"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newISORig(t)
			for name, content := range c.files {
				r.write(name, content)
			}
			if c.change != nil {
				c.change(r.isos)
			}
			n := node.Node{UUID: "n1", DriverInfo: map[string]any{}}
			if text, ok := c.deploy.(string); ok {
				c.deploy = strings.Replace(text, "OURS", r.base, 1)
			}
			if c.deploy != nil {
				n.DriverInfo["deploy_iso"] = c.deploy
			}
			address, notes, err := r.iso(n)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hidden") {
					t.Errorf("got %q, %v; want %q", address, err, c.err)
				}
				if bad := r.isos.Validate(n); bad != nil && !errors.As(bad, new(*node.Invalid)) || bad == nil && strings.Contains(c.err, "no user") {
					t.Errorf("validate: %v", bad)
				}
				return
			}
			if bad := r.isos.Validate(n); err != nil || bad != nil {
				t.Fatalf("%v, %v", err, bad)
			}
			if c.url != "" && address != c.url || c.file != "" && !strings.HasSuffix(address, "/"+c.file) {
				t.Errorf("got %s", address)
			}
			if all := strings.Join(notes, " "); c.note == "" && all != "" || !strings.Contains(all, c.note) || strings.Contains(all, "hidden") {
				t.Errorf("notes %q, want %q", all, c.note)
			}
		})
	}
}
