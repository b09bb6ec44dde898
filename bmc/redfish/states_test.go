package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"cagenut/node"
)

func TestAShutdownThatHangsIsCutShort(t *testing.T) {
	power := "PoweringOff"
	o := &odd{docs: map[string]string{"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`}}
	show := func() {
		o.docs["/redfish/v1/Systems/1"] = `{"PowerState":"` + power + `",` + fmt.Sprintf(resettable, "", `"On","ForceOff","GracefulShutdown"`) + `}`
	}
	show()
	var sent []string
	status := http.StatusNoContent
	o.write = func(_ *http.Request, body map[string]any) int {
		kind, _ := body["ResetType"].(string)
		sent = append(sent, kind)
		return status
	}
	c := open(t, newDriver(t, quick()), o.node(t))
	if err := c.SetPower(t.Context(), node.ActionSoftOff); err != nil || len(sent) != 0 {
		t.Errorf("soft off while it shuts down: %v, sent %v; want nothing", err, sent)
	}
	if err := c.SetPower(t.Context(), node.ActionOff); err != nil || !slices.Equal(sent, []string{"ForceOff"}) {
		t.Errorf("off while it shuts down: %v, sent %v", err, sent)
	}
	status = http.StatusConflict // "on its way already" is success, too (G34)
	if err := c.SetPower(t.Context(), node.ActionOff); err != nil {
		t.Errorf("off that is refused while it shuts down: %v", err)
	}
	if p, err := c.Power(t.Context()); err != nil || p != node.PowerOn {
		t.Errorf("power %q, %v; want on until it is off", p, err)
	}
}

func TestASystemThatWasRenamedIsFoundAgainWithinTheCall(t *testing.T) {
	o := &odd{docs: map[string]string{
		"/redfish/v1/Systems":   `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`,
		"/redfish/v1/Systems/1": `{"PowerState":"On"}`,
	}}
	c := open(t, newDriver(t, quick()), o.node(t))
	if _, err := c.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	delete(o.docs, "/redfish/v1/Systems/1")
	o.docs["/redfish/v1/Systems"] = `{"Members":[{"@odata.id":"/redfish/v1/Systems/Self"}]}`
	o.docs["/redfish/v1/Systems/Self"] = `{"PowerState":"Off"}`
	if p, err := c.Power(t.Context()); err != nil || p != node.PowerOff {
		t.Errorf("%q, %v", p, err)
	}
}

func TestAPersistentOverrideThatTheBMCKeepsForOneBootOnlyIsAnError(t *testing.T) { // quirk 11
	o := &odd{docs: map[string]string{
		"/redfish/v1/Systems":   `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`,
		"/redfish/v1/Systems/1": `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"Once"}}`,
	}}
	o.write = func(*http.Request, map[string]any) int { return http.StatusOK }
	c := open(t, newDriver(t, quick()), o.node(t))
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootDisk, Persistent: true}); err == nil {
		t.Error("no error")
	}
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootDisk}); err != nil {
		t.Errorf("once: %v", err)
	}
}
