package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"cagenut/node"
)

func TestWritesCarryTheETagThatTheBMCWants(t *testing.T) { // quirks 18, 20, 21
	for name, c := range map[string]struct {
		header, body string
		takes        func(tag string, try int) bool
		tags         []string
	}{
		"the header's":                       {`"h"`, `"b"`, func(tag string, _ int) bool { return tag == `"h"` }, []string{`"h"`}},
		"the body's, without a header":       {"", `"b"`, func(tag string, _ int) bool { return tag == `"b"` }, []string{`"b"`}},
		"now and then stale (21)":            {`"h"`, "", func(_ string, try int) bool { return try == 2 }, []string{`"h"`, `"h"`}},
		"a weak one in its strong form (20)": {`W/"h"`, "", func(tag string, _ int) bool { return tag == `"h"` }, []string{`W/"h"`, `"h"`}},
		"one that never matches (20)":        {`"h-gzip"`, "", func(tag string, _ int) bool { return tag == "" }, []string{`"h-gzip"`, `"h-gzip"`, ""}},
		"none at all":                        {"", "", func(tag string, _ int) bool { return tag == "" }, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(fmt.Sprintf(`"IndicatorLED":"Off","@odata.etag":%q`, c.body), "", "")
			if c.body == "" {
				p = newPeer(`"IndicatorLED":"Off"`, "", "")
			}
			p.get = func(w http.ResponseWriter, _ *http.Request) bool {
				if c.header != "" {
					w.Header().Set("ETag", c.header)
				}
				return false
			}
			var tags []string
			p.act = func(w http.ResponseWriter, r *http.Request, _ map[string]any) {
				tags = append(tags, r.Header.Get("If-Match"))
				if !c.takes(tags[len(tags)-1], len(tags)) {
					w.WriteHeader(http.StatusPreconditionFailed)
				}
			}
			if err := p.client(t, patient()).SetIndicator(t.Context(), node.IndicatorOn); err != nil || !slices.Equal(tags, c.tags) {
				t.Errorf("%v, sent with %q, want %q", err, tags, c.tags)
			}
		})
	}
}

func TestTasksAreFollowedToTheirEnd(t *testing.T) { // quirk 37
	running, done := `{"@odata.id":"/redfish/v1/Tasks/1","TaskState":"Running"}`, `{"TaskState":"Completed","TaskStatus":"OK"}`
	for name, c := range map[string]struct {
		location string // of the 202's
		body     string
		looks    []func(w http.ResponseWriter) // what the task's address answers, one after the other
		asked    int
		good     bool
	}{
		"a task that runs and completes":                                  {"/redfish/v1/Tasks/1", running, []func(http.ResponseWriter){say(200, running), say(200, done)}, 2, true},
		"a monitor that answers 202 and then what the command would have": {"/redfish/v1/Tasks/1", "", []func(http.ResponseWriter){say(202, running), say(202, ""), say(204, "")}, 3, true},
		"a monitor that disappears when all is done":                      {"/redfish/v1/Tasks/1", "", []func(http.ResponseWriter){say(202, ""), say(404, `{"error":{}}`)}, 2, true},
		"no address but in the body":                                      {"", running, []func(http.ResponseWriter){say(200, done)}, 1, true},
		"no address at all":                                               {"", "", nil, 0, true},
		"an address on another machine":                                   {"http://192.0.2.1/redfish/v1/Tasks/1", "", []func(http.ResponseWriter){say(200, done)}, 1, true},
		"a task that completes with a failure":                            {"/redfish/v1/Tasks/1", "", []func(http.ResponseWriter){say(200, `{"TaskState":"Completed","TaskStatus":"Critical"}`)}, 1, false},
		"a task that is killed":                                           {"/redfish/v1/Tasks/1", "", []func(http.ResponseWriter){say(200, running), say(200, `{"TaskState":"Killed"}`)}, 2, false},
		"a monitor that ends in an error":                                 {"/redfish/v1/Tasks/1", "", []func(http.ResponseWriter){say(202, ""), say(400, refusal("no"))}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := logs(map[string]string{"/L/SEL": service("SEL", "SEL", "/E")})
			p.docs["/E"] = members()
			p.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) {
				w.Header().Set("Location", c.location)
				say(http.StatusAccepted, c.body)(w)
			}
			asked := 0
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/redfish/v1/Tasks/1" {
					return false
				}
				asked++
				c.looks[min(asked, len(c.looks))-1](w)
				return true
			}
			if err := p.client(t, patient()).ClearLog(t.Context()); (err == nil) != c.good || asked != c.asked || len(p.writes()) != 1 {
				t.Errorf("%v, asked %d times, sent %v", err, asked, p.writes())
			}
		})
	}
}

func say(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestALostAnswerIsFollowedByALook(t *testing.T) { // G34, G35
	hangUp := func(w http.ResponseWriter) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
	}
	t.Run("an ejection that was carried out is not repeated", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}})
		tr.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) {
			tr.slots["1"].in = false
			hangUp(w)
		}
		if err := tr.client(t, patient()).Eject(t.Context(), ""); err != nil || len(tr.writes()) != 1 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("one that was not is repeated, once", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}})
		tr.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) { hangUp(w) }
		if err := tr.client(t, patient()).Eject(t.Context(), ""); err == nil || len(tr.writes()) != 2 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("an insertion that was not carried out is repeated", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		tr.act = func(w http.ResponseWriter, r *http.Request, body map[string]any) {
			if len(tr.sent) == 1 {
				hangUp(w)
				return
			}
			tr.carryOut(w, r, body)
		}
		if err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image}); err != nil || len(tr.writes()) != 2 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("a property is written again, a log is not cleared again, a server not interrupted again", func(t *testing.T) {
		p := logs(map[string]string{"/L/SEL": service("SEL", "SEL", "/E")})
		p.docs["/E"] = members()
		p.docs["/Systems/1"] = `{"@odata.id":"/redfish/v1/Systems/1","PowerState":"On","IndicatorLED":"Off",` + to("LogServices", "/L") +
			`,"Actions":{"#ComputerSystem.Reset":{"target":"/redfish/v1/reset","ResetType@Redfish.AllowableValues":["Nmi"]}}}`
		p.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) { hangUp(w) }
		c := p.client(t, patient())
		for what, want := range map[string]int{"light": 2, "log": 1, "NMI": 1} {
			p.forget()
			var err error
			switch what {
			case "light":
				err = c.SetIndicator(t.Context(), node.IndicatorOn)
			case "log":
				err = c.ClearLog(t.Context())
			case "NMI":
				err = c.InjectNMI(t.Context())
			}
			if err == nil || len(p.writes()) != want {
				t.Errorf("%s: %v, sent %v; want %d", what, err, p.writes(), want)
			}
		}
	})
}
