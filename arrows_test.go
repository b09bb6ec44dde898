// Package cagenut_test holds what is true of the whole house and of no single room.
package cagenut_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowedRooms says which of our own rooms a room may import besides itself (design.md §3). The longest prefix counts, so
// that a room inside another can have an arrow of its own. cmd is where all rooms meet and stands in no row.
var allowedRooms = map[string][]string{
	"node":              {},
	"conductor":         {"node"},
	"bmc":               {"node"},
	"inspect":           {"node"},
	"store":             {"node"},
	"notify":            {"node"},
	"templates":         {"node"},
	"web":               {"conductor", "node"},
	"web/ui":            {"conductor", "node", "templates", "web"},
	"web/introspection": {"conductor", "inspect/introspection", "node", "web"},
	"e2e":               {},
}

// owners says which rooms alone may import a library. Every library of go.mod that product code imports needs a row: who
// adds one says here who may know it.
var owners = map[string][]string{
	"gorm.io":                         {"store"},
	"github.com/glebarez":             {"store"},
	"github.com/pressly/goose":        {"store"},
	"github.com/riverqueue/river":     {"store"},
	"github.com/jackc/pgx":            {"store"},
	"modernc.org":                     {"store"},
	"github.com/gofiber/fiber":        {"web", "cmd"},
	"github.com/valyala":              {"web", "cmd"},
	"github.com/evanphx/json-patch":   {"web/ironic"},
	"github.com/google/jsonschema-go": {"web/openapi"},
	"github.com/stmcginnis/gofish":    {"bmc/redfish"},
	"github.com/bougou/go-ipmi":       {"bmc/ipmi", "bmc/sim"},
	"github.com/a-h/templ":            {"templates", "web/ui"},
	"golang.org/x/crypto":             {"web/auth", "cmd"},
	"github.com/prometheus":           {"web", "cmd"},
	"github.com/alecthomas/kong":      {"cmd"},
	"golang.org/x/sync":               {"cmd", "conductor"},
	"golang.org/x/net":                {},
	"golang.org/x/text":               {"templates/texts"},
	"gopkg.in/yaml.v3":                {"cmd", "templates/texts"},
	"github.com/google/uuid":          {"bmc/sim", "cmd", "conductor", "inspect", "node", "store", "web"},
	"go.uber.org/goleak":              {},
	"github.com/chromedp":             {},
	"github.com/getkin/kin-openapi":   {},
	"github.com/gophercloud":          {},
	"github.com/google/go-cmp":        {},
	"github.com/rogpeppe/go-internal": {},
	"pgregory.net/rapid":              {},
}

// ownStandard says which parts of the standard library only some rooms may import.
var ownStandard = map[string][]string{
	"database/sql":  {"store"},
	"html/template": {},
	"net/http":      {"bmc", "cmd", "inspect/inspector", "inspect/introspection", "inspect/rules", "notify", "web"},
}

type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

func TestImportsFollowTheArrowsOfTheDesign(t *testing.T) {
	all := listed(t)
	rooms := 0
	for path, p := range all {
		room, ours := strings.CutPrefix(path, "cagenut/")
		if !ours || room == "e2e" {
			continue
		}
		rooms++
		for _, imported := range p.Imports {
			if why := refusal(room, imported, all[imported].Standard); why != "" {
				t.Errorf("%s imports %s: %s", room, imported, why)
			}
		}
	}
	if rooms < 10 {
		t.Fatalf("only %d rooms were found", rooms)
	}
}

func TestAnArrowAgainstTheDesignIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		room, imported string
		standard, bad  bool
	}{
		"an adapter that knows another adapter":      {room: "bmc/redfish", imported: "cagenut/store", bad: true},
		"an adapter that knows who calls it":         {room: "inspect/agent", imported: "cagenut/conductor", bad: true},
		"the conductor that knows an adapter":        {room: "conductor", imported: "cagenut/bmc", bad: true},
		"the domain that knows a room":               {room: "node", imported: "cagenut/web", bad: true},
		"the domain that knows a database":           {room: "node", imported: "gorm.io/gorm", bad: true},
		"the domain that knows HTTP":                 {room: "node", imported: "net/http", standard: true, bad: true},
		"the conductor that knows SQL":               {room: "conductor", imported: "database/sql", standard: true, bad: true},
		"the API that draws pages":                   {room: "web/ironic", imported: "cagenut/templates", bad: true},
		"one BMC protocol that knows the other's":    {room: "bmc/redfish", imported: "github.com/bougou/go-ipmi/pkg/client", bad: true},
		"a library that nobody has a row for":        {room: "web", imported: "example.org/new", bad: true},
		"a room that imports the binary":             {room: "web", imported: "cagenut/cmd/cagenut", bad: true},
		"a room that has no row":                     {room: "helpers", imported: "fmt", standard: true, bad: true},
		"a library whose name begins like another's": {room: "store", imported: "gorm.io.example/x", bad: true},
		"a room inside itself":                       {room: "bmc/fake", imported: "cagenut/bmc"},
		"the dashboard that draws":                   {room: "web/ui", imported: "cagenut/templates"},
		"the store that knows SQL":                   {room: "store/jobs", imported: "database/sql", standard: true},
		"the binary that joins":                      {room: "cmd/cagenut", imported: "cagenut/store"},
	} {
		t.Run(name, func(t *testing.T) {
			if why := refusal(c.room, c.imported, c.standard); (why != "") != c.bad {
				t.Errorf("%s → %s: %q", c.room, c.imported, why)
			}
		})
	}
}

var direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

func TestEveryDependencyHasItsReasonInTheReadme(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := direct.FindAllSubmatch(mod, -1)
	if len(found) < 10 {
		t.Fatalf("only %d dependencies were found in go.mod", len(found))
	}
	for _, m := range found {
		if !strings.Contains(string(readme), "| `"+string(m[1])+"` |") {
			t.Errorf("README.md does not say what %s is for", m[1])
		}
	}
}

// refusal says why a room may not import a package; "" when it may.
func refusal(room, imported string, standard bool) string {
	row, known := longest(allowedRooms, room)
	if !known && !within(room, "cmd") {
		return "the room has no row in this test"
	}
	if other, ours := strings.CutPrefix(imported, "cagenut/"); ours {
		if within(room, "cmd") || top(room) == top(other) || slices.ContainsFunc(row, func(a string) bool { return within(other, a) }) {
			return ""
		}
		return "it may import of our rooms only " + strings.Join(row, ", ")
	}
	table := owners
	if standard {
		table = ownStandard
	}
	rooms, owned := longest(table, imported)
	switch {
	case !owned && standard:
		return ""
	case !owned:
		return "the library has no row in this test"
	case slices.ContainsFunc(rooms, func(r string) bool { return within(room, r) }):
		return ""
	}
	return "only these may: " + strings.Join(rooms, ", ")
}

// longest finds the row whose name is the longest path above a path.
func longest(table map[string][]string, path string) (row []string, found bool) {
	best := ""
	for name, r := range table {
		if within(path, name) && len(name) > len(best) {
			best, row, found = name, r, true
		}
	}
	return row, found
}

// within tells whether a path is another one or lies below it.
func within(path, above string) bool {
	return path == above || strings.HasPrefix(path, above+"/")
}

func top(room string) string {
	first, _, _ := strings.Cut(room, "/")
	return first
}

// listed asks the go command for all packages that ours are built of.
func listed(t *testing.T) map[string]pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports", "./...").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}
