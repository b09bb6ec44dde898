package redfish_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/node"
)

// withMemory is a BMC with three modules of 16 GiB.
func withMemory() *peer {
	p := newPeer(to("Memory", "/Memory"), "", "")
	p.docs["/Memory"] = links("/Memory/1", "/Memory/2", "/Memory/3")
	for i := 1; i <= 3; i++ {
		p.docs[fmt.Sprintf("/Memory/%d", i)] = fmt.Sprintf(`{"@odata.id":"/redfish/v1/Memory/%d","CapacityMiB":16384,"DeviceLocator":"A%d"}`, i, i)
	}
	return p
}

func TestOneOddMemberLosesNoOther(t *testing.T) { // quirks 42, 50; the handbook's G3
	t.Parallel()
	answer := func(status int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, odd := range map[string]func(http.ResponseWriter, *http.Request){
		"it is gone":                 answer(404, `{"error":{}}`),
		"it is off":                  answer(503, `{"error":{}}`),
		"it breaks the BMC":          answer(500, `no idea`),
		"it needs a licence":         answer(403, `{"error":{}}`),
		"its JSON ends early":        answer(200, `{"CapacityMiB":16`),
		"it is a web page":           answer(200, `<html>`),
		"it is a list":               answer(200, `[1,2]`),
		"it is null":                 answer(200, `null`),
		"its size is an object":      answer(200, `{"CapacityMiB":{},"Status":"fine"}`),
		"its size is words":          answer(200, `{"CapacityMiB":"N/A","Status":{"Health":3}}`),
		"its error calls itself 200": answer(200, `{"error":{"code":"Base.1.8.GeneralError"}}`),
		"its body is cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			_, _ = w.Write([]byte(`{"CapacityMiB":16384`))
		},
		"it never answers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"the connection breaks": func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.Close()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := withMemory()
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/redfish/v1/Memory/2" {
					return false
				}
				odd(w, r)
				return true
			}
			o := patient()
			o.Try = time.Second
			h, err := p.client(t, o).Hardware(t.Context())
			if err != nil || len(h.Memory) != 2 || h.MemoryMiB != 32768 || h.Memory[1].Slot != "A3" {
				t.Errorf("%+v, %v; want the two others", h.Memory, err)
			}
		})
	}
}

func TestNumbersMayBeWritten(t *testing.T) { // quirk 50
	p := withMemory()
	p.docs["/Memory/1"] = `{"CapacityMiB":"16384","OperatingSpeedMhz":"3200 MHz","DeviceLocator":7,"SerialNumber":" N/A ","PartNumber":"ABC   "}`
	h, err := p.client(t, patient()).Hardware(t.Context())
	want := node.MemoryModule{Slot: "7", MiB: 16384, MHz: 3200, PartNumber: "ABC"}
	if err != nil || len(h.Memory) != 3 || h.Memory[0] != want {
		t.Errorf("%+v, %v; want %+v", h.Memory, err, want)
	}
}

func TestPagesEnd(t *testing.T) { // the handbook's G4
	for name, c := range map[string]struct {
		first, second string
		modules       int
	}{
		"a second page is read":                    {`"Members@odata.nextLink":"/redfish/v1/Memory?$skip=3"`, `{"Members":[{"@odata.id":"/redfish/v1/Memory/4"}]}`, 4},
		"a page leads to itself":                   {`"Members@odata.nextLink":"/redfish/v1/Memory"`, "", 3},
		"two pages lead to each other":             {`"Members@odata.nextLink":"/redfish/v1/Memory?$skip=3"`, `{"Members":[{"@odata.id":"/redfish/v1/Memory/4"}],"Members@odata.nextLink":"/redfish/v1/Memory"}`, 4},
		"the BMC ignores which page is asked for":  {`"@odata.nextLink":"/redfish/v1/Memory?$skiptoken=3"`, "", 3},
		"the next page is not there":               {`"Members@odata.nextLink":"/redfish/v1/Nowhere"`, "", 3},
		"the next page is on another machine":      {`"Members@odata.nextLink":"http://192.0.2.1/redfish/v1/Memory?$skip=3"`, `{"Members":[{"@odata.id":"/redfish/v1/Memory/4"}]}`, 4},
		"the link is not a link":                   {`"Members@odata.nextLink":{"a":1}`, "", 3},
		"a page without members leads to the next": {`"Members@odata.nextLink":"/redfish/v1/Memory?$skip=3"`, `{"Members":[]}`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := withMemory()
			p.docs["/Memory/4"] = p.docs["/Memory/3"]
			p.docs["/Memory"] = strings.TrimSuffix(p.docs["/Memory"], "}") + "," + c.first + "}"
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.RawQuery == "" || c.second == "" {
					return false
				}
				_, _ = w.Write([]byte(c.second))
				return true
			}
			h, err := p.client(t, patient()).Hardware(t.Context())
			if err != nil || len(h.Memory) != c.modules {
				t.Errorf("%d modules, %v; want %d", len(h.Memory), err, c.modules)
			}
			if n := p.readsOf("/Memory"); n > 3 {
				t.Errorf("%d reads of the collection", n)
			}
		})
	}
}

func TestMembersAreAskedForWithTheirCollectionWhereThatWorks(t *testing.T) {
	for name, c := range map[string]struct {
		offered bool
		answer  string // to a query; "" is that the BMC ignores it
		status  int
		singles int // reads of single members
	}{
		"it is not offered":                      {false, `{}`, 200, 3},
		"it works":                               {true, expandedMemory(`16384`), 200, 0},
		"the query is ignored":                   {true, "", 200, 3},
		"the query is refused":                   {true, `{"error":{}}`, 400, 3},
		"the BMC fails at it":                    {true, `{"error":{}}`, 500, 3},
		"there are two documents in one (43)":    {true, `{"error":{}}` + expandedMemory(`16384`), 200, 3},
		"fields are null that are not null (55)": {true, expandedMemory(`null`), 200, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := withMemory()
			if c.offered {
				p.expands()
			}
			queries := 0
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.RawQuery, "expand") || r.URL.Path != "/redfish/v1/Memory" {
					return false
				}
				queries++
				if c.answer == "" {
					return false
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.answer))
				return true
			}
			client := p.client(t, patient())
			h, err := client.Hardware(t.Context())
			if err != nil || len(h.Memory) != 3 || h.MemoryMiB != 3*16384 {
				t.Errorf("%+v, %v", h.Memory, err)
			}
			singles := p.readsOf("/Memory/1") + p.readsOf("/Memory/2") + p.readsOf("/Memory/3")
			if singles != c.singles || (queries > 0) != c.offered {
				t.Errorf("%d reads of members, %d queries; want %d", singles, queries, c.singles)
			}
			failed := c.status != 200 || strings.Contains(name, "43")
			before := queries
			if _, err := client.Hardware(t.Context()); err != nil || (failed && queries != before) {
				t.Errorf("again: %v, %d further queries; a BMC that failed at them is not asked again", err, queries-before)
			}
		})
	}
}

func expandedMemory(size string) string {
	var members []string
	for i := 1; i <= 3; i++ {
		members = append(members, fmt.Sprintf(`{"@odata.id":"/redfish/v1/Memory/%d","Name":"x","CapacityMiB":%s}`, i, size))
	}
	return `{"Members":[` + strings.Join(members, ",") + `]}`
}

func TestABMCThatIsGoneOrRefusesEndsTheWalk(t *testing.T) { // G36, G37
	t.Parallel()
	kinds := map[string]struct {
		get  func(w http.ResponseWriter, r *http.Request)
		good func(error) bool
	}{
		"nobody answers any more": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(err error) bool {
			var u *node.Unreachable
			return errors.As(err, &u) && u.Timeout
		}},
		"the password is refused from now on": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, func(err error) bool {
			return errors.Is(err, node.ErrCredentials)
		}},
	}
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			p := withMemory()
			p.docs["/Memory"] = links("/Memory/1", "/Memory/2", "/Memory/3", "/Memory/4", "/Memory/5")
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, "/redfish/v1/Memory/") {
					return false
				}
				c.get(w, r)
				return true
			}
			o := patient()
			o.Try = 700 * time.Millisecond
			if _, err := p.client(t, o).Hardware(t.Context()); !c.good(err) {
				t.Errorf("%v", err)
			}
			if n := p.readsOf("/Memory/4") + p.readsOf("/Memory/5"); n != 0 {
				t.Errorf("it was asked %d times more", n)
			}
		})
	}
}

func TestASlowPartIsNotADeadBMC(t *testing.T) { // quirk 42
	t.Parallel()
	p := withMemory()
	p.docs["/Memory"] = links("/Memory/7", "/Memory/1", "/Memory/8", "/Memory/2", "/Memory/9", "/Memory/3", "/Memory/10")
	p.get = func(_ http.ResponseWriter, r *http.Request) bool {
		if p.docs[strings.TrimPrefix(strings.TrimRight(r.URL.Path, "/"), "/redfish/v1")] == "" {
			<-r.Context().Done()
		}
		return false
	}
	o := patient()
	o.Try = 600 * time.Millisecond
	if h, err := p.client(t, o).Hardware(t.Context()); err != nil || len(h.Memory) != 3 {
		t.Errorf("%+v, %v; want those that answer", h.Memory, err)
	}
}

func TestACancelledCallerIsToldSo(t *testing.T) {
	p := withMemory()
	ctx, cancel := context.WithCancel(t.Context())
	p.get = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/redfish/v1/Memory/1" {
			cancel()
			<-r.Context().Done()
		}
		return false
	}
	if _, err := p.client(t, patient()).Hardware(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestABMCWithThousandsOfMembersIsBounded(t *testing.T) {
	p := newPeer(to("Memory", "/Memory"), "", "").expands()
	var members []string
	for i := range 5000 {
		members = append(members, fmt.Sprintf(`{"@odata.id":"/redfish/v1/Memory/%d","CapacityMiB":1}`, i))
	}
	p.docs["/Memory"] = `{"Members":[` + strings.Join(members, ",") + `]}`
	h, err := p.client(t, patient()).Hardware(t.Context())
	if err != nil || len(h.Memory) != 2000 {
		t.Errorf("%d modules, %v; want 2000", len(h.Memory), err)
	}
}

func TestABMCWhoseAnswersHaveNoEndIsBounded(t *testing.T) {
	p := newPeer(to("Memory", "/Memory"), "", "")
	var paths []string
	for i := range 20 {
		paths = append(paths, fmt.Sprintf("/Memory/%d", i))
	}
	p.docs["/Memory"] = links(paths...)
	asked, padding := 0, strings.Repeat(" ", 15<<20)
	p.get = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/redfish/v1/Memory/") {
			return false
		}
		asked++
		say(http.StatusOK, `{"CapacityMiB":1}`+padding)(w)
		return true
	}
	if h, err := p.client(t, patient()).Hardware(t.Context()); err != nil || len(h.Memory) != 5 || asked != 5 {
		t.Errorf("%d modules after %d requests of 15 MiB, %v; want 5 and no more", len(h.Memory), asked, err)
	}
}

func TestWhatABMCLacksIsSaidSo(t *testing.T) {
	c := newPeer("", "", "").client(t, patient())
	if h, err := c.Hardware(t.Context()); err != nil || h.Memory != nil || h.MemoryMiB != 0 || h.SecureBoot != nil || h.BootMode != "" {
		t.Errorf("hardware %+v, %v; want an empty one", h, err)
	}
	for what, call := range calls(c) {
		var u *node.Unsupported
		if err := call(t.Context()); !errors.As(err, &u) || u.Driver != node.DriverRedfish || !strings.HasPrefix(u.Extension, what) {
			t.Errorf("%s: %v, want *node.Unsupported of it", what, err)
		}
	}
}

// calls are the abilities that a BMC may lack, by the words for them.
func calls(c bmc.Abilities) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"firmware":        func(ctx context.Context) error { _, err := c.Firmware(ctx); return err },
		"bios":            func(ctx context.Context) error { _, err := c.BIOS(ctx); return err },
		"health":          func(ctx context.Context) error { _, err := c.Health(ctx); return err },
		"sensors":         func(ctx context.Context) error { _, err := c.Sensors(ctx); return err },
		"event log":       func(ctx context.Context) error { _, err := c.Events(ctx, 0); return err },
		"clear event log": c.ClearLog,
		"virtual media":   func(ctx context.Context) error { _, err := c.Drives(ctx); return err },
		"attach_virtual_media": func(ctx context.Context) error {
			return putIn(ctx, c, node.Medium{Kind: node.MediumCD, URL: "http://x/a.iso"})
		},
		"detach_virtual_media": func(ctx context.Context) error { return c.Eject(ctx, "") },
		"get_indicator_state":  func(ctx context.Context) error { _, err := c.Indicator(ctx); return err },
		"set_indicator_state":  func(ctx context.Context) error { return c.SetIndicator(ctx, node.IndicatorOn) },
		"inject_nmi":           c.InjectNMI,
	}
}

func TestABusyBMCDoesNotCountAsOneThatLacksSomething(t *testing.T) {
	p := newPeer(to("Bios", "/Later")+","+to("LogServices", "/Later")+","+to("VirtualMedia", "/Later"), "", to("Sensors", "/Later"))
	p.docs["/UpdateService"] = "{" + to("FirmwareInventory", "/Later") + "}"
	p.docs["/Later"] = links("/Later/1")
	p.get = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/redfish/v1/Later") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}
	c := p.client(t, patient())
	for what, call := range calls(c) {
		switch what {
		case "get_indicator_state", "set_indicator_state", "inject_nmi", "health":
			continue // asks nothing of what is busy
		}
		if err := call(t.Context()); !errors.As(err, new(*node.Unreachable)) {
			t.Errorf("%s: %v, want *node.Unreachable", what, err)
		}
	}
}

func TestAServiceRootWithOddFieldsIsNoObstacle(t *testing.T) { // the handbook's G3
	for name, root := range map[string]string{
		"features of odd types": `{"ProtocolFeaturesSupported":{"ExpandQuery":false,"DeepOperations":[]},"@odata.context":5,` + to("Systems", "/Systems") + `}`,
		"no links at all":       `{"RedfishVersion":1.0,"Systems":"/redfish/v1/Systems"}`,
	} {
		p := withMemory()
		p.docs[""] = root
		if h, err := p.client(t, patient()).Hardware(t.Context()); err != nil || len(h.Memory) != 3 {
			t.Errorf("%s: %+v, %v", name, h.Memory, err)
		}
	}
}

func TestNoLinkLeadsToAnotherHost(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer other.Close()
	host := strings.TrimPrefix(other.URL, "http://")
	for _, link := range []string{"@" + host + "/Memory", other.URL + "/Memory", "//" + host + "/Memory", ".evil.example/Memory", "N/A"} {
		p := newPeer(fmt.Sprintf(`"PowerState":"On","Memory":{"@odata.id":%q},"Actions":{"#ComputerSystem.Reset":{"target":%q}}`, link, link), "", "")
		p.docs[""] = fmt.Sprintf(`{"Systems":{"@odata.id":"/redfish/v1/Systems"},"Managers":{"@odata.id":%q},"Links":{"Sessions":{"@odata.id":%q}}}`, link, link)
		p.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) { w.WriteHeader(http.StatusNotFound) }
		c := p.client(t, patient())
		if h, err := c.Hardware(t.Context()); err != nil || len(h.Memory) != 0 {
			t.Errorf("%s: %+v, %v", link, h.Memory, err)
		}
		if err := c.InjectNMI(t.Context()); err == nil {
			t.Errorf("%s: the NMI went somewhere", link)
		}
	}
}
