package boot_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/boot"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

type expecting string

func (mac expecting) Booting(_ context.Context, asked string) (node.Node, node.Attempt, error) {
	if asked != string(mac) {
		return node.Node{}, node.Attempt{}, &node.NotFound{What: "Node", Ident: asked}
	}
	return node.Node{}, node.Attempt{Token: "t&0"}, nil
}

func (mac expecting) BootingAttempt(context.Context, string) (node.Node, node.Attempt, error) {
	return node.Node{}, node.Attempt{}, &node.NotFound{What: "Attempt"}
}

func (mac expecting) Sign(context.Context, string, string, node.SignKind, string) {}

func serve(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, "boot")
	base := serveWith(t, boot.Options{CallbackURL: boot.Callback("http://192.0.2.1:6385"), Dir: files})
	if err := os.WriteFile(filepath.Join(files, "kernel"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	return base
}

func serveWith(t *testing.T, o boot.Options) string {
	t.Helper()
	if o.Conductor == nil {
		o.Conductor = expecting("02:00:5e:00:00:01")
	}
	o.KernelURL, o.InitrdURL = "http://192.0.2.1/boot/kernel", "http://192.0.2.1/boot/initrd"
	s, err := boot.New(o)
	if err != nil {
		t.Fatal(err)
	}
	app := web.NewApp(web.AppOptions{})
	s.Register(app)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		_ = app.Shutdown()
		_ = ln.Close() // a shutdown that comes before the server has begun to accept leaves it open
		if err := <-done; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		_ = s.Close()
	})
	return "http://" + ln.Addr().String()
}

func get(t *testing.T, url, ranges string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ranges != "" {
		req.Header.Set("Range", ranges)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestOnlyTheServerThatIsInspectedBootsTheRamdisk(t *testing.T) {
	base := serve(t)
	_, script := get(t, base+"/boot.ipxe?mac=02-00-5E-00-00-01", "")
	for _, want := range []string{"#!ipxe\nkernel http://192.0.2.1/boot/kernel ", " ipa-inspection-callback-url=http://192.0.2.1:6385/v1/continue_inspection?attempt=t%260 ", " BOOTIF=02:00:5e:00:00:01 ", "\nboot\n"} {
		if !strings.Contains(script, want) {
			t.Errorf("%q is not in\n%s", want, script)
		}
	}
	for _, mac := range []string{"02:00:5e:00:00:02", "", "x%0Aboot", "02:00:5e:00:00:01%0Aboot"} {
		if status, script := get(t, base+"/boot.ipxe?mac="+mac, ""); status != 200 || script != "#!ipxe\nexit\n" {
			t.Errorf("%q: %d %q", mac, status, script)
		}
	}
}

func TestFiles(t *testing.T) {
	base := serve(t)
	for _, tc := range []struct {
		name, path, ranges string
		status             int
		text               string
	}{
		{"a whole file", "/boot/kernel", "", 200, "0123456789"},
		{"a piece", "/boot/kernel", "bytes=2-4", 206, "234"},
		{"the end", "/boot/kernel", "bytes=-3", 206, "789"},
		{"from somewhere on", "/boot/kernel", "bytes=8-", 206, "89"},
		{"beyond the end", "/boot/kernel", "bytes=10-", 416, ""},
		{"nothing there", "/boot/nothing", "", 404, ""},
		{"outside", "/boot/..%2Fsecret", "", 404, ""},
		{"the folder", "/boot/%2E", "", 404, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, text := get(t, base+tc.path, tc.ranges)
			if status != tc.status || (tc.text != "" && text != tc.text) || strings.Contains(text, "outside") {
				t.Errorf("got %d %q", status, text)
			}
		})
	}
}

func TestTheHeadOfAFileTellsItsLength(t *testing.T) {
	base := serve(t)
	resp, err := http.Head(base + "/boot/kernel")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 200 || resp.ContentLength != 10 || resp.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("got %d, %d bytes, %v", resp.StatusCode, resp.ContentLength, resp.Header)
	}
}

// A link inside the folder leads no further than the folder.
func TestALinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	files := filepath.Join(dir, "boot")
	if err := os.WriteFile(secret, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := serveWith(t, boot.Options{Dir: files, CallbackURL: boot.Callback("http://192.0.2.1")})
	if err := os.Symlink("../secret", filepath.Join(files, "link")); err != nil {
		t.Fatal(err)
	}
	if status, text := get(t, base+"/boot/link", ""); status != 404 || strings.Contains(text, "outside") {
		t.Errorf("got %d %q", status, text)
	}
}

func TestAnAddressThatWouldBecomeAScriptIsNotPutIntoOne(t *testing.T) {
	for _, callback := range []string{"http://192.0.2.1/\nshell", "http://192.0.2.1/ x=1", "http://${net0/mac}/"} {
		base := serveWith(t, boot.Options{Dir: t.TempDir(), CallbackURL: func(node.Node, node.Attempt) string { return callback }})
		if status, script := get(t, base+"/boot.ipxe?mac=02:00:5e:00:00:01", ""); status != 200 || script != "#!ipxe\nexit\n" {
			t.Errorf("%q: %d %q", callback, status, script)
		}
	}
	if _, err := boot.New(boot.Options{Dir: t.TempDir(), KernelURL: "http://192.0.2.1/k\nshell", InitrdURL: "http://192.0.2.1/i"}); err == nil {
		t.Error("a kernel URL of two lines must be refused")
	}
}
