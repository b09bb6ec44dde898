package ui_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

// troubled is a rack with one server whose latest inspection ended in trouble.
func troubled(s node.State, change func(n *node.Node, a *node.Attempt)) (*rack, node.Node) {
	r := newRack()
	n := r.add("r07-u21", s, func(n *node.Node) {
		if n.AttemptID == "" {
			n.AttemptID = newest
		}
	})
	a := r.attempts[n.AttemptID]
	a.ID, a.NodeUUID, a.Interface, a.StartedAt, a.State = n.AttemptID, n.UUID, "agent", noon.Add(-5*time.Minute), node.RunError
	change(&n, &a)
	r.attempts[a.ID] = a
	r.nodes[0] = n
	return r, n
}

func failedWith(text string, reported bool) func(*node.Node, *node.Attempt) {
	return func(n *node.Node, a *node.Attempt) {
		a.Outcome, a.Error, a.LastError, n.LastError, a.EndedAt = node.Failed, text, text, text, noon
		if reported {
			a.WaitingAt, a.ReportAt = noon.Add(-4*time.Minute), noon.Add(-time.Minute)
		}
	}
}

func silentBMC(text string) func(*node.Node, *node.Attempt) {
	return func(n *node.Node, _ *node.Attempt) { n.BMCUnreachableSince, n.BMCError = noon.Add(-time.Minute), text }
}

// Issue 6, point 3: why it failed, and what to do about it.
func TestWhatWentWrongComesWithWhatToDo(t *testing.T) {
	saw := func(kinds ...node.SignKind) []node.Sign {
		var out []node.Sign
		for _, k := range kinds {
			out = append(out, node.Sign{Kind: k, FirstAt: noon, LastAt: noon, Times: 1})
		}
		return out
	}
	timedOut := func(n *node.Node, a *node.Attempt) {
		a.Outcome, a.Error, a.EndedAt, a.WaitingAt = node.TimedOut, "Introspection timeout", noon, noon.Add(-4*time.Minute)
	}
	for name, tc := range map[string]struct {
		state  node.State
		change func(*node.Node, *node.Attempt)
		signs  []node.Sign
		want   string // the hint
		ways   []string
	}{
		"nothing came of it at all":             {node.InspectFailed, timedOut, nil, "nosign", []string{"again", "timeline", "boot"}},
		"the boot script was the last":          {node.InspectFailed, timedOut, saw(node.SignPoweredOn, node.SignBootScript), "script", []string{"again", "timeline"}},
		"the kernel was the last":               {node.InspectFailed, timedOut, saw(node.SignBootScript, node.SignBootFile), "kernel", []string{"again", "timeline"}},
		"the ramdisk called and never reported": {node.InspectFailed, timedOut, saw(node.SignBootFile, node.SignLookup), "stuck", []string{"again", "timeline", "health"}},
		"somebody aborted it":                   {node.InspectFailed, func(_ *node.Node, a *node.Attempt) { a.Outcome = node.Aborted }, nil, "aborted", []string{"again", "timeline"}},
		"the appliance restarted":               {node.InspectFailed, failedWith("unable to start inspection: The appliance was restarted in the middle of it.", false), nil, "interrupted", []string{"again"}},
		"the server was slow":                   {node.InspectFailed, failedWith("unable to start inspection: the server was not ready within 1m0s (nothing was reached)", false), nil, "slowstart", []string{"again", "health"}},
		"the BMC refused while it was started":  {node.InspectFailed, failedWith("unable to start inspection: redfish: log in at https://192.0.2.10: "+node.ErrCredentials.Error(), false), nil, "credentials", []string{"edit", "health"}},
		"the ISO was not taken":                 {node.InspectFailed, failedWith("unable to start inspection: insert the ISO: no", false), nil, "insert", []string{"media", "again"}},
		"the start failed otherwise":            {node.InspectFailed, failedWith("unable to start inspection: something else", false), nil, "start", []string{"again", "health"}},
		"the ramdisk reported an error":         {node.InspectFailed, failedWith("Ramdisk reported error: no disks", true), nil, "ramdisk", []string{"logs", "again"}},
		"there is no usable interface":          {node.InspectFailed, failedWith("the hooks: no usable network interface was reported", true), nil, "nics", []string{"logs", "again"}},
		"no disk fits the hints":                {node.InspectFailed, failedWith("failed to run inspection hooks: Error in hook root-device: No disks satisfied root device hints", true), nil, "rootdevice", []string{"inventory", "logs", "reapply"}},
		"a rule refused it":                     {node.InspectFailed, failedWith("Failed to inspect hardware. Reason: too little memory", true), nil, "rule", []string{"reapply", "again"}},
		"a hook failed":                         {node.InspectFailed, failedWith("failed to run inspection hooks: Error in hook memory: no", true), nil, "hook", []string{"reapply", "logs"}},
		"the report was odd":                    {node.InspectFailed, failedWith("Failed to finish: it is no JSON", true), nil, "report", []string{"logs", "reapply", "again"}},
		"the inspector refused the start":       {node.InspectFailed, failedWith("unable to start inspection: Failed to start inspection: 500", false), nil, "inspectorstart", []string{"again"}},
		"the inspector forgot it":               {node.InspectFailed, failedWith("The inspector service does not know this node any more.", false), nil, "inspectorgone", []string{"again"}},
		"the inspector failed it":               {node.InspectFailed, failedWith("ironic-inspector inspection failed: timeout", false), nil, "inspectorfailed", []string{"again"}},
		"the BMC tells too little":              {node.InspectFailed, failedWith("Failed to discover the following properties: cpus on node x", false), nil, "outofband", []string{"again", "bmc"}},
		"the abort was refused": {node.InspectWait, func(n *node.Node, a *node.Attempt) {
			a.State, n.LastError = node.RunWaiting, "Failed to abort inspection: inspector at http://192.0.2.9: 500"
		}, nil, "abortrefused", []string{"timeline"}},
		"the inspector disagrees": {node.InspectFailed, func(_ *node.Node, a *node.Attempt) {
			a.Outcome, a.Divergence = node.Succeeded, "It still runs there."
		}, nil, "diverges", nil},
		"the server may still be on": {node.InspectFailed, func(_ *node.Node, a *node.Attempt) {
			a.Outcome, a.CleanUp, a.CleanUpError = node.Succeeded, node.CleanUpGivenUp, "BMC 192.0.2.10: no answer"
		}, nil, "poweroff", []string{"poweroff", "health"}},
		"the drive was left full": {node.InspectFailed, func(n *node.Node, a *node.Attempt) {
			a.Outcome, a.CleanUp, a.CleanUpError, n.PowerState = node.Succeeded, node.CleanUpPending, node.ErrMediumLeft.Error()+": no", node.PowerOff
		}, nil, "media-left", []string{"media"}},
		"the boot override was left": {node.InspectFailed, func(n *node.Node, a *node.Attempt) {
			a.Outcome, a.CleanUp, a.CleanUpError, n.PowerState = node.Succeeded, node.CleanUpPending, "no", node.PowerOff
		}, nil, "override", []string{"boot"}},
		"the credentials are refused":    {node.Manageable, silentBMC("redfish: log in at https://192.0.2.10: " + node.ErrCredentials.Error()), nil, "credentials", []string{"edit", "health"}},
		"the BMC is silent":              {node.Manageable, silentBMC("BMC 192.0.2.10: no answer within 10s (check the BMC's address, its network cable and that it is powered)"), nil, "silent", []string{"health", "edit"}},
		"the certificate is not trusted": {node.Manageable, silentBMC("BMC: x509: unknown authority (nobody whom we trust has signed the certificate: set redfish_verify_ca to …)"), nil, "certificate", []string{"edit", "health"}},
		"the certificate is another":     {node.Manageable, silentBMC("BMC: the certificate is not the pinned one: …"), nil, "pin", []string{"edit", "bmc"}},
		"nobody listens":                 {node.Manageable, silentBMC("BMC: connection refused (nothing listens there: …)"), nil, "refused", []string{"edit", "health"}},
		"its name leads nowhere":         {node.Manageable, silentBMC("BMC: no such host (the name of the BMC cannot be resolved: …)"), nil, "name", []string{"edit"}},
		"the first look at the BMC failed": {node.Enroll, func(n *node.Node, _ *node.Attempt) {
			n.LastError = "Failed to validate power driver interface for node x. Error: no"
		}, nil, "bmcfailed", []string{"edit", "manage"}},
		"the first look met wrong password": {node.Enroll, func(n *node.Node, _ *node.Attempt) {
			n.LastError = "Failed to get power state. Error: " + node.ErrCredentials.Error()
		}, nil, "credentials", []string{"edit", "manage", "health"}},
		"parts are not well": {node.Manageable, func(n *node.Node, _ *node.Attempt) { n.Health, n.HealthAt = node.HealthCritical, noon }, nil, "sick", []string{"health", "log"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, n := troubled(tc.state, tc.change)
			r.kept.signs = map[string][]node.Sign{n.AttemptID: tc.signs}
			s := serve(t, r, 0)
			page := s.get("/ui/nodes/r07-u21")
			if got := hintsIn(page); !slices.Equal(got, []string{tc.want}) {
				t.Fatalf("the hints are %q, want %q", got, tc.want)
			}
			page.has(t, escaped(english("hint."+tc.want)), escaped(english("hint."+tc.want+".do")))
			if got := waysIn(page, tc.want); !slices.Equal(sorted(got), sorted(tc.ways)) {
				t.Errorf("it offers %q, want %q", got, tc.ways)
			}
			t.Log("a viewer reads the same, and presses nothing")
			seen := s.get("/ui/nodes/r07-u21", viewer)
			seen.has(t, escaped(english("hint."+tc.want)))
			if strings.Contains(seen.body, "data-action") || strings.Contains(seen.body, "/edit") {
				t.Error("a viewer is offered to change something")
			}
		})
	}
}

func hintsIn(a answer) (keys []string) {
	for _, m := range regexp.MustCompile(`<li id="hint-([a-z-]+)"`).FindAllStringSubmatch(a.body, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

func waysIn(a answer, hint string) (ways []string) {
	for _, m := range regexp.MustCompile(` id="hint-`+hint+`-([a-z]+)"`).FindAllStringSubmatch(a.body, -1) {
		ways = append(ways, m[1])
	}
	return ways
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// escaped is how a text with quotes stands in HTML.
func escaped(s string) string { return strings.ReplaceAll(s, "'", "&#39;") }

// What is over and well, or under way, needs no advice.
func TestWhereNothingIsWrongThereAreNoHints(t *testing.T) {
	r, _ := inspectedRack()
	waits := r.add("r07-u22", node.InspectWait)
	r.add("r07-u23", node.Enroll)
	s := serve(t, r, 0)
	for _, path := range []string{"/ui/nodes/r07-u21", "/ui/nodes/r07-u22", "/ui/nodes/r07-u23", "/ui/nodes/r07-u22/attempts/" + waits.AttemptID, "/ui/nodes/r07-u21/attempts/" + second} {
		if got := hintsIn(s.get(path)); got != nil {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// Of an inspection that nothing is kept of any more, the page tells what the node itself says.
func TestAHintStandsWithoutTheRecordOfTheInspection(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait, func(n *node.Node) { n.LastError = "Failed to abort inspection: 500" })
	r.edit(func() { delete(r.attempts, n.AttemptID) })
	if page := serve(t, r, 0).get("/ui/nodes/r07-u21"); page.status != http.StatusOK || len(hintsIn(page)) != 1 {
		t.Errorf("%d, %q", page.status, hintsIn(page))
	}
}

// What an earlier inspection failed by is told on its own page, without buttons that are about now.
func TestTheHintsOfAnEarlierInspectionAreOnItsPage(t *testing.T) {
	r, _ := inspectedRack()
	r.edit(func() {
		a := r.attempts[second]
		a.Outcome, a.State, a.Error = node.Failed, node.RunError, "Ramdisk reported error: no disks"
		r.attempts[second] = a
	})
	page := serve(t, r, 0).get("/ui/nodes/r07-u21/attempts/" + second)
	if got := hintsIn(page); !slices.Equal(got, []string{"ramdisk"}) {
		t.Errorf("the hints are %q", got)
	}
	page.lacks(t, "hint-ramdisk-again")
}

// A button of a hint does what the button of the page does.
func TestAHintsButtonActs(t *testing.T) {
	r, n := troubled(node.InspectFailed, failedWith("Ramdisk reported error: no disks", true))
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21").has(t, `id="hint-ramdisk-again"`, `action="/ui/nodes/`+n.UUID+`/provision"`)
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/provision", url.Values{"verb": {"inspect"}, "back": {"node"}}); a.status != http.StatusSeeOther {
		t.Errorf("got %d", a.status)
	}
}
