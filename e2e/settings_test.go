package e2e_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cagenut/e2e/process"
)

func TestAStartThatCannotWorkEndsWithOneSentence(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("listen: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	weak := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(weak, []byte("rack:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	free := []string{"--listen=127.0.0.1:0", "--inspector-listen=127.0.0.1:0", "--auth=none"}

	for name, c := range map[string]struct {
		args, env []string
		says      string
	}{
		"the port is taken":                          {args: []string{"--listen=" + busy.Addr().String(), "--inspector-listen=127.0.0.1:0", "--auth=none"}, says: busy.Addr().String()},
		"the inspector's port is taken":              {args: []string{"--listen=127.0.0.1:0", "--inspector-listen=" + busy.Addr().String(), "--auth=none"}, says: busy.Addr().String()},
		"the data folder cannot be made":             {args: append([]string{"--data-dir=" + filepath.Join(file, "data")}, free...), says: filepath.Join(file, "data")},
		"the data folder is a file":                  {args: append([]string{"--data-dir=" + file}, free...), says: file},
		"the listen address has no port":             {args: []string{"--listen=here"}, says: "--listen"},
		"a duration is a word":                       {args: append([]string{"--inspect-timeout=soon"}, free...), says: "--inspect-timeout"},
		"a duration is negative":                     {args: append([]string{"--inspect-timeout=-1s"}, free...), says: "--inspect-timeout"},
		"the way of signing in does not exist":       {args: []string{"--auth=maybe"}, says: "--auth"},
		"the API ceiling is beyond what there is":    {args: append([]string{"--api-max-version=1.97"}, free...), says: "--api-max-version"},
		"the ramdisk's address is no URL":            {args: append([]string{"--ramdisk-url=rack"}, free...), says: "--ramdisk-url"},
		"nobody signs in, on all addresses":          {args: []string{"--listen=0.0.0.0:0", "--auth=none"}, says: "--auth"},
		"a trusted proxy is no address":              {args: append([]string{"--trusted-proxies=rack"}, free...), says: "--trusted-proxies"},
		"a setting of the environment is wrong":      {args: free, env: []string{"CAGENUT_INSPECT_TIMEOUT=soon"}, says: "inspect-timeout"},
		"a flag does not exist":                      {args: append([]string{"--colour=red"}, free...), says: "--colour"},
		"the settings file is not there":             {args: append([]string{"--config=/nowhere/cagenut.yaml"}, free...), says: "/nowhere/cagenut.yaml"},
		"the settings file is not YAML":              {args: append([]string{"--config=" + file}, free...), says: "settings file"},
		"the file with the users cannot be read":     {args: []string{"--listen=127.0.0.1:0", "--inspector-listen=127.0.0.1:0", "--htpasswd=/nowhere/htpasswd"}, says: "/nowhere/htpasswd"},
		"a user's password is hashed with SHA-1":     {args: []string{"--listen=127.0.0.1:0", "--inspector-listen=127.0.0.1:0", "--htpasswd=" + weak}, says: weak},
		"the inspector's password file is not there": {args: append([]string{"--inspector-url=http://127.0.0.1:9", "--inspector-password-file=/nowhere/password"}, free...), says: "/nowhere/password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			// On a busy machine the database warns that it was slow, which is another matter.
			args := append([]string{"serve", "--log-level=error"}, c.args...)
			if !strings.Contains(strings.Join(args, " "), "--data-dir") {
				args = append(args, "--data-dir="+t.TempDir())
			}
			cmd := exec.CommandContext(ctx, binary, args...)
			var out, errs bytes.Buffer
			cmd.Env, cmd.Stdout, cmd.Stderr = process.Environment(t, c.env...), &out, &errs
			if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
				t.Fatalf("it ended with %v, want exit code 1\n%s%s", err, &out, &errs)
			}
			if out.Len() > 0 {
				t.Errorf("it printed %q", &out)
			}
			sentence, more, whole := strings.Cut(errs.String(), "\n")
			if !whole || more != "" || !strings.Contains(sentence, c.says) {
				t.Errorf("standard error is %q, want one line that names %s", &errs, c.says)
			}
		})
	}
}
