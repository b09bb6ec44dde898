package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"testing"

	"cagenut/node"
)

// A ramdisk's way through the API, as Ironic's agent goes it (contract.md §3.9): it looks its node up and is told the
// token once, says with it that it lives, and reports. After an abort the token is worth nothing.
func TestARamdisksWayThroughTheAPI(t *testing.T) {
	a := serveForTest(t, false)
	const mac = "02:00:5e:00:00:21"
	n, _ := a.nodeIn(node.Manageable, "agent")
	if _, err := a.conductor.CreatePort(t.Context(), node.System(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: mac, PXEEnabled: true}); err != nil {
		t.Fatal(err)
	}
	lookup := func(query, version string) (answered, string) {
		got := a.exchange(sentRequest{method: "GET", path: "/v1/lookup", query: query, version: version})
		var doc struct {
			Config struct {
				Token *string `json:"agent_token"`
			}
		}
		if err := json.Unmarshal(got.body, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Config.Token == nil {
			return got, ""
		}
		return got, *doc.Config.Token
	}
	beat := func(callback, token string) answered {
		body := encode(map[string]string{"callback_url": callback, "agent_version": "9.1", "agent_token": token})
		return a.exchange(sentRequest{method: "POST", path: "/v1/heartbeat/" + n.UUID, version: "1.68", body: body})
	}
	expect := func(what string, got answered, status int, text string) {
		t.Helper()
		if got.status != status || (text != "" && sentence(t, got) != text) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	byMAC := "addresses=" + url.QueryEscape("02:00:5e:00:00:99,"+mac)

	got, _ := lookup(byMAC, "1.62")
	expect("a node that is not inspected", got, 404, "Resource could not be found.")
	n, at := a.waiting(n)
	got, token := lookup(byMAC, "1.61")
	if expect("an old ramdisk", got, 200, ""); token != "" {
		t.Errorf("an old ramdisk is told %q", token)
	}
	got, token = lookup(byMAC, "1.62")
	if expect("the first lookup", got, 200, ""); len(token) < 32 || token == node.Mask {
		t.Fatalf("the token is %q", token)
	}
	for _, query := range []string{byMAC, "node_uuid=" + n.UUID} {
		if got, again := lookup(query, "1.62"); got.status != 200 || again != node.Mask {
			t.Errorf("%s: %d, the token is told as %q", query, got.status, again)
		}
	}
	got, _ = lookup("", "1.62")
	expect("a lookup without anything", got, 400, "At least one of 'addresses' and 'node_uuid' parameters is required")
	got, _ = lookup("addresses=nonsense", "1.62")
	expect("a lookup of no MAC", got, 400, "At least one of 'addresses' and 'node_uuid' parameters is required")
	for _, query := range []string{"addresses=02:00:5e:00:00:99", "node_uuid=" + noNode} {
		got, _ = lookup(query, "1.62")
		expect(query, got, 404, "Resource could not be found.")
	}

	// A ramdisk that moved to another address is refused; the node has one from its start (contract.md §3.9).
	const callback = "http://192.0.2.9:9999"
	expect("another address", beat("https://192.0.2.10:9999", token), 400, `Detected change in ramdisk provided "callback_url"`)
	expect("no token", beat(callback, ""), 400, "Agent token is required for heartbeat processing.")
	expect("a wrong token", beat(callback, token[1:]+"."), 400, "Invalid or missing agent token received.")
	expect("no TLS", beat(callback, token), 400, "TLS is required by configuration")
	expect("an address that is none", beat("nonsense", token), 400, `An issue with the supplied "callback_url" has been detected.`)

	report := []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"` + mac + `"}]}}`)
	accepted := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", query: "attempt=" + string(at.Token), version: "1.84", body: report})
	var doc struct {
		Node   struct{ UUID string }
		Config map[string]any
	}
	if err := json.Unmarshal(accepted.body, &doc); err != nil || accepted.status != 202 || doc.Node.UUID != n.UUID || doc.Config["agent_token"] != node.Mask {
		t.Errorf("the report: %d %s", accepted.status, accepted.body)
	}
	again := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", query: "attempt=" + string(at.Token), body: report})
	expect("the report again", again, 404, "Resource could not be found.")
	for _, path := range []string{"/v1/nodes/" + n.UUID, "/v1/nodes/detail"} {
		if _, _, body := a.send("GET", path, "latest", nil); bytes.Contains(body, []byte(token)) {
			t.Errorf("GET %s shows the token", path)
		}
	}
}

// The token of a run that was aborted opens nothing, and the next run makes another.
func TestAnAbortTakesTheTokenAway(t *testing.T) {
	a := serveForTest(t, false)
	n, _ := a.nodeIn(node.InspectWait, "agent")
	token := func() string {
		got := a.exchange(sentRequest{method: "GET", path: "/v1/lookup", query: "node_uuid=" + n.UUID, version: "1.62"})
		var doc struct {
			Config struct {
				Token string `json:"agent_token"`
			}
		}
		if err := json.Unmarshal(got.body, &doc); err != nil || got.status != 200 {
			t.Fatalf("lookup: %d %s", got.status, got.body)
		}
		return doc.Config.Token
	}
	first := token()
	if status, _, body := a.send("PUT", "/v1/nodes/"+n.UUID+"/states/provision", "latest", map[string]string{"target": "abort"}); status != 202 {
		t.Fatalf("abort: %d %s", status, body)
	}
	if got := a.exchange(sentRequest{method: "GET", path: "/v1/lookup", query: "node_uuid=" + n.UUID, version: "1.62"}); got.status != 404 {
		t.Errorf("a lookup after the abort: %d %s", got.status, got.body)
	}
	late := a.exchange(sentRequest{method: "POST", path: "/v1/heartbeat/" + n.UUID, version: "1.68",
		body: encode(map[string]string{"callback_url": "https://192.0.2.9:9999", "agent_version": "9.1", "agent_token": first})})
	if late.status != 400 || sentence(t, late) != "Invalid or missing agent token received." {
		t.Errorf("a heartbeat after the abort: %d %s", late.status, late.body)
	}
	now, err := a.store.Node(t.Context(), n.UUID)
	if err != nil {
		t.Fatal(err)
	}
	a.waiting(now)
	if second := token(); second == first || second == node.Mask {
		t.Errorf("the second run has the token %q", second)
	}
}
