package e2e_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"cagenut/e2e/process"
)

// simulator is a running `cagenut sim`: BMCs that can be made sick.
type simulator struct {
	t       *testing.T
	control string
}

// simulate runs the simulator until the test ends. An appliance that talks to it has to be started later, so that it ends
// first.
func simulate(t *testing.T, args ...string) *simulator {
	t.Helper()
	var out process.Output
	cmd := exec.Command(binary, append([]string{"sim", "--control", "127.0.0.1:0"}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = process.Environment(t), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing of it is kept
		_ = cmd.Wait()
	})
	s := &simulator{t: t}
	until(t, "the address of the simulator", func() (ok bool) {
		s.control, ok = out.Line("Control: ")
		return ok
	})
	return s
}

// serverDoc is a simulated server.
type serverDoc struct {
	Name       string         `json:"name"`
	Driver     string         `json:"driver"`
	DriverInfo map[string]any `json:"driver_info"`
	Power      string         `json:"power"`
	Indicator  string         `json:"indicator"`
	NMIs       int            `json:"nmis"`
}

// call uses the control API.
func (s *simulator) call(method, path, body string, into any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.control+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if into != nil {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			s.t.Fatal(err)
		}
	}
}

// sicken switches a fault on.
func (s *simulator) sicken(name, fault string) {
	s.t.Helper()
	s.call("PUT", "/servers/"+name+"/faults/"+fault, "{}", nil)
}

// heal switches a fault off.
func (s *simulator) heal(name, fault string) {
	s.t.Helper()
	s.call("DELETE", "/servers/"+name+"/faults/"+fault, "", nil)
}

// button is somebody who presses the power button.
func (s *simulator) button(name, to string) {
	s.t.Helper()
	s.call("PUT", "/servers/"+name+"/power", `{"power":"`+to+`"}`, nil)
}

func (s *simulator) server(name string) (d serverDoc) {
	s.t.Helper()
	s.call("GET", "/servers/"+name, "", &d)
	return d
}

// enrol makes a manageable node of each server, by driver.
func (s *simulator) enrol(a *appliance) (named map[string]string) {
	s.t.Helper()
	var all []serverDoc
	s.call("GET", "/servers", "", &all)
	named = map[string]string{}
	for _, d := range all {
		must[any](a, "POST", "/v1/nodes", map[string]any{"name": d.Name, "driver": d.Driver, "driver_info": d.DriverInfo, "extra": map[string]any{"rack": "R1", "rack_unit": 1}})
		a.verb(d.Name, "manage")
		named[d.Driver] = d.Name
	}
	for _, name := range named {
		a.waitFor(name, "manageable")
	}
	return named
}
