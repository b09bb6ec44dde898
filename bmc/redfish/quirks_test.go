package redfish_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cagenut/node"
)

// odd is a BMC made by hand: documents by path, and what it does with writes.
type odd struct {
	mu    sync.Mutex
	docs  map[string]string
	write func(r *http.Request, body map[string]any) int // status
	wrote []string
}

func (o *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	path := strings.TrimRight(r.URL.Path, "/")
	if r.Method != http.MethodGet {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		b, _ := json.Marshal(body)
		o.wrote = append(o.wrote, fmt.Sprintf("%s %s %s", r.Method, path, b))
		w.WriteHeader(o.write(r, body))
		return
	}
	doc, ok := o.docs[path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(doc))
}

func (o *odd) node(t *testing.T) node.Node {
	t.Helper()
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.docs["/redfish/v1"] = `{"Systems":{"@odata.id":"` + server.URL + `/redfish/v1/Systems"}}` // absolute, as some BMCs write links
	return node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": server.URL + "/redfish/v1/"}}
}

const resettable = `"Actions":{"#ComputerSystem.Reset":{"target":"/reset%s","ResetType@Redfish.AllowableValues":[%s]}}`

func TestOfSeveralSystemsTheServerIsChosen(t *testing.T) { // quirk 44
	o := &odd{docs: map[string]string{
		"/redfish/v1/Systems":     `{"Members":[{"@odata.id":"/redfish/v1/Systems/HGX"},{"@odata.id":"/redfish/v1/Systems/Off"},{"@odata.id":"/redfish/v1/Systems/Host"}]}`,
		"/redfish/v1/Systems/HGX": `{"PowerState":"On"}`, // no reset, no boot: an accelerator board; Off is missing
		"/redfish/v1/Systems/Host": `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"},` +
			fmt.Sprintf(resettable, "1", `"On","ForceOff"`) + `}`,
	}}
	c := open(t, newDriver(t, quick()), o.node(t))
	if p, err := c.Power(t.Context()); err != nil || p != node.PowerOff {
		t.Errorf("power %q, %v; want the host's", p, err)
	}
	n := o.node(t)
	n.DriverInfo["redfish_system_id"] = "/redfish/v1/Systems/HGX/"
	if p, err := open(t, newDriver(t, quick()), n).Power(t.Context()); err != nil || p != node.PowerOn {
		t.Errorf("power %q, %v; want that of the system which driver_info names", p, err)
	}
	n.DriverInfo["redfish_system_id"] = "/redfish/v1/Systems/9"
	if _, err := open(t, newDriver(t, quick()), n).Power(t.Context()); !errors.As(err, new(*node.Invalid)) {
		t.Errorf("a system that is not there: %v, want *node.Invalid", err)
	}
}

func TestWithoutARebootOfItsOwnTheBMCIsSwitchedOffAndOn(t *testing.T) { // quirk 35
	power := "On"
	o := &odd{docs: map[string]string{"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`}}
	show := func() {
		o.docs["/redfish/v1/Systems/1"] = `{"PowerState":"` + power + `","Name":17,"Boot":null,` + fmt.Sprintf(resettable, "", `"On","Off",5`) + `}`
	}
	show()
	var sent []string
	o.write = func(_ *http.Request, body map[string]any) int {
		kind, _ := body["ResetType"].(string)
		sent = append(sent, kind)
		power = kind
		show()
		return http.StatusOK
	}
	c := open(t, newDriver(t, quick()), o.node(t))
	if err := c.SetPower(t.Context(), node.ActionReboot); err != nil || !slices.Equal(sent, []string{"Off", "On"}) {
		t.Errorf("%v, sent %v", err, sent)
	}
	var u *node.Unsupported
	if err := c.SetPower(t.Context(), node.ActionSoftReboot); !errors.As(err, &u) {
		t.Errorf("soft reboot: %v, want *node.Unsupported", err)
	}
}

func TestABMCThatDoesNotKnowTheModeGetsABodyWithoutIt(t *testing.T) { // quirks 7, 10
	boot := `{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled","BootSourceOverrideMode":"UEFI"}`
	o := &odd{docs: map[string]string{"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`}}
	o.docs["/redfish/v1/Systems/1"] = `{"PowerState":"Off","Boot":` + boot + `}`
	o.write = func(_ *http.Request, body map[string]any) int {
		b, _ := body["Boot"].(map[string]any)
		if b["BootSourceOverrideMode"] != nil {
			return http.StatusBadRequest
		}
		o.docs["/redfish/v1/Systems/1"] = `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`
		return http.StatusNoContent
	}
	c := open(t, newDriver(t, quick()), o.node(t))
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE}); err != nil || len(o.wrote) != 2 {
		t.Errorf("%v, wrote %v", err, o.wrote)
	}
	o.wrote = nil
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE}); err != nil || len(o.wrote) != 1 || strings.Contains(o.wrote[0], "Mode") {
		t.Errorf("where no mode is shown: %v, wrote %v", err, o.wrote)
	}
}

func TestABMCInPOSTIsAskedAgain(t *testing.T) { // G64, quirk 6
	o := &odd{docs: map[string]string{
		"/redfish/v1/Systems":   `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`,
		"/redfish/v1/Systems/1": `{"PowerState":"On","Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`,
	}}
	left := 3
	o.write = func(*http.Request, map[string]any) int {
		if left--; left >= 0 {
			return http.StatusServiceUnavailable
		}
		o.docs["/redfish/v1/Systems/1"] = `{"PowerState":"On","Boot":{"BootSourceOverrideEnabled":"Disabled"}}`
		return http.StatusOK
	}
	if err := open(t, newDriver(t, quick()), o.node(t)).SetBoot(t.Context(), node.Boot{}); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNotABMCIsSaidSo(t *testing.T) {
	for name, body := range map[string]string{"a web page": "<html>router</html>", "nothing": "", "another kind of JSON": "[]"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		n := node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": server.URL}}
		if _, err := open(t, newDriver(t, quick()), n).Power(t.Context()); !errors.As(err, new(*node.Unreachable)) {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}

func TestTheCertificateIsVerifiedUnlessDriverInfoSaysOtherwise(t *testing.T) {
	o := &odd{docs: map[string]string{
		"/redfish/v1":           `{"Systems":{"@odata.id":"/redfish/v1/Systems"}}`,
		"/redfish/v1/Systems":   `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`,
		"/redfish/v1/Systems/1": `{"PowerState":"On"}`,
	}}
	server := httptest.NewUnstartedServer(o)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it would complain about clients that trust it not
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		verify any
		ok     bool
	}{"unset": {nil, false}, "true": {true, false}, "the word True": {"True", false}, "false": {false, true}, "the word false": {"false", true}, "its CA": {ca, true}} {
		n := node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": strings.TrimPrefix(server.URL, "https://"), "redfish_verify_ca": c.verify}}
		_, err := open(t, newDriver(t, quick()), n).Power(t.Context())
		var u *node.Unreachable
		switch {
		case c.ok && err != nil:
			t.Errorf("%s: %v", name, err)
		case !c.ok && (!errors.As(err, &u) || !strings.Contains(u.Hint, "redfish_verify_ca")):
			t.Errorf("%s: %v, want a hint at redfish_verify_ca", name, err)
		}
	}
}
