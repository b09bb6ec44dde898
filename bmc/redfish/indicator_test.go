package redfish_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cagenut/node"
)

func TestTheIndicatorIsReadAndSwitched(t *testing.T) {
	for name, c := range map[string]struct {
		system, chassis string
		now             node.Indicator
		on, blinking    string // what is sent; "" where that is unsupported
	}{
		"the older property":       {`"IndicatorLED":"Blinking"`, "", "blinking", `PATCH /Systems/1 {"IndicatorLED":"Lit"}`, `PATCH /Systems/1 {"IndicatorLED":"Blinking"}`},
		"the newer one":            {`"LocationIndicatorActive":true`, "", "on", `PATCH /Systems/1 {"LocationIndicatorActive":true}`, ""},
		"both":                     {`"LocationIndicatorActive":false,"IndicatorLED":"Off"`, "", "off", `PATCH /Systems/1 {"IndicatorLED":"Lit"}`, `PATCH /Systems/1 {"IndicatorLED":"Blinking"}`},
		"both, one of them null":   {`"LocationIndicatorActive":null,"IndicatorLED":"Lit"`, "", "on", `PATCH /Systems/1 {"IndicatorLED":"Lit"}`, `PATCH /Systems/1 {"IndicatorLED":"Blinking"}`},
		"the chassis has it":       {`"IndicatorLED":null`, `"IndicatorLED":"Off"`, "off", `PATCH /Chassis/1 {"IndicatorLED":"Lit"}`, `PATCH /Chassis/1 {"IndicatorLED":"Blinking"}`},
		"the BMC does not know it": {`"IndicatorLED":"Unknown"`, "", "unknown", `PATCH /Systems/1 {"IndicatorLED":"Lit"}`, `PATCH /Systems/1 {"IndicatorLED":"Blinking"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(c.system, "", c.chassis)
			p.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) { w.WriteHeader(http.StatusNoContent) }
			client := p.client(t, patient())
			if now, err := client.Indicator(t.Context()); err != nil || now != c.now {
				t.Errorf("%q, %v; want %q", now, err, c.now)
			}
			for to, want := range map[node.Indicator]string{node.IndicatorOn: c.on, node.IndicatorBlinking: c.blinking} {
				p.forget()
				err := client.SetIndicator(t.Context(), to)
				if want == "" {
					if !errors.As(err, new(*node.Unsupported)) || len(p.writes()) > 0 {
						t.Errorf("%s: %v, sent %v; want *node.Unsupported", to, err, p.writes())
					}
					continue
				}
				if err != nil || !slices.Equal(p.writes(), []string{want}) {
					t.Errorf("%s: %v, sent %v; want %s", to, err, p.writes(), want)
				}
			}
			p.forget()
			if err := client.SetIndicator(t.Context(), node.IndicatorUnknown); !errors.As(err, new(*node.Invalid)) || len(p.writes()) > 0 {
				t.Errorf("unknown: %v, sent %v; want *node.Invalid", err, p.writes())
			}
		})
	}
}

func TestAPropertyThatIsRefusedIsFollowedByTheNewerOne(t *testing.T) {
	p := newPeer(`"LocationIndicatorActive":false,"IndicatorLED":"Off"`, "", "")
	p.act = func(w http.ResponseWriter, _ *http.Request, body map[string]any) {
		if body["IndicatorLED"] != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	if err := p.client(t, patient()).SetIndicator(t.Context(), node.IndicatorOn); err != nil || len(p.writes()) != 2 || !strings.Contains(p.writes()[1], `"LocationIndicatorActive":true`) {
		t.Errorf("%v, sent %v", err, p.writes())
	}
}

func TestTheServerIsInterruptedOnce(t *testing.T) {
	reset := `"PowerState":%q,"Actions":{"#ComputerSystem.Reset":{"target":"/redfish/v1/reset"%s}}`
	for name, c := range map[string]struct {
		system string
		status int
		sent   int
		kind   any // pointer to the error's type; nil is none
	}{
		"the BMC lists it":                          {fmt.Sprintf(reset, "On", `,"ResetType@Redfish.AllowableValues":["On","Nmi"]`), 204, 1, nil},
		"it lists others":                           {fmt.Sprintf(reset, "On", `,"ResetType@Redfish.AllowableValues":["On"]`), 204, 0, new(*node.Unsupported)},
		"it lists nothing and does it":              {fmt.Sprintf(reset, "On", ""), 200, 1, nil},
		"it lists nothing and refuses":              {fmt.Sprintf(reset, "On", ""), 400, 1, new(*node.Unsupported)},
		"there is no reset":                         {`"PowerState":"On"`, 204, 0, new(*node.Unsupported)},
		"the server is off":                         {fmt.Sprintf(reset, "Off", `,"ResetType@Redfish.AllowableValues":["Nmi"]`), 204, 0, new(*node.Conflict)},
		"a busy BMC is not asked again":             {fmt.Sprintf(reset, "On", `,"ResetType@Redfish.AllowableValues":["Nmi"]`), 503, 1, new(*node.Unreachable)},
		"a BMC that fails at it is not asked again": {fmt.Sprintf(reset, "On", `,"ResetType@Redfish.AllowableValues":["Nmi"]`), 500, 1, new(*node.Unreachable)},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(c.system, "", "")
			p.act = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) { w.WriteHeader(c.status) }
			err := p.client(t, patient()).InjectNMI(t.Context())
			if (c.kind == nil) != (err == nil) || (c.kind != nil && !errors.As(err, c.kind)) || len(p.writes()) != c.sent {
				t.Errorf("%v, sent %v; want %T, %d", err, p.writes(), c.kind, c.sent)
			}
			if c.sent > 0 && p.writes()[0] != `POST /reset {"ResetType":"Nmi"}` {
				t.Errorf("sent %v", p.writes())
			}
		})
	}
}
