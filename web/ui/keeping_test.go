package ui_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cagenut/node"
)

// G56: whoever may only look has no way to change a record.
func TestViewersKeepNoRecords(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	s := serve(t, r, 0)
	page := s.get("/ui/nodes/r07-u21", viewer)
	page.lacks(t, "/maintenance", "/delete", "/edit")
	for _, path := range []string{"/maintenance", "/delete", "/edit"} {
		for _, a := range []answer{s.get("/ui/nodes/r07-u21"+path, viewer), s.do("POST", "/ui/nodes/r07-u21"+path, url.Values{"to": {"on"}, "name": {"x"}}, viewer)} {
			if a.status != http.StatusForbidden {
				t.Errorf("%s: %d", path, a.status)
			}
		}
	}
	if len(r.kept.upkeep) > 0 || len(r.actors) > 0 || r.nodes[0].Name != n.Name {
		t.Errorf("something was done: %+v", r.kept.upkeep)
	}
}

func TestMaintenanceIsAskedBackWithAReason(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21").has(t, `href="/ui/nodes/`+n.UUID+`/maintenance?to=on" data-dialog`)
	path := "/ui/nodes/" + n.UUID + "/maintenance"
	question := s.get(path + "?to=on")
	question.has(t, "Put into maintenance r07-u21 (rack R07, U21)?", `name="reason"`, `name="to" value="on"`)
	question.lacks(t, "keep_power_on")
	form := url.Values{"to": {"on"}, "reason": {" new fans "}, "back": {"node"}}
	if a := s.do("POST", path, form); a.status != http.StatusSeeOther || a.location != "/ui/nodes/r07-u21?done=maintenance-on" {
		t.Errorf("%d to %q", a.status, a.location)
	}
	if u := r.kept.upkeep; len(u) != 1 || u[0].what != "maintenance on" || u[0].reason != "new fans" || u[0].actor.User != "jon" || u[0].actor.Source != node.SourceUI {
		t.Errorf("done: %+v", u)
	}
	page := s.get("/ui/nodes/r07-u21?done=maintenance-on")
	page.has(t, "The node is in maintenance.", english("node.inmaintenance"), "new fans", "/maintenance?to=off")

	s.get(path+"?to=off", script).has(t, "End the maintenance of r07-u21", `name="to" value="off"`)
	a := s.do("POST", path, url.Values{"to": {"off"}, "back": {"node"}}, script)
	a.has(t, `<template><div id="node"`, "r07-u21: The maintenance is over.")
	a.lacks(t, "new fans")
	for _, bad := range []url.Values{{}, {"to": {"x"}}, {"to": {"on"}, "reason": {strings.Repeat("r", 501)}}} {
		if a := s.do("POST", path, bad); a.status != http.StatusBadRequest {
			t.Errorf("%v: %d", bad, a.status)
		}
	}
	if len(r.kept.upkeep) != 2 {
		t.Errorf("done: %+v", r.kept.upkeep)
	}
}

func TestANodeIsDeletedAfterItsNameAndWhatIsLostWereTold(t *testing.T) {
	r, n := inspectedRack()
	r.ports = []node.Port{{NodeUUID: n.UUID, Address: "52:54:00:aa:00:01"}}
	s := serve(t, r, 0)
	question := s.get("/ui/nodes/" + n.UUID + "/delete")
	question.has(t, "Delete r07-u21 (rack R07, U21)?", "its ports (1), its inspections (3)", "This cannot be undone.", `href="/ui/nodes/r07-u21" data-close autofocus>Keep it`)
	if len(r.nodes) != 1 {
		t.Fatal("the question deleted it")
	}
	a := s.do("POST", "/ui/nodes/"+n.UUID+"/delete", url.Values{}, script)
	a.has(t, "This node was deleted", "r07-u21: The node was deleted.", `<div id="more">`)
	if len(r.nodes) != 0 || r.kept.upkeep[0].actor.User != "jon" {
		t.Errorf("left: %+v, done: %+v", r.nodes, r.kept.upkeep)
	}
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/delete", url.Values{}); a.status != http.StatusNotFound {
		t.Errorf("a second press: %d", a.status)
	}
	n = r.add("r07-u22", node.Enroll)
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/delete", url.Values{}); a.status != http.StatusSeeOther || a.location != "/ui?done=deleted" {
		t.Errorf("without a script: %d to %q", a.status, a.location)
	}
}

func TestANodeThatCannotBeDeletedSaysWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		state  node.State
		change func(*node.Node)
		says   string
	}{
		"it is being inspected":     {node.InspectWait, func(*node.Node) {}, english("remove.why.state")},
		"it is protected":           {node.Manageable, func(n *node.Node) { n.Protected = true }, english("remove.why.protected")},
		"it belongs to an instance": {node.Available, func(n *node.Node) { n.InstanceUUID = node.NewUUID() }, english("remove.why.instance")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRack()
			n := r.add("r07-u21", tc.state, tc.change)
			s := serve(t, r, 0)
			page := s.get("/ui/nodes/r07-u21")
			page.has(t, "<dt>Delete</dt><dd>"+tc.says)
			page.lacks(t, `id="delete-`+n.UUID)
			question := s.get("/ui/nodes/r07-u21/delete")
			question.has(t, tc.says)
			question.lacks(t, "<form method=\"post\" action=\"/ui/nodes/"+n.UUID)
		})
	}
	r := newRack()
	n := r.add("r07-u21", node.InspectWait, func(n *node.Node) { n.Maintenance = true })
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21/delete").has(t, english("remove.running"), "<form method=\"post\" action=\"/ui/nodes/"+n.UUID)
	r.edit(func() { r.refuse = &node.Locked{Holder: "appliance-1"} })
	a := s.do("POST", "/ui/nodes/"+n.UUID+"/delete", url.Values{})
	if a.status != http.StatusConflict {
		t.Errorf("got %d", a.status)
	}
	a.has(t, "held by appliance-1", "Delete: not done")
}

// The password is never sent back, and stays what it is unless a new one is typed.
func TestTheRecordOfANodeIsEdited(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable, func(n *node.Node) {
		n.Version, n.Description = 7, "old words"
		n.DriverInfo = map[string]any{"redfish_address": "https://192.0.2.10", "redfish_username": "root", "redfish_password": "sesame-1", "redfish_verify_ca": false}
	})
	s := serve(t, r, 0)
	path := "/ui/nodes/" + n.UUID + "/edit"
	s.get("/ui/nodes/r07-u21").has(t, `id="edit" class="button" href="`+path)
	form := s.get(path)
	form.has(t, `name="name" value="r07-u21"`, `name="user" value="root"`, `name="address" value="https://192.0.2.10"`, "old words</textarea>", `name="version" value="7"`, `type="password" name="password" maxlength`)
	form.lacks(t, "sesame")
	if regexp.MustCompile(`name="password"[^>]*value`).MatchString(form.body) {
		t.Error("the password's field has a value")
	}
	typed := url.Values{"version": {"7"}, "name": {"r07-u22"}, "description": {"line one\r\nline two"}, "address": {"https://192.0.2.11"}, "user": {"root"}, "password": {""}}
	if a := s.do("POST", path, typed); a.status != http.StatusSeeOther || a.location != "/ui/nodes/r07-u22?done=saved" {
		t.Fatalf("%d to %q: %s", a.status, a.location, excerpt(a.body))
	}
	got := r.nodes[0]
	if got.Name != "r07-u22" || got.Description != "line one\nline two" || got.DriverInfo["redfish_address"] != "https://192.0.2.11" || got.DriverInfo["redfish_password"] != "sesame-1" || got.DriverInfo["redfish_verify_ca"] != false {
		t.Errorf("the node is %+v", got)
	}
	if by := r.actors[0]; by.User != "jon" || by.Source != node.SourceUI {
		t.Errorf("by %+v", by)
	}
	typed.Set("password", "sesame-2")
	s.do("POST", path, typed)
	if got := r.nodes[0].DriverInfo["redfish_password"]; got != "sesame-2" {
		t.Errorf("the password is %v", got)
	}
	s.get("/ui/nodes/r07-u22").lacks(t, "sesame")
}

func TestAnEditThatIsRefusedLosesNothingThatWasTyped(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable, func(n *node.Node) { n.Version = 7 })
	s := serve(t, r, 0)
	path := "/ui/nodes/" + n.UUID + "/edit"
	typed := url.Values{"version": {"7"}, "name": {"bad name"}, "description": {"new words"}, "password": {"sesame-1"}}
	r.refuse = node.Invalidf("Node r07-u21: Cannot change name to invalid name 'bad name'")
	a := s.do("POST", path, typed)
	if a.status != http.StatusBadRequest {
		t.Errorf("got %d", a.status)
	}
	a.has(t, `role="alert"`, "Cannot change name to invalid name", `value="bad name"`, "new words</textarea>", `name="version" value="7"`)
	a.lacks(t, "sesame")

	t.Log("who decided on an earlier version undoes nobody's change")
	r.edit(func() { r.refuse, r.nodes[0].Version, r.nodes[0].Description = nil, 8, "words of somebody else" })
	a = s.do("POST", path, typed)
	r.edit(func() {
		if a.status != http.StatusConflict || r.nodes[0].Description != "words of somebody else" {
			t.Errorf("got %d, the node is %+v", a.status, r.nodes[0])
		}
	})
	a.has(t, escaped(english("edit.stale")), "words of somebody else", `name="version" value="8"`)
	if a := s.do("POST", path, url.Values{"version": {"8"}, "description": {strings.Repeat("d", 5000)}}); a.status != http.StatusBadRequest {
		t.Errorf("a giant description: %d", a.status)
	}
}

// A user or password that stands in the address is not shown, and the address that was not touched stays as it is.
func TestAnEditLeavesAloneWhatWasNotTouched(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable, func(n *node.Node) {
		n.DriverInfo = map[string]any{"redfish_address": "https://root:hunter2@192.0.2.10"}
	})
	s := serve(t, r, 0)
	path := "/ui/nodes/" + n.UUID + "/edit"
	form := s.get(path)
	form.lacks(t, "hunter2")
	form.has(t, `name="address" value="https://192.0.2.10"`)
	s.do("POST", path, url.Values{"version": {"0"}, "name": {"r07-u21"}, "address": {"https://192.0.2.10"}})
	if got := r.nodes[0].DriverInfo["redfish_address"]; got != "https://root:hunter2@192.0.2.10" {
		t.Errorf("the address became %v", got)
	}
	fake := r.add("pretend", node.Manageable, func(n *node.Node) { n.Driver, n.DriverInfo = node.DriverFake, nil })
	s.get("/ui/nodes/"+fake.UUID+"/edit").lacks(t, `name="address"`, `name="password"`)
}
