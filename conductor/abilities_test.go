package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// ableBMC is a BMC with all abilities, except those that it is told to lack.
type ableBMC struct {
	conductor.BMC
	lacks map[string]bool
	says  error    // answers what it does not lack
	done  []string // that it was told to do
	asked int

	task    string // what it calls the insertion of a medium
	looks   int    // how many looks that takes
	failure error  // what comes of it
}

func (b *ableBMC) answer(what string) error {
	b.asked++
	if b.lacks[what] {
		return &node.Unsupported{Driver: node.DriverRedfish, Extension: what}
	}
	return b.says
}

func (b *ableBMC) do(what, how string) error {
	err := b.answer(what)
	if err == nil {
		b.done = append(b.done, strings.TrimSpace(what+" "+how))
	}
	return err
}

func (b *ableBMC) Drives(context.Context) ([]node.VirtualDrive, error) {
	return []node.VirtualDrive{{ID: "1", Inserted: true, URL: "http://me:hidden@192.0.2.1/a.iso?sig=hidden#hidden"}, {ID: "2"}, {ID: "3", URL: "http://[hidden"}}, b.answer("drives")
}

func (b *ableBMC) BeginInsert(_ context.Context, m node.Medium) (string, error) {
	return b.task, b.do("insert", fmt.Sprint(m.Kind, " ", m.URL, " ", m.User, " ", string(m.Password)))
}

func (b *ableBMC) Inserted(_ context.Context, _ node.Medium, task string) (bool, error) {
	if task != b.task {
		return false, errors.New("another task")
	}
	b.looks--
	return b.looks < 0, b.failure
}

func (b *ableBMC) Eject(_ context.Context, kind node.MediumKind) error {
	return b.do("eject", string(kind))
}

func (b *ableBMC) Indicator(context.Context) (node.Indicator, error) {
	return node.IndicatorOn, b.answer("light")
}

func (b *ableBMC) SetIndicator(_ context.Context, to node.Indicator) error {
	return b.do("light", string(to))
}

func (b *ableBMC) InjectNMI(context.Context) error { return b.do("nmi", "") }

func (b *ableBMC) Health(context.Context) (node.HealthReport, error) {
	return node.HealthReport{Overall: node.HealthOK}, b.answer("health")
}

func (b *ableBMC) Sensors(context.Context) ([]node.Sensor, error) {
	if err := b.answer("sensors"); err != nil {
		return nil, err
	}
	return []node.Sensor{{Name: "Inlet"}}, nil
}

func (b *ableBMC) Events(_ context.Context, limit int) ([]node.LogEntry, error) {
	return make([]node.LogEntry, limit), b.answer("log")
}

func (b *ableBMC) ClearLog(context.Context) error { return b.do("clear", "") }

func (b *ableBMC) Identity(context.Context) (node.BMCIdentity, error) {
	return node.BMCIdentity{Model: "BMC 4"}, b.answer("identity")
}

func (b *ableBMC) Firmware(context.Context) ([]node.Firmware, error) {
	return []node.Firmware{{Component: "BIOS"}}, b.answer("firmware")
}

func (b *ableBMC) BIOS(context.Context) (map[string]any, error) {
	return map[string]any{"NumLock": "On"}, b.answer("bios")
}

// ableRack gives all nodes the same BMC.
type ableRack struct {
	*rack
	bmc *ableBMC
}

func (r ableRack) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return r.rack.Do(ctx, n, func(b conductor.BMC) error {
		r.bmc.BMC = b
		return fn(r.bmc)
	})
}

// ableWorld has one node whose BMC lacks what is named.
func ableWorld(t *testing.T, lacks ...string) (*world, *ableBMC, node.Node) {
	t.Helper()
	w, b := newWorld(t, conductor.Settings{}), &ableBMC{lacks: map[string]bool{}}
	for _, what := range lacks {
		b.lacks[what] = true
	}
	w.BMCs = ableRack{w.rack, b}
	n, err := w.CreateNode(t.Context(), operator, node.Node{Driver: node.DriverRedfish, ProvisionState: node.Manageable, DriverInfo: map[string]any{"redfish_address": "http://192.0.2.10"}})
	if err != nil {
		t.Fatal(err)
	}
	return w, b, n
}

func TestWhatABMCIsToldIsDoneAndAudited(t *testing.T) {
	for name, tc := range map[string]struct {
		tell         func(w *world, uuid string) error
		done, action string
	}{
		"an image": {func(w *world, uuid string) error {
			return w.AttachVirtualMedia(t.Context(), operator, uuid, node.MediumCD, "http://me:hidden@192.0.2.1/a.iso?sig=hidden")
		}, "[insert cdrom http://192.0.2.1/a.iso?sig=hidden me hidden]", "attach virtual media cdrom http://192.0.2.1/a.iso"},
		"all drives": {func(w *world, uuid string) error {
			return w.DetachVirtualMedia(t.Context(), operator, uuid, nil)
		}, "[eject]", "detach virtual media"},
		"some drives": {func(w *world, uuid string) error {
			return w.DetachVirtualMedia(t.Context(), operator, uuid, []node.MediumKind{node.MediumCD, node.MediumFloppy})
		}, "[eject cdrom eject floppy]", "detach virtual media cdrom floppy"},
		"the light": {func(w *world, uuid string) error {
			return w.SetIndicator(t.Context(), operator, uuid, node.IndicatorBlinking)
		}, "[light blinking]", "indicator blinking"},
		"an interrupt": {func(w *world, uuid string) error {
			return w.InjectNMI(t.Context(), operator, uuid)
		}, "[nmi]", "inject NMI"},
		"to empty its log": {func(w *world, uuid string) error {
			return w.ClearEventLog(t.Context(), operator, uuid)
		}, "[clear]", "clear event log"},
	} {
		t.Run(name, func(t *testing.T) {
			w, b, n := ableWorld(t)
			if err := tc.tell(w, n.UUID); err != nil || fmt.Sprint(b.done) != tc.done {
				t.Errorf("done %v, %v", b.done, err)
			}
			if a := w.lastAudit(n); a.Action != tc.action || a.Result != "accepted" || a.Actor.User != operator.User {
				t.Errorf("audited: %+v", a)
			}
			b.done, b.says = nil, &node.Conflict{Text: "The server is off, says sig=hidden."}
			if err := tc.tell(w, n.UUID); !errors.As(err, new(*node.Conflict)) {
				t.Errorf("a conflict became %v", err)
			}
			if a := w.lastAudit(n); a.Action != tc.action || !strings.Contains(a.Result, "The server is off") {
				t.Errorf("audited: %+v", a)
			}
			if err := tc.tell(w, "nobody"); !errors.As(err, new(*node.NotFound)) {
				t.Errorf("of an unknown node: %v", err)
			}
		})
	}
}

func TestSecretsOfAnImageAddressStayOutOfErrors(t *testing.T) {
	w, b, n := ableWorld(t)
	for name, says := range map[string]error{
		"a conflict": &node.Conflict{Text: "busy with ?sig=hidden"},
		"a time-out": &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: errors.New("no answer about ?sig=hidden")},
		"a refusal":  &node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("cannot fetch http://192.0.2.1/a.iso?sig=hidden")},
		"anything":   errors.New("sig=hidden"),
	} {
		b.says = says
		err := w.AttachVirtualMedia(t.Context(), operator, n.UUID, node.MediumCD, "http://192.0.2.1/a.iso?sig=hidden")
		if err == nil || strings.Contains(err.Error(), "hidden") || strings.Contains(w.lastAudit(n).Result, "hidden") {
			t.Errorf("%s: %v", name, err)
		}
		dead := (*node.Unreachable)(nil)
		if late := errors.As(err, &dead) && dead.Timeout; late != (name == "a time-out") {
			t.Errorf("%s became %#v", name, err)
		}
	}
	for _, address := range []string{"ftp://hidden@192.0.2.1/a", "http://", "http://%zz:hidden@x/", "", "hidden"} {
		err := w.AttachVirtualMedia(t.Context(), operator, n.UUID, node.MediumCD, address)
		if !errors.As(err, new(*node.Invalid)) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", address, err)
		}
	}
	b.says = nil
	drives, err := w.VirtualMedia(t.Context(), n.UUID)
	if err != nil || drives[0].URL != "http://192.0.2.1/a.iso" || drives[1].URL != "" || drives[2].URL != "" {
		t.Errorf("shown are %+v, %v", drives, err)
	}
}

// Only what changes something waits for the node.
func TestAHeldNodesBMCIsAskedAndToldNothing(t *testing.T) {
	w, b, n := ableWorld(t)
	if _, err := w.store.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Hold: "job", Host: "rack-7", Actor: operator, At: w.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"insert": w.AttachVirtualMedia(t.Context(), operator, n.UUID, node.MediumCD, "http://192.0.2.1/a.iso"), "eject": w.DetachVirtualMedia(t.Context(), operator, n.UUID, nil),
		"light": w.SetIndicator(t.Context(), operator, n.UUID, node.IndicatorOff), "nmi": w.InjectNMI(t.Context(), operator, n.UUID),
		"clear": w.ClearEventLog(t.Context(), operator, n.UUID),
	} {
		if !errors.As(err, new(*node.Locked)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b.asked != 0 {
		t.Errorf("the BMC was asked %d times", b.asked)
	}
	if light, err := w.Indicator(t.Context(), n.UUID); err != nil || light != node.IndicatorOn {
		t.Errorf("the light is %q, %v", light, err)
	}
}

func TestAConditionNamesWhatABMCCannotTell(t *testing.T) {
	w, b, n := ableWorld(t, "sensors")
	got, err := w.Condition(t.Context(), n.UUID, 3)
	want := conductor.Condition{Health: node.HealthReport{Overall: node.HealthOK}, Log: make([]node.LogEntry, 3), Unsupported: []string{"sensors"}}
	if err != nil || !reflect.DeepEqual(got, want) || !got.Lacks("sensors") || got.Lacks("log") {
		t.Errorf("got %+v, %v", got, err)
	}
	b.says = &node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("reset")}
	if _, err := w.Condition(t.Context(), n.UUID, 3); !errors.As(err, new(*node.Unreachable)) {
		t.Errorf("of a BMC that does not answer: %v", err)
	}
	w.BMCs = w.rack // whose BMCs have no abilities at all
	if got, err := w.Condition(t.Context(), n.UUID, 3); err != nil || len(got.Unsupported) != 3 {
		t.Errorf("of a BMC without abilities: %+v, %v", got, err)
	}
	if err := w.InjectNMI(t.Context(), operator, n.UUID); err == nil || err.Error() != "Driver redfish does not support inject_nmi (disabled or not implemented)." {
		t.Errorf("an interrupt: %v", err)
	}
}

func TestABMCTellsWhatItIs(t *testing.T) {
	w, b, n := ableWorld(t)
	if id, err := w.Identity(t.Context(), n.UUID); err != nil || id.Model != "BMC 4" {
		t.Errorf("it is %+v, %v", id, err)
	}
	b.lacks["identity"] = true
	if _, err := w.Identity(t.Context(), n.UUID); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("of a BMC that does not tell: %v", err)
	}
}

// An interface that reads nothing has nothing to tell, and nobody is asked; one whose BMC lacks it neither.
func TestSettingsAndFirmwareAreReadByTheirInterfaces(t *testing.T) {
	for name, tc := range map[string]struct {
		interfaces node.Interfaces
		lacks      []string
		found      int
		asked      int
	}{
		"redfish":                     {node.Interfaces{BIOS: "redfish", Firmware: "redfish"}, nil, 1, 2},
		"redfish, without the answer": {node.Interfaces{BIOS: "redfish", Firmware: "redfish"}, []string{"bios", "firmware"}, 0, 2},
		"none":                        {node.Interfaces{BIOS: "no-bios", Firmware: "no-firmware"}, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, b, _ := ableWorld(t, tc.lacks...)
			n, err := w.CreateNode(t.Context(), operator, node.Node{Driver: node.DriverRedfish, Interfaces: tc.interfaces, DriverInfo: map[string]any{"redfish_address": "http://192.0.2.11"}})
			if err != nil {
				t.Fatal(err)
			}
			settings, err := w.BIOS(t.Context(), n.UUID)
			versions, err2 := w.Firmware(t.Context(), n.UUID)
			if b.asked != tc.asked || err != nil || err2 != nil || len(versions) != tc.found || len(settings) != tc.found {
				t.Errorf("%v, %v after %d questions: %v, %v", settings, versions, b.asked, err, err2)
			}
		})
	}
}
