package web_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

func TestEveryKindOfErrorHasItsStatusAndText(t *testing.T) {
	refused := errors.New("connection refused")
	for _, tc := range []struct {
		err    error
		status int
		text   string
	}{
		{&node.NotFound{What: "Node", Ident: "n1"}, 404, "Node n1 could not be found."},
		{&node.Exists{Text: "taken"}, 409, "taken"},
		{&node.Conflict{Text: "not now"}, 409, "not now"},
		{node.Invalidf("bad %d", 1), 400, "bad 1"},
		{&node.InvalidTransition{Node: "u", From: node.Manageable, Event: node.Abort}, 400, `The requested action "abort" can not be performed on node "u" while it is in state "manageable".`},
		{&node.Locked{Node: "u", Holder: "h"}, 409, "Node u is locked by host h, please retry after the current operation is completed."},
		{&node.Unsupported{Driver: "redfish", Extension: "abort"}, 400, "Driver redfish does not support abort (disabled or not implemented)."},
		{&node.Stale{Node: "u", Seen: "a", Now: node.InspectFailed}, 409, `Node u is no longer in inspection attempt a; it is in state "inspect failed".`},
		{&node.Unreachable{What: "BMC", Err: refused}, 502, "BMC: connection refused"},
		{&node.Unreachable{What: "BMC", Timeout: true, Err: context.DeadlineExceeded}, 504, "BMC: context deadline exceeded"},
		{node.ErrNotAcceptable, 406, "Request not acceptable."},
		{node.ErrNotReported, 404, "Resource could not be found."},
		{node.ErrLost, 409, "The node changed in the meantime; please try again."},
		{fmt.Errorf("192.0.2.1: %w", node.ErrCredentials), 502, "192.0.2.1: the BMC refused the credentials"},
		{context.DeadlineExceeded, 504, "The request took too long and was given up."},
		{context.Canceled, 503, "The appliance is shutting down."},
		{fiber.NewError(418, "tea"), 418, "tea"},
		{errors.New("SELECT"), 500, "internal error"},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("store: read: %w", tc.err)} {
			status, text := web.Status(err)
			if errors.Is(err, node.ErrCredentials) && err != tc.err {
				text = strings.TrimPrefix(text, "store: read: ")
			}
			if status != tc.status || text != tc.text {
				t.Errorf("%v: got %d %q, want %d %q", err, status, text, tc.status, tc.text)
			}
		}
	}
}

func TestErrorsHaveTheShapeOfTheirPath(t *testing.T) {
	shape := func(name string) func(*fiber.Ctx, error) error {
		return func(c *fiber.Ctx, err error) error {
			status, text := web.Explain(c, err)
			return c.Status(status).SendString(name + ": " + text)
		}
	}
	base, _ := serve(t, web.AppOptions{Errors: []web.ErrorShape{
		{Prefix: "/v1", Answer: shape("ironic")},
		{Prefix: "/v1/deep", Answer: shape("deep"), Bodies: true},
		{Prefix: "/broken", Answer: func(*fiber.Ctx, error) error { panic("no shape") }},
	}}, func(app *fiber.App) {
		app.Use(func(*fiber.Ctx) error { return node.Invalidf("no") })
	})
	deep := strings.Repeat("[", 30)
	for _, tc := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/nodes", "", 400, "ironic: no"},
		{"/v1", "", 400, "ironic: no"},
		{"/v1x", "", 400, `{"error":{"code":400,"message":"no"}}`},
		{"/v1/deep/er", "", 400, "deep: no"},
		{"/v1/nodes", deep, 400, `{"faultcode":"Client","faultstring":"The JSON body is nested deeper than 25 levels."}`},
		{"/v1/deep", deep, 400, "deep: The JSON body is nested deeper than 25 levels."},
		{"/broken", "", 500, `"code":500`},
	} {
		if got := ask(t, "POST", base+tc.path, strings.NewReader(tc.body)); got.status != tc.status || !strings.Contains(got.body, tc.want) {
			t.Errorf("%s: %d %s", tc.path, got.status, got.body)
		}
	}
}

func TestDecodeStrictTakesExactlyWhatIsKnown(t *testing.T) {
	type inner struct {
		Rack string `json:"rack"`
	}
	type body struct {
		Target string   `json:"target"`
		On     *bool    `json:"on"`
		Nodes  []string `json:"nodes"`
		Filter *inner   `json:"filter,omitempty"`
	}
	for _, tc := range []struct{ name, in, want string }{
		{"all keys", `{"target":"abort","on":true,"nodes":["a"],"filter":{"rack":"R07"}}`, ""},
		{"no keys", ` {} `, ""},
		{"nothing", ``, "The body is not a JSON object."},
		{"null", `null`, "The body is not a JSON object."},
		{"an array", `[]`, "The body is not a JSON object."},
		{"half", `{"target":`, "The body is not a JSON object."},
		{"two values", `{} {}`, "The body holds more than one JSON value."},
		{"rubbish behind", `{} x`, "The body holds more than one JSON value."},
		{"unknown keys", `{"b":1,"a":1}`, "Unexpected arguments: a, b"},
		{"another case", `{"Target":"abort"}`, "Unexpected arguments: Target"},
		{"an unknown key inside", `{"filter":{"row":"1"}}`, "Unexpected arguments: row"},
		{"another type", `{"target":5}`, "Expected string for target, not a value of type number."},
		{"another type inside", `{"filter":{"rack":[]}}`, "Expected string for filter.rack, not a value of type array."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var into body
			err := web.DecodeStrict([]byte(tc.in), &into)
			var invalid *node.Invalid
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tc.want != "" && (!errors.As(err, &invalid) || invalid.Text != tc.want):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
