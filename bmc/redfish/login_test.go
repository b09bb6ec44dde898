package redfish_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cagenut/node"
)

// door is a BMC of which only the ways in are odd. Its one system is on.
type door struct {
	login     func(w http.ResponseWriter) // answers a POST of a session
	basic     bool                        // takes Basic authentication with the right password
	closeRoot bool                        // asks for authentication at the service root too
	token     string                      // that it takes
	logins    int
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	if r.Method == http.MethodPost {
		d.logins++
		d.login(w)
		return
	}
	_, password, _ := r.BasicAuth()
	known := d.basic && password == "right" || d.token != "" && r.Header.Get("X-Auth-Token") == d.token
	if !known && (d.closeRoot || path != "/redfish/v1") {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	link := func(p string) map[string]string { return map[string]string{"@odata.id": p} }
	docs := map[string]any{
		"/redfish/v1":           map[string]any{"Systems": link("/redfish/v1/Systems"), "Links": map[string]any{"Sessions": link("/sessions")}},
		"/redfish/v1/Systems":   map[string]any{"Members": []any{link("/redfish/v1/Systems/1")}},
		"/redfish/v1/Systems/1": map[string]any{"PowerState": "On"},
	}
	_ = json.NewEncoder(w).Encode(docs[path])
}

func (d *door) knock(t *testing.T) error {
	t.Helper()
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{
		"redfish_address": server.URL, "redfish_username": "admin", "redfish_password": "right",
	}}
	_, err := open(t, newDriver(t, quick()), n).Power(t.Context())
	return err
}

func refusing(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestEveryWayInIsTaken(t *testing.T) { // quirk 38
	const full = `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.5.SessionLimitExceeded"}]}}`
	for name, d := range map[string]*door{
		"no sessions at all":                    {login: refusing(404, ""), basic: true},
		"the session limit, said with 503":      {login: refusing(503, full), basic: true},
		"the session limit, said with 403":      {login: refusing(403, full), basic: true},
		"the session limit of an iDRAC":         {login: refusing(400, `{"error":{"message":"RAC0218: The maximum number of user sessions is reached."}}`), basic: true},
		"a service root that wants a password":  {login: refusing(404, ""), basic: true, closeRoot: true},
		"a token without an address for logout": {token: "t", login: func(w http.ResponseWriter) { w.Header().Set("X-Auth-Token", "t"); w.WriteHeader(201) }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := d.knock(t); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAFullOrBusyBMCIsNotAWrongPassword(t *testing.T) {
	d := &door{login: refusing(503, "")} // and no Basic authentication
	err := d.knock(t)
	if !errors.As(err, new(*node.Unreachable)) || errors.Is(err, node.ErrCredentials) || !strings.Contains(err.Error(), "503") {
		t.Errorf("%v, want *node.Unreachable that tells of the login", err)
	}
	for name, d := range map[string]*door{
		"refused at the login":             {login: refusing(401, "")},
		"refused without sessions":         {login: refusing(404, "")},
		"refused after a login that works": {login: func(w http.ResponseWriter) { w.Header().Set("X-Auth-Token", "t"); w.WriteHeader(201) }},
	} {
		if err := d.knock(t); !errors.Is(err, node.ErrCredentials) || d.logins > 2 {
			t.Errorf("%s: %v after %d logins, want node.ErrCredentials", name, err, d.logins)
		}
	}
}
