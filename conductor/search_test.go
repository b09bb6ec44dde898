package conductor_test

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/conductor"
	"cagenut/node"
)

// requestFor is a search that finds all BMCs of a rack.
func requestFor(t *testing.T, rack *sim.Rack) conductor.SearchRequest {
	t.Helper()
	req := conductor.SearchRequest{Where: "the rack"}
	for _, s := range rack.Servers() {
		if s.Driver == node.DriverIPMI {
			req.Addresses = append(req.Addresses, netip.MustParseAddr(s.Address))
			req.Ports.IPMI = append(req.Ports.IPMI, s.Port)
			continue
		}
		u, err := url.Parse(s.Address)
		if err != nil {
			t.Fatal(err)
		}
		at := netip.MustParseAddrPort(u.Host)
		req.Addresses = append(req.Addresses, at.Addr())
		req.Ports.Redfish = append(req.Ports.Redfish, node.RedfishPort{Port: int(at.Port()), Plain: u.Scheme == "http"})
	}
	return req
}

func TestASearchFindsTheBMCsOfARackAndKnowsThoseOfNodes(t *testing.T) {
	rack := rackOf(t, sim.Options{Servers: 4, IPMI: 2, FirstAddress: "127.91.0.1"})
	x := newEnrolling(t)
	known := rack.Servers()[2]
	if _, err := x.e.Enrol(t.Context(), operator, of(known)); err != nil {
		t.Fatal(err)
	}
	id, err := x.e.StartSearch(t.Context(), operator, requestFor(t, rack))
	if err != nil {
		t.Fatal(err)
	}
	s := x.searched(id)
	if s.Asked != 4 || s.Total != 4 || s.Cancelled || len(s.Found) != 4 {
		t.Fatalf("%d of %d asked, found %+v", s.Asked, s.Total, s.Found)
	}
	for i, f := range s.Found {
		server := rack.Servers()[i]
		if f.Drivers()[0] != server.Driver {
			t.Errorf("find %d speaks %v, the server %s", i, f.Drivers(), server.Driver)
		}
		if is := f.KnownAs != nil; is != (server == known) {
			t.Errorf("find %d is known as %+v", i, f.KnownAs)
		}
	}
}

func TestFindsAreEnrolledAndKnownAfterwards(t *testing.T) {
	rack := rackOf(t, sim.Options{Servers: 3, IPMI: 1, FirstAddress: "127.91.1.1"})
	x := newEnrolling(t)
	id, err := x.e.StartSearch(t.Context(), operator, requestFor(t, rack))
	if err != nil {
		t.Fatal(err)
	}
	var lines []conductor.EnrolLine
	for _, f := range x.searched(id).Found {
		driver := f.Drivers()[0]
		lines = append(lines, conductor.EnrolLine{
			Enrolment: conductor.Enrolment{Node: node.Node{Driver: driver, DriverInfo: f.DriverInfo(driver)}}, Label: f.Key(), Find: f.Key(),
		})
	}
	run, err := x.e.EnrolMany(operator, id, lines)
	if err != nil {
		t.Fatal(err)
	}
	if r := x.ran(run); len(r.Results) != 3 || r.Results[0].UUID == "" || r.Results[2].Refused != "" {
		t.Fatalf("the results are %+v", r.Results)
	}
	for _, f := range x.searched(id).Found {
		if f.KnownAs == nil {
			t.Errorf("%s was enrolled, but is not known", f.Key())
		}
	}
	t.Log("the same press once more makes nobody a second time")
	if run, err = x.e.EnrolMany(operator, id, lines); err != nil {
		t.Fatal(err)
	}
	for _, r := range x.ran(run).Results {
		if !r.Exists || r.UUID == "" {
			t.Errorf("the second time: %+v", r)
		}
	}
	if all := x.nodes(); len(all) != 3 {
		t.Errorf("there are %d nodes", len(all))
	}
}

// holding is a finder that answers when it is let.
type holding struct {
	asked chan netip.Addr
	let   chan struct{}
	count atomic.Int64
}

func (h *holding) Find(ctx context.Context, at netip.Addr, _ node.SearchPorts) []node.FoundBMC {
	h.count.Add(1)
	h.asked <- at
	select {
	case <-h.let:
	case <-ctx.Done():
		return nil
	}
	return []node.FoundBMC{{Address: at, IPMI: &node.FoundIPMI{Port: 623, Version: "2.0"}}}
}

func held(t *testing.T) (*enrolling, *holding, conductor.SearchRequest) {
	t.Helper()
	h := &holding{asked: make(chan netip.Addr, conductor.MostSearched), let: make(chan struct{}, conductor.MostSearched)}
	x := newEnrolling(t, func(n *conductor.EnrollerNeeds) { n.Finder = h })
	all, err := conductor.ReadAddresses("192.0.2.0/24", false)
	if err != nil {
		t.Fatal(err)
	}
	return x, h, conductor.SearchRequest{Where: "192.0.2.0/24", Addresses: all, Ports: node.SearchPorts{IPMI: []int{623}}}
}

func TestASearchThatIsStoppedKeepsWhatItHasFound(t *testing.T) {
	x, h, req := held(t)
	id, err := x.e.StartSearch(t.Context(), operator, req)
	if err != nil {
		t.Fatal(err)
	}
	h.let <- struct{}{}
	for range 65 { // as many as are asked at once, and one in the place of the one that was answered
		<-h.asked
	}
	var conflict *node.Conflict
	if _, err := x.e.StartSearch(t.Context(), operator, req); !errors.As(err, &conflict) {
		t.Errorf("a second search beside the first: %v", err)
	}
	for range 2 { // pressed twice
		if err := x.e.CancelSearch(t.Context(), operator, id); err != nil {
			t.Fatal(err)
		}
	}
	s := x.searched(id)
	if !s.Cancelled || len(s.Found) != 1 || s.Asked != 1 || h.count.Load() > 66 {
		t.Errorf("after it was stopped: %d asked, %d begun, found %+v", s.Asked, h.count.Load(), s.Found)
	}
	t.Log("another one can begin then")
	if _, err := x.e.StartSearch(t.Context(), operator, req); err != nil {
		t.Error(err)
	}
}

func TestASearchThatNobodyRemembersIsNotFound(t *testing.T) {
	x := newEnrolling(t)
	var missing *node.NotFound
	if _, err := x.e.Search(""); !errors.As(err, &missing) {
		t.Errorf("the newest of none: %v", err)
	}
	if err := x.e.CancelSearch(t.Context(), operator, node.NewUUID()); !errors.As(err, &missing) {
		t.Errorf("an unknown one: %v", err)
	}
	if _, err := x.e.StartSearch(t.Context(), operator, conductor.SearchRequest{Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}); !isInvalid(err) {
		t.Errorf("without ports: %v", err)
	}
}

func TestAddressesAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7":                            "192.0.2.7",
		" 192.0.2.7 ,192.0.2.9;192.0.2.7\n":    "192.0.2.7 192.0.2.9",
		"192.0.2.0/30":                         "192.0.2.1 192.0.2.2",
		"192.0.2.1/31":                         "192.0.2.0 192.0.2.1",
		"192.0.2.5/32":                         "192.0.2.5",
		"192.0.2.254-192.0.3.1":                "192.0.2.254 192.0.2.255 192.0.3.0 192.0.3.1",
		"192.0.2.10-12":                        "192.0.2.10 192.0.2.11 192.0.2.12",
		"2001:db8::1-2001:db8::3":              "2001:db8::1 2001:db8::2 2001:db8::3",
		"2001:db8::/126":                       "2001:db8:: 2001:db8::1 2001:db8::2 2001:db8::3",
		"::ffff:192.0.2.7":                     "192.0.2.7",
		"fe80::1%eth0":                         "fe80::1%eth0",
		"169.254.1.1":                          "169.254.1.1",
		"":                                     "?",
		"192.0.2.10-192.0.2.1":                 "?",
		"192.0.2.10-5":                         "?",
		"192.0.2.10-300":                       "?",
		"192.0.2.1-2001:db8::1":                "?",
		"r07-u21":                              "?",
		"192.0.2.0/33":                         "?",
		"10.0.0.0/8":                           "?",
		"2001:db8::/64":                        "?",
		"0.0.0.0":                              "?",
		"127.0.0.1":                            "?",
		"224.0.0.1":                            "?",
		"255.255.255.255":                      "?",
		"169.254.169.254":                      "?",
		"169.254.169.0/24":                     "?",
		"fd00:ec2::254":                        "?",
		"<script>alert(1)</script>":            "?",
		strings.Repeat("192.0.2.1/24 ", 10000): "254",
	} {
		all, err := conductor.ReadAddresses(text, false)
		var words []string
		for _, a := range all {
			words = append(words, a.String())
		}
		got := strings.Join(words, " ")
		switch {
		case want == "?":
			if !isInvalid(err) {
				t.Errorf("%.80q is read as %.80s, %v", text, got, err)
			}
		case want == "254":
			if len(all) != 254 || err != nil {
				t.Errorf("%.80q is %d addresses, %v", text, len(all), err)
			}
		case got != want || err != nil:
			t.Errorf("%q is read as %s, %v; want %s", text, got, err, want)
		}
	}
	if all, err := conductor.ReadAddresses("127.77.0.1-127.77.0.3", true); err != nil || len(all) != 3 {
		t.Errorf("this machine's own, where nobody else reaches it: %v, %v", all, err)
	}
	if all, err := conductor.ReadAddresses("10.0.0.0/20", false); err != nil || len(all) != 4094 {
		t.Errorf("a network of the largest size: %d, %v", len(all), err)
	}
}

func TestPortsAreReadAsPeopleWriteThem(t *testing.T) {
	got, err := conductor.ReadRedfishPorts("443, 8000/HTTP;8443/https")
	if err != nil || len(got) != 3 || got[0] != (node.RedfishPort{Port: 443}) || got[1] != (node.RedfishPort{Port: 8000, Plain: true}) || got[2] != (node.RedfishPort{Port: 8443}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"0", "65536", "x", "443/ftp", "1,2,3,4,5", "-1"} {
		if _, err := conductor.ReadRedfishPorts(bad); !isInvalid(err) {
			t.Errorf("Redfish at %q: %v", bad, err)
		}
		if _, err := conductor.ReadIPMIPorts(bad); !isInvalid(err) {
			t.Errorf("IPMI at %q: %v", bad, err)
		}
	}
}
