package ironic_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cagenut/node"
)

// abilities are of the one BMC of a rack. refuses is what it answers to everything.
type abilities struct {
	drives   []node.VirtualDrive
	light    node.Indicator
	bios     map[string]any
	firmware []node.Firmware
	refuses  error
	done     []string // that it was told to do
}

func (a *abilities) do(format string, args ...any) error {
	if a.refuses == nil {
		a.done = append(a.done, fmt.Sprintf(format, args...))
	}
	return a.refuses
}

func (r *rack) VirtualMedia(ctx context.Context, ident string) ([]node.VirtualDrive, error) {
	if _, err := r.Node(ctx, ident); err != nil {
		return nil, err
	}
	return r.able.drives, r.able.refuses
}

func (r *rack) AttachVirtualMedia(_ context.Context, _ node.Actor, ident string, kind node.MediumKind, image string) error {
	return r.able.do("%s: insert %s %s", ident, kind, image)
}

func (r *rack) DetachVirtualMedia(_ context.Context, _ node.Actor, ident string, kinds []node.MediumKind) error {
	return r.able.do("%s: eject %v", ident, kinds)
}

func (r *rack) Indicator(context.Context, string) (node.Indicator, error) {
	return r.able.light, r.able.refuses
}

func (r *rack) SetIndicator(_ context.Context, _ node.Actor, ident string, to node.Indicator) error {
	return r.able.do("%s: light %s", ident, to)
}

func (r *rack) InjectNMI(_ context.Context, _ node.Actor, ident string) error {
	return r.able.do("%s: NMI", ident)
}

func (r *rack) BIOS(context.Context, string) (map[string]any, error) {
	return r.able.bios, r.able.refuses
}

func (r *rack) Firmware(context.Context, string) ([]node.Firmware, error) {
	return r.able.firmware, r.able.refuses
}

// askedOf is a request about a node, and what shall be answered to it.
type askedOf struct {
	name, method, path, version, body string
	status                            int
	want                              string // of an error the text, else a part of the answer
}

func (e askedOf) check(t *testing.T, base string) {
	t.Run(e.name, func(t *testing.T) {
		a := call(t, e.method, base+"/v1/nodes/"+e.path, e.version, e.body)
		switch {
		case a.status != e.status:
			t.Errorf("got %d %s", a.status, a.text)
		case e.status >= 400:
			if got := a.fault(t); got != e.want {
				t.Errorf("got %q", got)
			}
		case !strings.Contains(a.text, e.want) || (e.status == 204 && a.text != ""):
			t.Errorf("got %s", a.text)
		}
	})
}

// Contract.md §3.6.
func TestVirtualMedia(t *testing.T) {
	r := waiting()
	r.able.drives = []node.VirtualDrive{
		{ID: "1", Kinds: []node.MediumKind{node.MediumCD, node.MediumDisk}, Inserted: true, URL: "http://192.0.2.1/a.iso"}, {ID: "2", Kinds: []node.MediumKind{node.MediumFloppy}}, {ID: "3"},
	}
	base := serve(t, r)
	for _, e := range []askedOf{
		{"the drives", "GET", "n1/vmedia", "1.93", "", 200, `[{"image":"http://192.0.2.1/a.iso","inserted":true,"media_types":["CD","USBStick"]},{"image":null,"inserted":false,"media_types":["Floppy"]},{"image":null,"inserted":false,"media_types":[]}]`},
		{"of an unknown node", "GET", "nobody/vmedia", "1.93", "", 404, "Node nobody could not be found."},
		{"an image", "POST", "n1/vmedia", "1.89", `{"device_type":"cdrom","image_url":"https://192.0.2.1/a.iso"}`, 204, ""},
		{"an image that is got from its address", "POST", one + "/vmedia", "1.89", `{"device_type":"disk","image_url":"http://192.0.2.1/b","image_download_source":"http"}`, 204, ""},
		{"an image that this appliance should pass on", "POST", "n1/vmedia", "1.89", `{"device_type":"disk","image_url":"http://192.0.2.1/b","image_download_source":"local"}`, 400,
			"Invalid image_download_source local: here BMCs get images from image_url themselves, which is http"},
		{"a device that is none", "POST", "n1/vmedia", "1.89", `{"device_type":"tape","image_url":"http://192.0.2.1/a"}`, 400, "Invalid device type(s) tape (valid are disk, cdrom, floppy)"},
		{"no device", "POST", "n1/vmedia", "1.89", `{"image_url":"http://192.0.2.1/a"}`, 400, "Missing mandatory parameter: device_type"},
		{"no image", "POST", "n1/vmedia", "1.89", `{"device_type":"cdrom"}`, 400, "Missing mandatory parameter: image_url"},
		{"no body", "POST", "n1/vmedia", "1.89", "", 400, "Missing mandatory parameter: device_type"},
		{"an unknown key", "POST", "n1/vmedia", "1.89", `{"device_type":"cdrom","image_url":"http://192.0.2.1/a","insecure":true}`, 400, "Unexpected arguments: insecure"},
		{"another scheme, whose password is not repeated", "POST", "n1/vmedia", "1.89", `{"device_type":"cdrom","image_url":"ftp://me:secret@192.0.2.1/a"}`, 400,
			"Unsupported or missing URL scheme: image_url has to begin with http:// or https:// and a host"},
		{"no host", "POST", "n1/vmedia", "1.89", `{"device_type":"cdrom","image_url":"http:///a"}`, 400, "Unsupported or missing URL scheme: image_url has to begin with http:// or https:// and a host"},
		{"a number as an image", "POST", "n1/vmedia", "1.89", `{"device_type":"cdrom","image_url":7}`, 400, "Expected string for image_url"},
		{"empty some drives", "DELETE", "n1/vmedia?device_types=cdrom,floppy", "1.89", "", 204, ""},
		{"empty all drives", "DELETE", "n1/vmedia", "1.89", "", 204, ""},
		{"empty drives that are none", "DELETE", "n1/vmedia?device_types=cdrom,tape,drum", "1.89", "", 400, "Invalid device type(s) tape, drum (valid are disk, cdrom, floppy)"},
	} {
		e.check(t, base)
	}
	want := "[n1: insert cdrom https://192.0.2.1/a.iso " + one + ": insert disk http://192.0.2.1/b n1: eject [cdrom floppy] n1: eject []]"
	if got := fmt.Sprint(r.able.done); got != want {
		t.Errorf("done: %s", got)
	}
}

// Contract.md §3.6 and §1.4.
func TestIndicatorsAndInterrupts(t *testing.T) {
	r := waiting()
	r.able.light = node.IndicatorBlinking
	base := serve(t, r)
	for _, e := range []askedOf{
		{"the list, at any version", "GET", one + "/management/indicators", "1.1", "", 200,
			`{"indicators":[{"component":"system","links":[{"href":"` + base + `/v1/nodes/` + one + `/management/indicators/led@system","rel":"self"},{"href":"` + base + `/nodes/` + one + `/management/indicators/led@system","rel":"bookmark"}],"name":"led@system","readonly":false,"states":["blinking","off","on"]}]}`},
		{"one", "GET", "n1/management/indicators/led@system", "1.63", "", 200, `{"state":"blinking"}`},
		{"a name that is none", "GET", "n1/management/indicators/led", "1.63", "", 400, `Malformed indicator name "led"`},
		{"an unknown component", "GET", "n1/management/indicators/led@moon", "1.63", "", 400, "Invalid component moon specified."},
		{"an unknown light", "PUT", "n1/management/indicators/sun@system", "1.63", `{"state":"on"}`, 400, "Unknown indicator sun for component system of node " + one},
		{"on", "PUT", "n1/management/indicators/led@system", "1.63", `{"state":"on"}`, 204, ""},
		{"a state that is none", "PUT", "n1/management/indicators/led@system", "1.63", `{"state":"green"}`, 400, "Invalid indicator state green (valid are blinking, off, on)"},
		{"a state that cannot be wished for", "PUT", "n1/management/indicators/led@system", "1.63", `{"state":"unknown"}`, 400, "Invalid indicator state unknown (valid are blinking, off, on)"},
		{"no state", "PUT", "n1/management/indicators/led@system", "1.63", `{}`, 400, "Missing mandatory parameter: state"},
		{"an interrupt", "PUT", "n1/management/inject_nmi", "1.29", `{}`, 204, ""},
		{"an interrupt without a body", "PUT", "n1/management/inject_nmi", "1.29", "", 204, ""},
		{"an interrupt of a kind", "PUT", "n1/management/inject_nmi", "1.29", `{"kind":"x"}`, 400, "Unexpected arguments: kind"},
	} {
		e.check(t, base)
	}
	if got := fmt.Sprint(r.able.done); got != "["+one+": light on n1: NMI n1: NMI]" {
		t.Errorf("done: %s", got)
	}
}

// Contract.md §3.6.
func TestBIOSAndFirmware(t *testing.T) {
	r := waiting()
	r.able.bios = map[string]any{"BootMode": "Uefi", "Cores": int64(24), "Quiet": true, "Ratio": 1.5, "AdminPassword": nil}
	yes := true
	r.able.firmware = []node.Firmware{{Component: "BIOS", ID: "BIOS", Version: "2.1", Updateable: &yes}, {Component: "Manager", ID: "BMC", Version: "7.10"}, {ID: "NIC.1", Version: "22"}}
	base := serve(t, r)
	for _, e := range []askedOf{
		{"settings are texts, as Ironic keeps them", "GET", "n1/bios", "1.40", "", 200, `"name":"AdminPassword","updated_at":null,"value":null},{"`},
		{"a number", "GET", "n1/bios?fields=value", "1.74", "", 200, `"value":"24"},`},
		{"a boolean", "GET", "n1/bios", "1.40", "", 200, `"name":"Quiet","updated_at":null,"value":"True"}`},
		{"a fraction", "GET", "n1/bios", "1.40", "", 200, `"value":"1.5"}`},
		{"in detail", "GET", "n1/bios?detail=true", "1.74", "", 200, `"allowable_values":null,"attribute_type":null,`},
		{"in detail before that was there", "GET", "n1/bios?detail=true", "1.73", "", 406, "Request not acceptable. The minimal required API version should be 1.74"},
		{"both at once", "GET", "n1/bios?detail=true&fields=name", "1.74", "", 400, "Can't fetch a subset of fields with 'detail' set"},
		{"one", "GET", "n1/bios/BootMode", "1.40", "", 200, `"name":"BootMode","updated_at":null,"value":"Uefi"}}`},
		{"one, with all there is from 1.74 on", "GET", "n1/bios/BootMode", "1.74", "", 200, `"upper_bound":null,"value":"Uefi"}}`},
		{"one that is not there", "GET", "n1/bios/bootmode", "1.40", "", 404, "Node " + one + " doesn't have a BIOS setting 'bootmode'"},
		{"firmware", "GET", "n1/firmware", "1.86", "", 200, `"component":"bios","created_at":"`},
		{"firmware by what Ironic calls it", "GET", "n1/firmware?fields=component", "1.86", "", 200, `{"component":"bmc","created_at":"`},
		{"firmware that has no name but an ID", "GET", "n1/firmware", "1.86", "", 200, `"current_version":"22","initial_version":"22","last_version_flashed":null,"updated_at":null}]}`},
	} {
		e.check(t, base)
	}
	for _, path := range []string{"bios?fields=colour", "firmware?fields=colour"} {
		if a := call(t, "GET", base+"/v1/nodes/n1/"+path, "1.96", ""); a.status != 400 {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
	}
}

func TestABMCThatCannotOrDoesNotAnswer(t *testing.T) {
	r := waiting()
	base := serve(t, r)
	cannot := &node.Unsupported{Driver: "redfish", Extension: "that"}
	away := &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: errors.New("no answer")}
	for _, tc := range []struct {
		method, path, body string
		cannot             int
	}{
		{"GET", "vmedia", "", 400}, {"POST", "vmedia", `{"device_type":"cdrom","image_url":"http://192.0.2.1/a"}`, 400}, {"DELETE", "vmedia", "", 400},
		{"GET", "management/indicators", "", 200}, {"GET", "management/indicators/led@system", "", 400}, {"PUT", "management/indicators/led@system", `{"state":"off"}`, 400},
		{"PUT", "management/inject_nmi", "", 400}, {"GET", "bios", "", 400}, {"GET", "firmware", "", 400},
	} {
		for err, want := range map[error]int{cannot: tc.cannot, away: 504, node.ErrCredentials: 502, &node.Locked{Node: one, Holder: "rack1"}: 409} {
			r.able.refuses = err
			a := call(t, tc.method, base+"/v1/nodes/n1/"+tc.path, "1.96", tc.body)
			if a.status != want {
				t.Errorf("%s %s, %v: got %d %s", tc.method, tc.path, err, a.status, a.text)
			}
		}
	}
}
