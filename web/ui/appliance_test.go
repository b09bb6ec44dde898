package ui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cagenut/node"
)

// portrait is what the appliance tells of itself.
type portrait struct {
	a   node.Appliance
	err error
}

func (p *portrait) Appliance(context.Context) (node.Appliance, error) { return p.a, p.err }

func well() *portrait {
	return &portrait{a: node.Appliance{
		At: noon, StartedAt: noon.Add(-26 * time.Hour), Host: "rack-7", Build: node.Build{Version: "v1.2.3", Commit: "c0ffee", Modified: true, Go: "go1.26"},
		Settings:  []node.Setting{{Name: "listen", Value: "127.0.0.1:6385"}, {Name: "iso-url"}},
		Database:  node.DatabaseLoad{Kind: "SQLite", Path: "/var/lib/cagenut.db", Size: 3 << 20, WAL: 512, Schema: 17, DiskFree: 10 << 30, DiskSize: 20 << 30, Kept: []node.Kept{{What: "nodes", Count: 412}}},
		BMCs:      node.BMCLoad{Answering: 410, Unasked: 2, Calls: node.CallLoad{Running: 3, Limit: 64}},
		Inspector: node.InspectorContact{Address: "http://127.0.0.1:5050"},
		Streams:   node.StreamLoad{Open: 7, Limit: 512},
	}}
}

func TestTheApplianceShowsHowItIsToEverybodyWhoMayLook(t *testing.T) {
	r := newRack()
	r.self = well()
	s := serve(t, r, 0)
	for _, role := range []string{"viewer", "operator", "admin"} {
		page := s.get("/ui/appliance", header{"X-Test-Role": role})
		page.has(t, "Nothing is wrong", "v1.2.3", "c0ffee, with changes", "rack-7", "1 d 2 h", "3 MiB", "512 B", "10 GiB of 20 GiB", "412", "7 of 512", "--listen", "127.0.0.1:6385", "--iso-url",
			"410", "3, places for 64", "embedded", "http://127.0.0.1:5050", "Nothing is being worked on.", `data-refetch-every="5"`, "<title>Appliance")
		page.lacks(t, `callout failed`, "silent=")
	}
}

func TestWhatIsWrongWithTheApplianceIsSaidWithWhatToDo(t *testing.T) {
	for name, tc := range map[string]struct {
		breaks func(*node.Appliance)
		want   []string
	}{
		"a database that takes nothing": {func(a *node.Appliance) { a.Database.Unwritten = "attempt to write a <readonly> database" },
			[]string{"Nothing can be written to the database.", "attempt to write a &lt;readonly&gt; database", "belong to the user", "callout failed", "<title>1 problem – Appliance"}},
		"a disk that is nearly full": {func(a *node.Appliance) { a.Database.DiskFree = 100 << 20 }, []string{"100 MiB of 20 GiB are free", "--data-dir", "callout waiting"}},
		"no ramdisk URL":             {func(a *node.Appliance) { a.NoRamdiskURL = true }, []string{"no inspection with a ramdisk can start", "Set --ramdisk-url"}},
		"a boot file that is missing": {func(a *node.Appliance) { a.MissingBoot = []string{"/data/boot/ipa.kernel"} },
			[]string{"A file that inspected servers boot is missing.", "/data/boot/ipa.kernel", "--kernel-url"}},
		"an inspector that does not answer": {func(a *node.Appliance) {
			a.Inspector = node.InspectorContact{External: true, Address: "http://192.0.2.9:5050", Answered: noon.Add(-time.Hour), Failed: noon, Error: "connection refused"}
		}, []string{"The external inspector does not answer.", "connection refused", "Answered last", "1 h 00 m ago", "does not answer"}},
		"most BMCs are silent": {func(a *node.Appliance) { a.BMCs = node.BMCLoad{Answering: 1, Silent: 30} }, []string{"30 of 31 BMCs cannot be used.", "look at the network", "30 more cannot be used."}},
		"work that does not begin": {func(a *node.Appliance) {
			a.Jobs = node.JobLoad{Late: node.JobPower, LateFrom: noon.Add(-time.Hour), Counts: []node.JobCount{{Kind: node.JobPower, State: "available", Count: 4}}}
		}, []string{"Work waits that could have begun long ago.", "Waits the longest", "<td>4</td>"}},
		"two at once": {func(a *node.Appliance) { a.NoRamdiskURL, a.Streams.Open = true, 512 }, []string{"<title>2 problems – Appliance", "512 of 512 event streams are open"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRack()
			r.self = well()
			tc.breaks(&r.self.a)
			page := serve(t, r, 0).get("/ui/appliance")
			page.has(t, tc.want...)
			page.lacks(t, "Nothing is wrong", "<readonly>")
		})
	}
}

func TestSilentBMCsAndWorkAreListed(t *testing.T) {
	r := newRack()
	r.self = well()
	r.self.a.BMCs = node.BMCLoad{Answering: 400, Silent: 3, Worst: []node.SilentBMC{
		{Node: "u1", Name: "r07-u21", Place: node.Location{Rack: "R07", Unit: 21}, Address: "192.0.2.10", Since: noon.Add(-time.Hour), Error: "no answer <b>"},
		{Node: "u2", Address: "192.0.2.11", Since: noon.Add(-time.Minute), Error: "refused"},
	}}
	r.self.a.Jobs.Counts = []node.JobCount{{Kind: node.JobCleanUp, State: "running", Count: 5}, {Kind: node.JobCleanUp, State: "scheduled", Count: 6}, {Kind: node.JobCleanUp, State: "retryable", Count: 1}, {Kind: node.JobBulk, State: "available", Count: 2}}
	page := serve(t, r, 0).get("/ui/appliance")
	page.has(t, `<a href="/ui/nodes/u1"><bdi>r07-u21</bdi></a>`, "R07 · U21", "192.0.2.10", "1 h 00 m", "no answer &lt;b&gt;", `<a href="/ui/nodes/u2"><bdi>u2</bdi></a>`, "1 more cannot be used.", `href="/ui?health=silent"`,
		`<th scope="row">cleanup</th><td>5</td><td>0</td><td>7</td>`, `<th scope="row">bulk</th><td>0</td><td>2</td><td>0</td>`)
}

func TestAnApplianceThatCannotLookAtItselfSaysSo(t *testing.T) {
	r := newRack()
	r.self = &portrait{err: errors.New("the disk is gone")}
	page := serve(t, r, 0).get("/ui/appliance")
	if page.status != 500 {
		t.Errorf("got %d", page.status)
	}
	page.lacks(t, "the disk is gone")
}
