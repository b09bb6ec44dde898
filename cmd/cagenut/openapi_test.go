package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cagenut/node"
)

// The appliance does what its own document says: thousands of requests that are made from the document, allowed ones and
// wrong ones, find no 5xx that it does not name, no answer outside it, and nothing that cannot be read afterwards.
// CAGENUT_SEED varies them, CAGENUT_REQUESTS is how many per microversion.
func TestNoAnswerIsOutsideTheDocument(t *testing.T) {
	for name, run := range map[string]struct {
		work   bool
		minors []int
		times  int // so many more
	}{
		"of versions, one after the other": {false, []int{1, 11, 38, 64, 82}, 1},
		"while jobs and rounds run":        {true, []int{newestMinor}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			a := serveForTest(t, run.work)
			a.conductor.LockPatience = 20 * time.Millisecond
			j := judge{described: map[int]*description{1: a.described(1), newestMinor: a.described(newestMinor)}}
			count, wrong, well := map[int]int{}, &faultList{t: t}, map[string]bool{}
			for _, minor := range run.minors {
				if j.described[minor] == nil {
					j.described[minor] = a.described(minor)
				}
				a.besiege(j, minor, run.times, count, wrong, well)
			}
			a.stillReadable(j, wrong)
			wrong.report()
			tell(t, count, len(run.minors))
			succeeded(t, j, well)
		})
	}
}

// besiege sends what a generator makes of the document of one microversion.
func (a *testAppliance) besiege(j judge, minor, times int, count map[int]int, wrong *faultList, well map[string]bool) {
	a.t.Helper()
	g := &generator{d: j.described[minor], shapes: resolvedShapes{}}
	requests := rapid.Custom(g.request)
	seed := fromEnvironment(a.t, "CAGENUT_SEED", 1)*10_000_000 + minor*100_000
	for n := range times * fromEnvironment(a.t, "CAGENUT_REQUESTS", 450) {
		if n%40 == 0 {
			g.here = a.stocked()
		}
		r := requests.Example(seed + n)
		got := a.exchange(r)
		count[got.status]++
		if o, _ := g.d.find(r.method, plainPath(r.path)); o != nil && got.status < 300 {
			well[o.method+" "+o.path] = true
		}
		if all := j.complaints(r, got); len(all) > 0 {
			wrong.add(r, got, all)
		}
	}
}

// succeeded asks for most of what can succeed to have done so: an appliance that refuses everything stays within its
// document too.
func succeeded(t *testing.T, j judge, well map[string]bool) {
	t.Helper()
	var never []string
	can := 0
	for _, o := range j.described[newestMinor].operations {
		for status := range o.answers {
			if status < 300 {
				can++
				if !well[o.method+" "+o.path] {
					never = append(never, o.method+" "+o.path)
				}
			}
		}
	}
	if len(never) > can/3 {
		t.Errorf("only %d of %d operations succeeded at all; never: %s", can-len(never), can, strings.Join(never, ", "))
	}
}

func tell(t *testing.T, count map[int]int, versions int) {
	total, parts := 0, []string{}
	for _, status := range slices.Sorted(maps.Keys(count)) {
		total += count[status]
		parts = append(parts, fmt.Sprintf("%d: %d", status, count[status]))
	}
	t.Logf("result: %d generated requests at %d microversions, answered %s", total, versions, strings.Join(parts, ", "))
}

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	said := os.Getenv(name)
	if said == "" {
		return otherwise
	}
	n, err := strconv.Atoi(said)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, said)
	}
	return n
}

// faultList tells each kind of complaint once, with the first request that it was found with.
type faultList struct {
	t     *testing.T
	first []string
	times map[string]int
}

func (f *faultList) add(r sentRequest, a answered, complaints []string) {
	if f.times == nil {
		f.times = map[string]int{}
	}
	for _, c := range complaints {
		kind, _, _ := strings.Cut(c, ":")
		kind = r.method + " " + strings.Join(slices.DeleteFunc(strings.Split(r.path, "/"), func(s string) bool { return len(s) > 20 }), "/") + " " + kind
		if f.times[kind]++; f.times[kind] > 1 {
			continue
		}
		body := a.body
		if len(body) > 600 {
			body = slices.Concat(body[:600], []byte("…"))
		}
		f.first = append(f.first, fmt.Sprintf("%s\n  sent: %s\n  got:  %d %s", c, r, a.status, body))
	}
}

func (f *faultList) report() {
	for _, text := range f.first {
		f.t.Error(text)
	}
}

// exchange sends a request as it is and reads the answer.
func (a *testAppliance) exchange(r sentRequest) answered {
	a.t.Helper()
	body := r.body
	if r.packed {
		body = compressed(body)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), r.method, a.base, bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.URL = &url.URL{Scheme: "http", Host: req.URL.Host, Opaque: r.path, RawQuery: r.query}
	if strings.HasPrefix(r.path, "//") {
		req.URL.Opaque = "/" + strings.TrimLeft(r.path, "/") // net/http would take it for a host
	}
	req.Header.Set("Content-Type", "application/json")
	if r.version != "" {
		req.Header.Set("X-OpenStack-Ironic-API-Version", r.version)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		a.t.Fatalf("%s: %v", r, err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatalf("%s: %v", r, err)
	}
	return answered{status: resp.StatusCode, header: resp.Header, body: out, length: resp.ContentLength}
}

// stillReadable looks at everything that the requests have left behind.
func (a *testAppliance) stillReadable(j judge, wrong *faultList) {
	for minor := range j.described {
		for _, path := range []string{
			"/v1/nodes/detail", "/v1/nodes", "/v1/ports", "/v1/ports/detail", "/v1/chassis/detail", "/v1/inspection_rules?detail=true", "/v1/shards", "/v1/conductors?detail=true", "/v1/drivers",
		} {
			r := sentRequest{method: "GET", version: "1." + strconv.Itoa(minor)}
			r.path, r.query, _ = strings.Cut(path, "?")
			if op, _ := j.described[minor].find("GET", r.path); op == nil {
				continue
			}
			got := a.exchange(r)
			all := j.complaints(r, got)
			if got.status != 200 {
				all = append(all, "it cannot be read any more")
			}
			if len(all) > 0 {
				wrong.add(r, got, all)
			}
		}
	}
	for _, ident := range a.stocked()["node"] {
		for _, path := range []string{"", "/states", "/ports/detail", "/validate", "/history", "/traits"} {
			r := sentRequest{method: "GET", path: "/v1/nodes/" + url.PathEscape(ident) + path, version: "latest"}
			got := a.exchange(r)
			all := j.complaints(r, got)
			if got.status != 200 && got.status != 404 {
				all = append(all, "it cannot be read any more")
			}
			if len(all) > 0 {
				wrong.add(r, got, all)
			}
		}
	}
}

// stocked sees to it that there is enough to ask for, and names it.
func (a *testAppliance) stocked() things {
	a.t.Helper()
	ctx := a.t.Context()
	all, err := a.store.Nodes(ctx, node.Filter{Page: node.Page{Limit: 1000}, IncludeChildren: true})
	if err != nil {
		a.t.Fatal(err)
	}
	if len(all) < 12 {
		a.restock()
		if all, err = a.store.Nodes(ctx, node.Filter{Page: node.Page{Limit: 1000}, IncludeChildren: true}); err != nil {
			a.t.Fatal(err)
		}
	}
	here := things{
		"driver": {"fake-hardware", "redfish", "ipmi", "fake-hardware.json"}, "hostname": {a.conductor.Host, "elsewhere"}, "trait": {"CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"},
		"boot_device": {"pxe", "disk"}, "provision_state": {"enroll", "manageable", "inspect wait"}, "address": {"02:00:5e:00:00:01", "02-00-5E-00-00-02"},
		"mac_address": {randomMAC(), randomMAC()}, "indicator": {"led@system", "led@system", "led@chassis"},
	}
	add := func(value string, names ...string) {
		for _, name := range names {
			if value != "" {
				here[name] = append(here[name], value)
			}
		}
	}
	for _, n := range all[:min(len(all), 40)] {
		add(n.UUID, "node", "node", "node_uuid", "node_ident", "marker", "parent_node", "ident")
		add(n.Name, "node", "node_ident", "ident")
		add(n.ChassisUUID, "chassis", "chassis_uuid", "marker")
	}
	ports, err := a.store.Ports(ctx, node.PortFilter{Page: node.Page{Limit: 40}})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, p := range ports {
		add(p.UUID, "port", "port", "marker")
		add(p.Name, "port")
		add(p.Address, "address", "addresses")
	}
	chassis, err := a.store.ChassisList(ctx, node.Page{Limit: 20})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, c := range chassis {
		add(c.UUID, "chassis", "chassis_uuid", "marker")
	}
	found, err := a.store.InspectionRules(ctx, node.RuleFilter{Page: node.Page{Limit: 40}})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, rule := range found {
		add(rule.UUID, "rule", "marker")
	}
	for _, d := range a.unknownMachines() {
		add(d.UUID, slices.Repeat([]string{"machine"}, 4)...)
		add(d.UUID, "marker")
	}
	for _, n := range all {
		kept, err := a.conductor.Kept(ctx, n.UUID, "", 2)
		if err != nil {
			a.t.Fatal(err)
		}
		for _, i := range kept { // such a node is named often, so that it meets its own attempts
			add(i.AttemptID, slices.Repeat([]string{"attempt", "from", "to"}, 8)...)
			add(n.UUID, slices.Repeat([]string{"ident"}, 30)...)
		}
		if n.ProvisionState == node.InspectWait {
			at, err := a.store.Attempt(ctx, n.AttemptID)
			if err != nil {
				a.t.Fatal(err)
			}
			add(string(at.Token), "attempt", "attempt")
			for range 4 {
				add(n.UUID, "node", "node_uuid")
			}
		}
		if n.ProvisionState != node.Manageable && n.ProvisionState != node.InspectFailed {
			continue
		}
		history, err := a.store.History(ctx, n.UUID, node.Page{Limit: 5})
		if err != nil {
			a.t.Fatal(err)
		}
		for _, h := range history {
			add(h.UUID, "entry", "marker")
		}
	}
	return here
}

// restock makes nodes in several states, of a driver without hardware and of one whose BMC refuses every connection, and
// everything that can hang on them.
func (a *testAppliance) restock() {
	a.t.Helper()
	ctx, who := a.t.Context(), node.System()
	chassis, err := a.store.CreateChassis(ctx, node.Chassis{UUID: node.NewUUID(), Description: "row 1"})
	if err != nil {
		a.t.Fatal(err)
	}
	states := []node.State{node.Enroll, node.Manageable, node.Available, node.InspectFailed, node.Active, node.CleanFailed, node.DeployFailed, node.Rescue, node.CleanHold}
	for i, state := range states {
		n, err := a.conductor.CreateNode(ctx, who, node.Node{
			Driver: node.DriverFake, Name: "n" + node.NewUUID()[:8], ProvisionState: state, ChassisUUID: chassis.UUID, Traits: []string{"CUSTOM_A"}, Extra: map[string]any{"a": i}, Shard: "s1",
		})
		if err != nil {
			a.t.Fatal(err)
		}
		a.putPort(n)
	}
	for _, state := range []node.State{node.Manageable, node.InspectWait, node.Enroll, node.Available} {
		n, at := a.nodeIn(state, "agent")
		a.putPort(n)
		if at.ID != "" {
			a.speaking(n, at)
		}
		fake, _ := a.nodeIn(state, "fake")
		a.putPort(fake)
	}
	a.inspectedTwice()
	if _, err := a.conductor.CreateInspectionRule(ctx, who, node.InspectionRule{
		Phase: node.RulePhaseMain, Description: "a rule", Actions: []node.RuleAction{{Op: "set-attribute", Args: map[string]any{"path": "/extra/seen", "value": "yes"}}},
	}); err != nil {
		a.t.Fatal(err)
	}
}

// speaking gives the ramdisk of a node that waits its token and its address, as a lookup and a heartbeat would; another
// such node has its report already.
func (a *testAppliance) speaking(n node.Node, at node.Attempt) {
	a.t.Helper()
	if _, err := a.store.Move(a.t.Context(), node.Move{
		Node: n.UUID, From: n.ProvisionState, Attempt: at.ID, Actor: node.System(), At: time.Now(), Internal: map[string]any{"agent_url": testCallback, "agent_secret_token": testToken},
	}); err != nil {
		a.t.Fatal(err)
	}
	done, told := a.nodeIn(node.InspectWait, "agent")
	report := []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"` + randomMAC() + `"}]}}`)
	if got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", query: "attempt=" + string(told.Token), body: report}); got.status != 202 {
		a.t.Fatalf("the report of %s: %d %s", done.UUID, got.status, got.body)
	}
}

// inspectedTwice makes a node of which two inspections are kept, whether jobs are worked or not.
func (a *testAppliance) inspectedTwice() {
	a.t.Helper()
	n, _ := a.nodeIn(node.Manageable, "agent")
	mac := randomMAC()
	for _, serial := range []string{"EB-1", "EB-2"} {
		waiting, at := a.waiting(n)
		if got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", query: "attempt=" + string(at.Token), body: reportWith(a.t, mac, serial, "started")}); got.status != 202 {
			a.t.Fatalf("the report of %s: %d %s", waiting.UUID, got.status, got.body)
		}
		held, err := a.store.Node(a.t.Context(), n.UUID)
		if err == nil {
			_, err = a.conductor.Work(a.t.Context(), node.Job{Kind: node.JobFinish, Node: n.UUID, Attempt: at.ID, Hold: held.ReservationID, Actor: node.System()}, 0)
		}
		if err != nil {
			a.t.Fatal(err)
		}
		n = a.until(n.UUID, "an end", func(n node.Node) bool { return n.ProvisionState == node.Manageable && !n.Reserved() })
	}
}

func (a *testAppliance) putPort(n node.Node) {
	a.t.Helper()
	if _, err := a.conductor.CreatePort(a.t.Context(), node.System(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: randomMAC(), PXEEnabled: true}); err != nil {
		a.t.Fatal(err)
	}
}
