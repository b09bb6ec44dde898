package hooks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// runHooks runs the named hooks on a report; a run that fails ends the test.
func runHooks(t *testing.T, names string, s hooks.Settings, in hooks.Input, body string) hooks.Findings {
	t.Helper()
	list, err := hooks.Select(strings.Split(names, ","), hooks.DefaultNames(), s)
	if err != nil {
		t.Fatal(err)
	}
	if in.Report, err = inventory.Parse([]byte(body)); err != nil {
		t.Fatal(err)
	}
	in.Node.UUID = uuid
	f, err := hooks.Run(list, in)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pluginData decodes what would be stored.
func pluginData(t *testing.T, f hooks.Findings) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(f.PluginData, &doc); err != nil {
		t.Fatalf("plugin data are no JSON: %v", err)
	}
	return doc
}

// noted checks that one of the notes has the text, or that there is none for "".
func noted(t *testing.T, f hooks.Findings, want string) {
	t.Helper()
	if all := strings.Join(f.Notes, "\n"); !strings.Contains(all, want) || want == "" && all != "" {
		t.Errorf("notes %q, want %q", f.Notes, want)
	}
}

func names(list []hooks.Hook) []string {
	var out []string
	for _, h := range list {
		out = append(out, h.Name())
	}
	return out
}

var usual = []string{"ramdisk-error", "validate-interfaces", "ports", "architecture", "memory", "cpus", "root-device", "boot-mode"}

func TestTheDefaultHooks(t *testing.T) {
	if diff := cmp.Diff(usual, names(hooks.Default())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"validate-interfaces", "ports", "architecture"}, names(hooks.OutOfBand())); diff != "" {
		t.Errorf("out of band (-want +got):\n%s", diff)
	}
}

func TestThereIsEveryHookOfTheContract(t *testing.T) {
	want := []string{"ramdisk-error", "validate-interfaces", "ports", "architecture", "memory", "cpus", "cpu-capabilities", "boot-mode", "root-device", "raid-device",
		"pci-devices", "accelerators", "local-link-connection", "parse-lldp", "physical-network", "extra-hardware"}
	slices.Sort(want)
	got := hooks.Names()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string
		err  string // part of it
	}{
		{"default", usual, ""},
		{"default,parse-lldp", append(slices.Clone(usual), "parse-lldp"), ""},
		{"extra-hardware, default", append([]string{"extra-hardware"}, usual...), ""},
		{"architecture", []string{"architecture"}, ""},
		{"validate-interfaces,physical-network,ports", []string{"validate-interfaces", "physical-network", "ports"}, ""},
		{"ports", nil, "the hook ports needs validate-interfaces before it"},
		{"ports,validate-interfaces", nil, "the hook ports needs validate-interfaces before it"},
		{"local-link-connection,default", nil, "the hook local-link-connection needs validate-interfaces before it"},
		{"memory,physical-network", nil, "the hook physical-network needs validate-interfaces before it"},
		{"memory,cpus,memory", nil, "the hook memory is there twice"},
		{"default,memory", nil, "the hook memory is there twice"},
		{"lldp", nil, `there is no hook "lldp"; there are ramdisk-error, validate-interfaces, `},
		{"$default_hooks,parse-lldp", nil, "and default for the usual ones"},
		{"memory,,cpus", nil, "there is a hook without a name"},
		{"", nil, "there is a hook without a name"},
	} {
		t.Run(c.list, func(t *testing.T) {
			list, err := hooks.Select(strings.Split(c.list, ","), hooks.DefaultNames(), hooks.Settings{})
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("got %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, names(list)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichHooksNeedTheInventoryStoredSoFar(t *testing.T) {
	for list, want := range map[string]bool{"default": false, "default,raid-device": true} {
		l, err := hooks.Select(strings.Split(list, ","), hooks.DefaultNames(), hooks.Settings{})
		if err != nil || hooks.NeedsPrevious(l) != want {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// What hostile reports make hooks say is bounded.
func TestTheNotesOfARunAreBounded(t *testing.T) {
	bad := strings.TrimSuffix(strings.Repeat(`["x"],`, 1000), ",")
	f := runHooks(t, "default,extra-hardware", hooks.Settings{}, hooks.Input{}, report(`"data":[`+bad+`]`, nic1, ""))
	if len(f.Notes) > 201 || !regexp.MustCompile(`^and \d+ more$`).MatchString(f.Notes[len(f.Notes)-1]) {
		t.Errorf("%d notes, the last %q", len(f.Notes), f.Notes[len(f.Notes)-1])
	}
}

func TestThePageAboutHooksListsThemAll(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspection-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z][a-z-]*)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1)
	var listed, onByDefault []string
	needs := map[string]string{}
	for _, r := range rows {
		listed = append(listed, r[1])
		needs[r[1]] = strings.TrimSpace(r[2])
	}
	all := hooks.Names()
	slices.Sort(all)
	sorted := slices.Sorted(slices.Values(listed))
	if diff := cmp.Diff(all, sorted); diff != "" {
		t.Errorf("hooks there are, hooks of the page (-want +got):\n%s", diff)
	}
	list, err := hooks.Select(append([]string{"validate-interfaces"}, slices.DeleteFunc(all, func(s string) bool { return s == "validate-interfaces" })...), nil, hooks.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		want := "–"
		if n := h.Needs(); len(n) > 0 {
			want = "`" + strings.Join(n, "`, `") + "`"
		}
		if needs[h.Name()] != want {
			t.Errorf("the page says that %s needs %s, want %s", h.Name(), needs[h.Name()], want)
		}
	}
	if m := regexp.MustCompile("(?s)by default:(.*?)\n\n").FindStringSubmatch(string(page)); m != nil {
		for _, n := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(m[1], -1) {
			onByDefault = append(onByDefault, n[1])
		}
	}
	if diff := cmp.Diff(usual, onByDefault); diff != "" {
		t.Errorf("hooks that run by default (-want +got):\n%s", diff)
	}
}

func ports(s ...string) []node.Port {
	var out []node.Port
	for i, mac := range s {
		out = append(out, node.Port{UUID: fmt.Sprintf("p%d", i+1), NodeUUID: uuid, Address: mac, PXEEnabled: true})
	}
	return out
}
