package e2e_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// The script holds what is served to what automation expects; here it is only given an appliance.
func TestTheLifeOfANodeWithOpenstacksdk(t *testing.T) {
	t.Parallel()
	path := python(t, "openstack")
	life := func(t *testing.T, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, append([]string{"testdata/sdk_life.py"}, args...)...)
		cmd.Env = process.Environment(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	t.Run("nobody signs in", func(t *testing.T) {
		t.Parallel()
		inspector := freeAddress(t)
		a := serveOn(t, withBootFiles(t), "--inspector-listen", inspector)
		life(t, a.base, "http://"+inspector)
	})
	t.Run("with a password", func(t *testing.T) {
		t.Parallel()
		inspector := freeAddress(t)
		a, password := guarded(t, "--inspector-listen", inspector)
		life(t, a.base, "http://"+inspector, "admin", password)
	})
}
