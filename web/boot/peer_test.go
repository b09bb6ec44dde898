package boot_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cagenut/node"
)

// peer is the path of another program, from a Debian package of that name.
func peer(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
		t.Fatalf("%s is not here, and CAGENUT_REQUIRE_PEERS asks for it: apt-get install %s", name, debian)
	}
	t.Skipf("%s is not installed: apt-get install %s", name, debian)
	return ""
}

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
	}
	return out
}

// An ISO that Debian's xorriso has made comes out of the appliance as it is, but for the kernel parameters in its boot
// configuration: read by curl in pieces, looked into by xorriso.
func TestAnISOMadeByXorrisoCarriesTheParametersInItsBootConfiguration(t *testing.T) {
	xorriso, curl := peer(t, "xorriso", "xorriso"), peer(t, "curl", "curl")
	configs := map[string]string{
		"/boot/grub/grub.cfg":     "set timeout=0\nmenuentry inspect {\n\tlinux /boot/vmlinuz nofb " + placeholder(512) + "\n\tinitrd /boot/initrd\n}\n",
		"/isolinux/isolinux.cfg":  "DEFAULT inspect\nLABEL inspect\n  KERNEL /boot/vmlinuz\n  APPEND initrd=/boot/initrd nofb " + placeholder(512) + "\n",
		"/EFI/BOOT/grub.cfg":      "linux /boot/vmlinuz " + placeholder(300) + " quiet\n",
		"/boot/vmlinuz":           strings.Repeat("kernel", 100_000),
		"/boot/initrd":            strings.Repeat("initrd ", 500_000),
		"/doc/how to inspect.txt": "Put cagenut-parameters=____ into grub.cfg.\n",
	}
	tree := t.TempDir()
	for path, content := range configs {
		path = filepath.Join(tree, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newISORig(t)
	made := filepath.Join(r.dir, "ipa.iso")
	output(t, xorriso, "-as", "mkisofs", "-quiet", "-r", "-J", "-V", "INSPECT", "-o", made, tree)
	image, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	address, notes, err := r.iso(node.Node{})
	if err != nil || len(notes) != 0 {
		t.Fatalf("%v, %v", notes, err)
	}

	var served []byte
	const piece = 65_521 // no multiple of a sector
	for from := 0; from < len(image); from += piece {
		served = append(served, output(t, curl, "-sf", "-r", fmt.Sprintf("%d-%d", from, from+piece-1), address)...)
	}
	if whole := output(t, curl, "-sf", address); !bytes.Equal(served, whole) || len(served) != len(image) {
		t.Fatalf("in pieces %d bytes, at once %d, on the disk %d", len(served), len(whole), len(image))
	}
	taken := filepath.Join(t.TempDir(), "served.iso")
	if err := os.WriteFile(taken, served, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, content := range configs {
		to := filepath.Join(t.TempDir(), "file")
		output(t, xorriso, "-osirrox", "on", "-indev", taken, "-extract", path, to)
		got, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{512, 300} {
			content = strings.ReplaceAll(content, placeholder(n), r.parameters()+strings.Repeat(" ", n-len(r.parameters())))
		}
		if string(got) != content {
			t.Errorf("%s differs: %q", path, got[:min(len(got), 800)])
		}
	}
	// Byte for byte: what differs are the three places, and nothing else.
	for _, n := range []int{512, 300} {
		image = bytes.ReplaceAll(image, []byte(placeholder(n)), []byte(r.parameters()+strings.Repeat(" ", n-len(r.parameters()))))
	}
	if !bytes.Equal(image, served) {
		t.Error("something else differs")
	}
	t.Logf("result: an ISO of %d bytes by %s, read by curl in pieces of %d: 3 places filled, all else byte for byte the same",
		len(served), strings.SplitN(string(output(t, xorriso, "-version")), "\n", 2)[0], piece)
}
