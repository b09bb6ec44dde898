package redfish_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"cagenut/node"
)

// logs is a BMC with log services, by path, and entries made of numbers.
func logs(services map[string]string) *peer {
	p := newPeer(to("LogServices", "/L"), to("LogServices", "/ML"), "")
	var own, managers []string
	for path, doc := range services {
		if strings.HasPrefix(path, "/ML") {
			managers = append(managers, path)
		} else {
			own = append(own, path)
		}
		p.docs[path] = doc
	}
	p.docs["/L"], p.docs["/ML"] = links(own...), links(managers...)
	return p
}

func service(id, kind, entries string) string {
	return fmt.Sprintf(`{"@odata.id":"/redfish/v1/L/%s","Id":%q,"LogEntryType":%q,%s,"Actions":{"#LogService.ClearLog":{"target":"/redfish/v1/clear/%s"}}}`, id, id, kind, to("Entries", entries), id)
}

func entry(n int, created, more string) string {
	return fmt.Sprintf(`{"@odata.id":"/redfish/v1/X/%d","Id":"%d","Created":%q,"Message":"m%d"%s}`, n, n, created, n, more)
}

func members(entries ...string) string { return `{"Members":[` + strings.Join(entries, ",") + `]}` }

func TestTheLogOfTheHardwareIsChosen(t *testing.T) {
	for name, c := range map[string]struct {
		services map[string]string
		unread   string // entries that are not there
		want     string // "": unsupported
	}{
		"SEL among others":                    {map[string]string{"/L/Event": service("Event", "Event", "/E1"), "/ML/SEL": service("SEL", "SEL", "/E2"), "/ML/AuditLog": service("AuditLog", "Event", "/E3")}, "", "/E2"},
		"a log of SEL entries, not of faults": {map[string]string{"/ML/FaultList": service("FaultList", "SEL", "/E1"), "/L/Log1": service("Log1", "SEL", "/E2")}, "", "/E2"},
		"HPE's":                               {map[string]string{"/L/IML": service("IML", "", "/E2"), "/L/SL": service("SL", "", "/E3"), "/ML/IEL": service("IEL", "", "/E1"), "/L/Event": service("Event", "", "/E4")}, "", "/E2"},
		"the first has no entries to read":    {map[string]string{"/L/IML": service("IML", "", "/E2"), "/L/Event": service("Event", "", "/E4")}, "/E2", "/E4"},
		"none but logins and diagnoses":       {map[string]string{"/ML/AuditLog": service("AuditLog", "Event", "/E3"), "/ML/Dump": service("DiagnosticLog", "", "/E1")}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := logs(c.services)
			for _, e := range []string{"/E1", "/E2", "/E3", "/E4"} {
				if e != c.unread {
					p.docs[e] = members(fmt.Sprintf(`{"Id":"1","Message":%q,"Severity":"OK"}`, e))
				}
			}
			got, err := p.client(t, patient()).Events(t.Context(), 0)
			if c.want == "" {
				if !errors.As(err, new(*node.Unsupported)) {
					t.Errorf("%+v, %v; want *node.Unsupported", got, err)
				}
				return
			}
			if err != nil || len(got) != 1 || got[0].Message != c.want {
				t.Errorf("%+v, %v; want that of %s", got, err, c.want)
			}
		})
	}
}

func TestALogThatCannotBeReadNowIsNotReplacedByAnother(t *testing.T) {
	p := logs(map[string]string{"/L/SEL": service("SEL", "SEL", "/E1"), "/L/Event": service("Event", "", "/E2")})
	p.docs["/E2"] = members(entry(1, "", ""))
	p.get = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/E1") {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	}
	c := p.client(t, patient())
	if _, err := c.Events(t.Context(), 0); !errors.As(err, new(*node.Unreachable)) {
		t.Errorf("reading: %v, want *node.Unreachable", err)
	}
	if err := c.ClearLog(t.Context()); !errors.As(err, new(*node.Unreachable)) || len(p.writes()) > 0 {
		t.Errorf("clearing: %v, sent %v; want *node.Unreachable, and nothing cleared", err, p.writes())
	}
}

func TestEntriesAreTheNewestFirstAndBounded(t *testing.T) {
	day := func(n int) string { return fmt.Sprintf("2026-01-%02dT00:00:00Z", n) }
	for name, c := range map[string]struct {
		pages []string
		limit int
		want  string // ids
		reads int    // pages
	}{
		"the oldest is listed first":                 {[]string{members(entry(1, day(1), ""), entry(2, day(2), "")), members(entry(3, day(3), ""))}, 2, "3 2", 2},
		"the newest is listed first, that is enough": {[]string{members(entry(9, day(9), ""), entry(8, day(8), "")), members(entry(7, day(7), ""))}, 2, "9 8", 1},
		"all": {[]string{members(entry(9, day(9), ""), entry(8, day(8), "")), members(entry(7, day(7), ""))}, 0, "9 8 7", 2},
		"at one moment, the higher number is newer": {[]string{members(entry(1, day(1), ""), entry(3, day(1), ""), entry(2, day(1), ""))}, 0, "3 2 1", 1},
		"the clock was not set":                     {[]string{members(entry(1, "1970-01-01T00:00:05Z", ""), entry(3, "0000-00-00", ""), entry(2, day(2), ""))}, 0, "3 2 1", 1},
		"entries are mere links":                    {[]string{links("/X/1", "/X/2", "/X/10", "/X/9")}, 2, "10 9", 1},
		"one of them is odd":                        {[]string{members(entry(1, day(1), ""), `7`, `"x"`, `null`, `{"Id":{},"Created":5,"Message":[]}`)}, 1, "1", 1},
		"an empty log":                              {[]string{`{"Members":[],"Members@odata.count":0}`}, 5, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := logs(map[string]string{"/L/SEL": service("SEL", "SEL", "/E")})
			for i, page := range c.pages {
				path := fmt.Sprintf("/E%d", i)
				if i == 0 {
					path = "/E"
				}
				if i+1 < len(c.pages) {
					page = strings.TrimSuffix(page, "}") + fmt.Sprintf(`,"Members@odata.nextLink":"/redfish/v1/E%d"}`, i+1)
				}
				p.docs[path] = page
			}
			for _, n := range []int{1, 2, 9, 10} {
				p.docs[fmt.Sprintf("/X/%d", n)] = entry(n, day(n), "")
			}
			got, err := p.client(t, patient()).Events(t.Context(), c.limit)
			var ids []string
			for _, e := range got {
				ids = append(ids, e.ID)
			}
			if s := strings.Join(ids, " "); err != nil || s != c.want {
				t.Errorf("%q, %v; want %q", s, err, c.want)
			}
			if n := p.readsOf("/E") + p.readsOf("/E1"); n != c.reads {
				t.Errorf("%d pages were read, want %d", n, c.reads)
			}
		})
	}
}

func TestAnEntryIsToldAsFarAsTheBMCDoes(t *testing.T) {
	p := logs(map[string]string{"/L/SEL": service("SEL", "SEL", "/E")})
	p.docs["/E"] = members(
		`{"Id":"3","Created":"2026-01-03T00:00:00+01:00","Severity":"Critical","Message":"Too hot.\u0007","SensorType":"Temperature","SensorNumber":26}`,
		`{"Id":"2","EventTimestamp":"2026-01-02 00:00:00","MessageSeverity":"Warning","MessageId":"Event.1.0.X","MessageArgs":["a","b"],"SensorNumber":255}`,
		`{"Id":1,"Created":"2026-01-01T00:00:00Z","Severity":null,"Name":"Entry 1"}`)
	got, err := p.client(t, patient()).Events(t.Context(), 0)
	want := []node.LogEntry{
		{ID: "3", At: at("2026-01-02T23:00:00Z").UTC(), Severity: "Critical", Message: "Too hot.", Sensor: "Temperature #26"},
		{ID: "2", At: at("2026-01-02T00:00:00Z").UTC(), Severity: "Warning", Message: "Event.1.0.X a, b"},
		{ID: "1", At: at("2026-01-01T00:00:00Z").UTC(), Message: "Entry 1"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}

func TestTheLogIsClearedOnce(t *testing.T) { // quirks 18, 19, 37
	for name, c := range map[string]struct {
		answers []int // one after the other; the last stays
		sent    int
		good    bool
	}{
		"the BMC obeys":                       {[]int{204}, 1, true},
		"it refuses any If-Match (19)":        {[]int{200}, 1, true},
		"it demands one (18)":                 {[]int{428, 204}, 2, true},
		"it calls a missing one stale":        {[]int{412, 204}, 2, true},
		"it makes a task of it":               {[]int{202}, 1, true},
		"it is busy at first (G64)":           {[]int{503, 204}, 2, true},
		"it breaks: that is not tried again":  {[]int{500}, 1, false},
		"it refuses: that is not tried again": {[]int{400}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := logs(map[string]string{"/L/SEL": service("SEL", "SEL", "/E"), "/L/Event": service("Event", "", "/E")})
			p.docs["/E"] = members()
			p.docs["/Tasks/1"] = `{"TaskState":"Completed"}`
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/L/SEL") {
					w.Header().Set("ETag", `"now"`)
				}
				return false
			}
			var tags []string
			p.act = func(w http.ResponseWriter, r *http.Request, _ map[string]any) {
				tags = append(tags, r.Header.Get("If-Match"))
				status := c.answers[min(len(tags), len(c.answers))-1]
				if status == http.StatusAccepted {
					w.Header().Set("Location", "/redfish/v1/Tasks/1")
				}
				w.WriteHeader(status)
			}
			err := p.client(t, patient()).ClearLog(t.Context())
			if (err == nil) != c.good || len(p.writes()) != c.sent || p.writes()[0] != "POST /clear/SEL {}" || tags[0] != "" {
				t.Errorf("%v, sent %v with %q", err, p.writes(), tags)
			}
			if c.answers[0] == 428 && tags[1] != `"now"` {
				t.Errorf("the second was sent with %q", tags[1])
			}
		})
	}
}
