package main

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cagenut/bmc"
	"cagenut/bmc/finder"
	"cagenut/bmc/sim"
	"cagenut/conductor"
	"cagenut/node"
	"cagenut/store"
	"cagenut/web"
	"cagenut/web/ui"
)

var (
	_ conductor.Endpoints  = (*bmc.Pool)(nil)
	_ conductor.Neighbours = (*store.Store)(nil)
	_ conductor.Finder     = (*finder.Finder)(nil)
	_ ui.Enrolling         = (*conductor.Enroller)(nil)
)

// newEnroller lets people enrol servers with the appliance's own conductor and BMCs.
func (a *appliance) newEnroller() *conductor.Enroller {
	return conductor.NewEnroller(a.conductor, conductor.EnrollerNeeds{
		Endpoints: a.bmcs, Neighbours: a.store, Finder: finder.New(finder.Options{}), Announce: a.store.Announce, LocalTargets: a.settings.onLoopback(),
	})
}

// onLoopback tells whether nobody reaches the appliance from elsewhere.
func (s *settings) onLoopback() bool {
	return isLoopback(s.Listen) && (s.InspectorListen == "" || isLoopback(s.InspectorListen))
}

// largeBodies are the doors whose bodies may be larger than others': those of reports, and of lists of servers.
func largeBodies() []string { return append(slices.Clone(web.ReportDoors), "/ui/enrol/import") }

// searchFor is how a search finds the BMCs of a simulated rack.
func searchFor(servers []*sim.Server) ui.SearchDefaults {
	var all []netip.Addr
	ports := map[string][]string{}
	note := func(driver string, at netip.Addr, port string) {
		all = append(all, at)
		if !slices.Contains(ports[driver], port) {
			ports[driver] = append(ports[driver], port)
		}
	}
	for _, s := range servers {
		if s.Driver == node.DriverIPMI {
			if at, err := netip.ParseAddr(s.Address); err == nil {
				note(s.Driver, at, strconv.Itoa(s.Port))
			}
			continue
		}
		if u, err := url.Parse(s.Address); err == nil {
			if at, err := netip.ParseAddr(u.Hostname()); err == nil {
				note(s.Driver, at, u.Port()+"/"+u.Scheme)
			}
		}
	}
	if len(all) == 0 {
		return ui.SearchDefaults{}
	}
	first, last := slices.MinFunc(all, netip.Addr.Compare), slices.MaxFunc(all, netip.Addr.Compare)
	few := func(driver string) string { return strings.Join(ports[driver][:min(len(ports[driver]), 4)], ", ") }
	return ui.SearchDefaults{Where: fmt.Sprintf("%s-%s", first, last), Redfish: few(node.DriverRedfish), IPMI: few(node.DriverIPMI)}
}
