package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"cagenut/node"
)

// controlLimit bounds a body of the control API.
const controlLimit = 64 << 10

// Control is the HTTP API by which tests and people switch faults on, read what a BMC was asked and play the machine. It answers
// JSON, takes exactly what it knows, and answers on loopback alone: whoever reaches it can do everything. A server's name may be
// "*", which is all of them.
//
//	GET    /faults                          what can be wrong
//	GET    /servers, /servers/{name}        addresses, driver_info, power, boot, media, sessions, faults
//	PUT    /servers/{name}/faults/{fault}   {"count": 3, "percent": 10, "delay": "2s"}, each optional
//	DELETE /servers/{name}/faults/{fault}   and /faults for all
//	GET    /servers/{name}/requests         the request log; DELETE empties it
//	PUT    /servers/{name}/power            {"power": "on"}: somebody presses the button
//	PUT    /servers/{name}/hold             the ramdisk waits before it reports; DELETE lets it go on
//	POST   /servers/{name}/report           as DELETE hold; with {"to": address} it reports there at once
//	DELETE /servers/{name}/sessions         the BMC forgets all logins
//	GET    /ca                              the CA of the BMCs' certificates in PEM, and the file that holds it; 404 without TLS
func (r *Rack) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, faultViews()) })
	mux.HandleFunc("GET /ca", r.getCA)
	each := func(pattern string, f func([]*Server, http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			servers := r.named(req.PathValue("name"))
			if servers == nil {
				complain(w, http.StatusNotFound, fmt.Sprintf("There is no server %q.", req.PathValue("name")))
				return
			}
			f(servers, w, req)
		})
	}
	mux.HandleFunc("GET /servers", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, views(r.servers)) })
	each("GET /servers/{name}", func(s []*Server, w http.ResponseWriter, req *http.Request) {
		if req.PathValue("name") == everyone {
			reply(w, http.StatusOK, views(s))
			return
		}
		reply(w, http.StatusOK, s[0].view())
	})
	each("PUT /servers/{name}/faults/{fault}", putFault)
	each("DELETE /servers/{name}/faults/{fault}", deleteFault)
	each("DELETE /servers/{name}/faults", func(s []*Server, w http.ResponseWriter, _ *http.Request) { forAll(s, w, (*Server).Heal) })
	each("GET /servers/{name}/requests", getRequests)
	each("DELETE /servers/{name}/requests", func(s []*Server, w http.ResponseWriter, _ *http.Request) { forAll(s, w, (*Server).ForgetRequests) })
	each("DELETE /servers/{name}/sessions", func(s []*Server, w http.ResponseWriter, _ *http.Request) { forAll(s, w, (*Server).ExpireSessions) })
	each("PUT /servers/{name}/power", putPower)
	each("PUT /servers/{name}/hold", func(s []*Server, w http.ResponseWriter, _ *http.Request) { forAll(s, w, (*Server).HoldReport) })
	each("DELETE /servers/{name}/hold", func(s []*Server, w http.ResponseWriter, _ *http.Request) { forAll(s, w, (*Server).ReleaseReport) })
	each("POST /servers/{name}/report", postReport)
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		complain(w, http.StatusNotFound, "There is nothing at "+req.URL.Path+", or not with "+req.Method+".")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !local(req.Host) { // a page in a browser may have made its name lead here
			complain(w, http.StatusForbidden, "The control API is for this machine alone.")
			return
		}
		mux.ServeHTTP(w, req)
	})
}

// everyone is the name of all servers.
const everyone = "*"

func (r *Rack) named(name string) []*Server {
	if name == everyone {
		return r.servers
	}
	for _, s := range r.servers {
		if s.Name == name {
			return []*Server{s}
		}
	}
	return nil
}

func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && addr.IsLoopback())
}

func (r *Rack) getCA(w http.ResponseWriter, _ *http.Request) {
	if r.authority == nil {
		complain(w, http.StatusNotFound, "The BMCs of this rack do not speak TLS.")
		return
	}
	reply(w, http.StatusOK, map[string]string{"ca": string(r.CA()), "file": r.options.CAFile})
}

func putFault(servers []*Server, w http.ResponseWriter, r *http.Request) {
	var body struct {
		Count, Percent int
		Delay          string
	}
	if !understand(w, r, &body) {
		return
	}
	strength := Strength{Count: body.Count, Percent: body.Percent}
	if body.Delay != "" {
		d, err := time.ParseDuration(body.Delay)
		if err != nil {
			complain(w, http.StatusBadRequest, `The delay is not a time such as "2s": `+body.Delay)
			return
		}
		strength.Delay = d
	}
	f := Fault(r.PathValue("fault"))
	info, known := faultInfo(f)
	if !known {
		complain(w, http.StatusNotFound, fmt.Sprintf("There is no fault %q; GET /faults lists them.", f))
		return
	}
	servers = slices.DeleteFunc(slices.Clone(servers), func(s *Server) bool {
		return r.PathValue("name") == everyone && !slices.Contains(info.Drivers, s.Driver)
	})
	if len(servers) == 0 {
		complain(w, http.StatusBadRequest, fmt.Sprintf("No server can have the fault %q.", f))
		return
	}
	for _, s := range servers {
		if err := s.SwitchOn(f, strength); err != nil { // the same for all: nothing was switched on before
			complain(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	replyNames(w, servers)
}

func deleteFault(servers []*Server, w http.ResponseWriter, r *http.Request) {
	f := Fault(r.PathValue("fault"))
	if _, known := faultInfo(f); !known {
		complain(w, http.StatusNotFound, fmt.Sprintf("There is no fault %q; GET /faults lists them.", f))
		return
	}
	forAll(servers, w, func(s *Server) { s.SwitchOff(f) })
}

func putPower(servers []*Server, w http.ResponseWriter, r *http.Request) {
	var body struct{ Power string }
	if !understand(w, r, &body) {
		return
	}
	to, known := map[string]node.PowerState{"on": node.PowerOn, "off": node.PowerOff}[body.Power]
	if !known {
		complain(w, http.StatusBadRequest, `Power is "on" or "off".`)
		return
	}
	forAll(servers, w, func(s *Server) { s.SetPower(to) })
}

func postReport(servers []*Server, w http.ResponseWriter, r *http.Request) {
	var body struct{ To string }
	if !understand(w, r, &body) {
		return
	}
	if body.To == "" {
		forAll(servers, w, (*Server).ReleaseReport)
		return
	}
	if u, err := url.Parse(body.To); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		complain(w, http.StatusBadRequest, "To is an address of http or https.")
		return
	}
	statuses := map[string]int{}
	for _, s := range servers {
		status, err := s.SendReport(r.Context(), nil, body.To)
		if err != nil {
			complain(w, http.StatusBadGateway, withoutAddress(err).Error())
			return
		}
		statuses[s.Name] = status
	}
	reply(w, http.StatusOK, statuses)
}

func forAll(servers []*Server, w http.ResponseWriter, do func(*Server)) {
	for _, s := range servers {
		do(s)
	}
	replyNames(w, servers)
}

func replyNames(w http.ResponseWriter, servers []*Server) {
	names := make([]string, 0, len(servers))
	for _, s := range servers {
		names = append(names, s.Name)
	}
	reply(w, http.StatusOK, map[string][]string{"servers": names})
}

// understand decodes a body; an empty one leaves the defaults. It answers what it does not understand, and is false then.
func understand(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, controlLimit))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return true
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		complain(w, http.StatusBadRequest, "The body is not what is expected here: "+err.Error())
		return false
	}
	return true
}

func complain(w http.ResponseWriter, status int, sentence string) {
	reply(w, status, map[string]string{"error": sentence})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the other side may be gone
}
