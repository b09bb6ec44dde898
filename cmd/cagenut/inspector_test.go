package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestWrongSettingsOfTheInspectorStopItsStart(t *testing.T) {
	for args, want := range map[string]string{
		"":                                  "--ironic-url",
		"--ironic-url=elsewhere":            "--ironic-url=elsewhere: it must be a URL such as http://192.0.2.1:6385",
		"--ironic-url=http://u:p@192.0.2.1": "use --ironic-user and --ironic-password-file",
		"--ironic-url=http://192.0.2.1 --listen=x":                             "--listen=x: it must be an address with a port",
		"--ironic-url=http://192.0.2.1 --auth=none --listen=0.0.0.0:5050":      "--auth=none is refused",
		"--ironic-url=http://192.0.2.1 --inspect-timeout=-1s":                  "--inspect-timeout=-1s: it must not be negative",
		"--ironic-url=http://192.0.2.1 --inspection-hooks=magic":               "--inspection-hooks",
		"--ironic-url=http://192.0.2.1 --ironic-password-file=/does/not/exist": "--ironic-password-file",
	} {
		line := append([]string{"inspector", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0"}, strings.Fields(args)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := run(ctx, line, io.Discard, io.Discard)
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// Without users there is nobody who could sign in: the first start makes one. Ironic need not be there yet.
func TestTheInspectorAloneIsSignedInTo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out, ended := &heard{more: make(chan struct{}, 1)}, make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"inspector", "--ironic-url", "http://127.0.0.1:1", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "error"}, out, io.Discard)
	}()
	defer func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		goleak.VerifyNone(t, goleak.IgnoreCurrent())
	}()
	greeting := regexp.MustCompile(`(?s)with the password (\S+) .*Inspector: (http://\S+)\n`)
	var said []string
	for deadline := time.After(time.Minute); said == nil; said = greeting.FindStringSubmatch(out.String()) {
		select {
		case <-out.more:
		case err := <-ended:
			ended <- err
			t.Fatalf("it ended: %v", err)
		case <-deadline:
			t.Fatalf("it says only %q", out)
		}
	}
	ask := func(method, path, password string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, said[2]+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			req.SetBasicAuth("admin", password)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		method, path, password string
		want                   int
	}{
		{"GET", "/v1", "", 200}, {"GET", "/v1/introspection", "", 401}, {"GET", "/v1/introspection", "wrong", 401}, {"GET", "/v1/introspection", said[1], 200},
		{"GET", "/v1/rules", said[1], 200}, {"POST", "/v1/introspection/n1?manage_boot=false", said[1], 502},
	} {
		if got := ask(c.method, c.path, c.password); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, got, c.want)
		}
	}
}
