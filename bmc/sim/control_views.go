package sim

import (
	"net/http"
	"time"

	"cagenut/node"
)

type serverView struct {
	Name       string         `json:"name"`
	Driver     string         `json:"driver"`
	Address    string         `json:"address"`
	Port       int            `json:"port"`
	DriverInfo map[string]any `json:"driver_info"` // as Ironic takes it, with the test password
	MAC        string         `json:"mac"`
	// Certificate is the one that it shows at the moment, in PEM.
	Certificate string                   `json:"certificate,omitempty"`
	Rack        string                   `json:"rack"`
	Unit        int                      `json:"unit"`
	Silent      bool                     `json:"silent"`
	State       Phase                    `json:"state"`
	Power       node.PowerState          `json:"power"`
	Boot        bootView                 `json:"boot"`
	Media       map[string]string        `json:"media"`
	Indicator   node.Indicator           `json:"indicator"`
	NMIs        int                      `json:"nmis"`
	Sessions    SessionCounts            `json:"sessions"`
	Overlaps    int                      `json:"overlaps"` // how often somebody used it while somebody else did
	Requests    int                      `json:"requests"`
	Faults      map[Fault]strengthViewed `json:"faults"`
}

type bootView struct {
	Device     node.BootDevice `json:"device"`
	Persistent bool            `json:"persistent"`
}

type strengthViewed struct {
	Count   int    `json:"count"`
	Percent int    `json:"percent"`
	Delay   string `json:"delay"`
}

func views(servers []*Server) []serverView {
	all := make([]serverView, 0, len(servers))
	for _, s := range servers {
		all = append(all, s.view())
	}
	return all
}

func (s *Server) view() serverView {
	boot := s.Boot()
	v := serverView{
		Name: s.Name, Driver: s.Driver, Address: s.Address, Port: s.Port, DriverInfo: s.DriverInfo(), MAC: s.BootMAC, Rack: s.Rack, Unit: s.Unit, Silent: s.Silent,
		State: s.Phase(), Power: s.Power(), Boot: bootView{boot.Device, boot.Persistent}, Media: s.Media(), Indicator: s.Indicator(), NMIs: s.Interrupts(),
		Certificate: string(s.Certificate()), Sessions: s.Sessions(), Overlaps: s.Overlaps(), Requests: s.requests.count(), Faults: map[Fault]strengthViewed{},
	}
	for id, address := range v.Media {
		v.Media[id] = withoutQuery(address)
	}
	for f, strength := range s.ActiveFaults() {
		v.Faults[f] = strengthViewed{strength.Count, strength.Percent, s.delayOf(f).String()}
	}
	return v
}

type faultView struct {
	Fault   Fault    `json:"fault"`
	Drivers []string `json:"drivers"`
	What    string   `json:"what"`
	Like    string   `json:"like,omitempty"`
	Delay   string   `json:"delay,omitempty"`
	Counts  bool     `json:"counts"`        // takes count and percent
	TLS     bool     `json:"tls,omitempty"` // of BMCs that speak TLS alone
}

func faultViews() []faultView {
	var all []faultView
	for _, f := range AllFaults() {
		v := faultView{Fault: f.Fault, Drivers: f.Drivers, What: f.What, Like: f.Like, Counts: !f.Steady, TLS: f.TLS}
		if f.Delay > 0 {
			v.Delay = f.Delay.String()
		}
		all = append(all, v)
	}
	return all
}

type requestView struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"` // of HTTP, or "IPMI"
	Path   string    `json:"path"`   // or the command
	Detail string    `json:"detail,omitempty"`
	By     string    `json:"by,omitempty"`
	Status *int      `json:"status"` // or the completion code; null: not answered
}

func getRequests(servers []*Server, w http.ResponseWriter, _ *http.Request) {
	all := map[string][]requestView{}
	for _, s := range servers {
		list := []requestView{}
		for _, r := range s.Requests() {
			v := requestView{At: r.At.UTC(), Method: r.Method, Path: r.Path, Detail: r.Detail, By: r.By}
			if r.Status != unanswered {
				v.Status = &r.Status
			}
			list = append(list, v)
		}
		all[s.Name] = list
	}
	reply(w, http.StatusOK, all)
}
