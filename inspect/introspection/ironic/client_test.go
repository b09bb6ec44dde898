package ironic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/introspection/ironic"
	"cagenut/node"
)

const uuid = "6a6d0a7e-0000-4a51-9a3c-000000000001"

// serving is a client of an API, and what that was asked.
func serving(t *testing.T, handler http.HandlerFunc) (*ironic.Client, *[]string) {
	t.Helper()
	asked := &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		if r.Header.Get("X-OpenStack-Ironic-API-Version") != "latest" {
			t.Errorf("%s %s asks for the version %q", r.Method, r.URL, r.Header.Get("X-OpenStack-Ironic-API-Version"))
		}
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := ironic.New(ironic.Settings{URL: s.URL + "/v1/", User: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// contract.md §1.5: errors are a document in a text in a document.
func TestRefusalsAreTypedAndInIronicsWords(t *testing.T) {
	fault := func(s string) string {
		inner, _ := json.Marshal(map[string]any{"faultcode": "Client", "faultstring": s, "debuginfo": nil})
		outer, _ := json.Marshal(map[string]string{"error_message": string(inner)})
		return string(outer)
	}
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{404, fault("Node n1 could not be found."), "*node.NotFound Node n1 could not be found."},
		{409, fault("Node n1 is locked by host rack1, please retry."), "*node.Conflict Node n1 is locked by host rack1, please retry."},
		{409, fault("A node with name x already exists."), "*node.Exists A node with name x already exists."},
		{400, fault("Couldn't apply patch"), "*node.Invalid Couldn't apply patch"},
		{400, `{"error_message":{"faultstring":"not doubly encoded"}}`, "*node.Invalid not doubly encoded"},
		{406, "not\n acceptable", "*node.Invalid not acceptable"},
		{500, "", "*node.Unreachable Ironic at SERVER: 500 Internal Server Error: it gave no reason"},
		{302, "", "*node.Unreachable Ironic at SERVER: 302 Found: it gave no reason"},
		{401, "who?", "*node.Unreachable Ironic at SERVER: 401 Unauthorized: who? (check --ironic-user and --ironic-password-file)"},
		{200, "no JSON", "*node.Unreachable Ironic at SERVER: its answer cannot be read: invalid character 'o' in literal null (expecting 'u')"},
		{200, "{}", "*node.Unreachable Ironic at SERVER: it answers something else than a node"},
	} {
		var server string
		client, _ := serving(t, func(w http.ResponseWriter, r *http.Request) {
			server = "http://" + r.Host
			if user, password, _ := r.BasicAuth(); user != "u" || password != "p" {
				t.Errorf("it signs in as %q", user)
			}
			says(c.status, c.body)(w, r)
		})
		_, _, err := client.Node(t.Context(), "n1")
		if got := strings.ReplaceAll(fmt.Sprintf("%T %v", err, err), server, "SERVER"); got != c.want {
			t.Errorf("%d %s: got %s, want %s", c.status, c.body, got, c.want)
		}
	}
}

func TestAnIronicThatIsNotThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	client, err := ironic.New(ironic.Settings{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	var dead *node.Unreachable
	if err := client.Inspect(t.Context(), uuid); !errors.As(err, &dead) || dead.Timeout || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
	for _, url := range []string{"", "ftp://x", "http://", "http://u:p@x"} {
		if _, err := ironic.New(ironic.Settings{URL: url}); err == nil {
			t.Errorf("%q is taken for an address", url)
		}
	}
}

func TestANodeWithItsPorts(t *testing.T) {
	const portUUID = "6a6d0a7e-0000-4a51-9a3c-0000000000aa"
	client, asked := serving(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/nodes/"):
			says(200, `{"uuid":"`+uuid+`","name":"n1","driver":"redfish","inspect_interface":"inspector","provision_state":"manageable","properties":{"cpus":8},
				"driver_info":{"redfish_address":"https://192.0.2.1"},"extra":null,"traits":["CUSTOM_X"],"description":null,"automated_clean":false,"unknown":1}`)(w, r)
		case r.URL.Query().Get("marker") == "":
			says(200, `{"ports":[{"uuid":"`+portUUID+`","address":"02:00:5e:00:00:01","node_uuid":"`+uuid+`","pxe_enabled":false,"extra":{"a":1}}],"next":"http://elsewhere/"}`)(w, r)
		default:
			says(200, `{"ports":[]}`)(w, r)
		}
	})
	n, ports, err := client.Node(t.Context(), "n 1")
	if err != nil {
		t.Fatal(err)
	}
	if n.UUID != uuid || n.Name != "n1" || n.Interfaces.Inspect != "inspector" || n.ProvisionState != node.Manageable || n.Extra == nil || n.Properties["cpus"] != json.Number("8") || *n.AutomatedClean {
		t.Errorf("the node is %+v", n)
	}
	if len(ports) != 1 || ports[0].UUID != portUUID || ports[0].PXEEnabled || ports[0].NodeUUID != uuid || ports[0].LocalLinkConnection == nil {
		t.Errorf("the ports are %+v", ports)
	}
	want := []string{"GET /v1/nodes/n%201", "GET /v1/ports/detail?node=" + uuid + "&limit=1000", "GET /v1/ports/detail?node=" + uuid + "&limit=1000&marker=" + portUUID}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestWhatIsWritten(t *testing.T) {
	client, asked := serving(t, says(200, `{}`))
	same := func(a, b any) bool { return a == b }
	ops := ironic.Difference("/extra", map[string]any{"a": 1, "b": 2, "c~/d": 3}, map[string]any{"a": 1, "b": 3, "e": nil}, same)
	for _, err := range []error{
		client.PatchNode(t.Context(), uuid, ops), client.PatchNode(t.Context(), uuid, nil), client.SetTraits(t.Context(), uuid, nil), client.Inspect(t.Context(), uuid),
		client.CreatePort(t.Context(), node.Port{UUID: uuid, NodeUUID: uuid, Address: "02:00:5e:00:00:01", PXEEnabled: true}), client.PatchPort(t.Context(), uuid, ops[:1]),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		`PATCH /v1/nodes/` + uuid + ` [{"op":"add","path":"/extra/b","value":3},{"op":"add","path":"/extra/e","value":null},{"op":"remove","path":"/extra/c~0~1d","value":null}]`,
		`PUT /v1/nodes/` + uuid + `/traits {"traits":[]}`,
		`PUT /v1/nodes/` + uuid + `/states/provision {"target":"inspect"}`,
		`POST /v1/ports {"uuid":"` + uuid + `","address":"02:00:5e:00:00:01","node_uuid":"` + uuid + `","pxe_enabled":true}`,
		`PATCH /v1/ports/` + uuid + ` [{"op":"add","path":"/extra/b","value":3}]`,
	}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
