package redfish_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/node"
)

// slot is a virtual drive of a BMC made by hand.
type slot struct {
	types   string // MediaTypes as JSON; "" is that it says nothing
	image   string
	in      bool
	actions string // "both", "insert", "none"
	stale   int    // how often it still shows the old image after an ejection
	applet  bool

	staleImage string
}

// tray is a BMC with drives at one place, which takes whatever refuse does not refuse.
type tray struct {
	*peer
	slots map[string]*slot
	// refuse says how a write is answered: 0 is as it should be, with the answer's body for a refusal.
	refuse func(method, id string, body map[string]any) (int, string)
}

func newTray(place string, slots map[string]*slot) *tray {
	system, manager := to("VirtualMedia", "/VM"), ""
	if place == "manager" {
		system, manager = "", system
	}
	tr := &tray{peer: newPeer(system, manager, ""), slots: slots}
	tr.get = func(_ http.ResponseWriter, r *http.Request) bool {
		tr.show(strings.TrimPrefix(r.URL.Path, "/redfish/v1/VM/"))
		return false
	}
	tr.act = tr.carryOut
	var paths []string
	for _, id := range slices.Sorted(maps.Keys(slots)) {
		paths = append(paths, "/VM/"+id)
		tr.show(id)
	}
	tr.docs["/VM"] = links(paths...)
	return tr
}

func (tr *tray) show(id string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	s := tr.slots[id]
	if s == nil {
		return
	}
	in, image := s.in, s.image
	if s.stale > 0 {
		s.stale--
		in, image = true, s.staleImage
	}
	doc := map[string]any{"@odata.id": "/redfish/v1/VM/" + id, "@odata.etag": `"e"`, "Id": id, "Inserted": in, "Image": image, "ConnectedVia": "NotConnected"}
	if s.types != "" {
		doc["MediaTypes"] = json.RawMessage(s.types)
	}
	if s.applet {
		doc["ConnectedVia"] = "Applet"
	}
	actions := map[string]any{}
	if s.actions != "none" {
		actions["#VirtualMedia.InsertMedia"] = map[string]string{"target": "/redfish/v1/insert/" + id}
	}
	if s.actions == "both" {
		actions["#VirtualMedia.EjectMedia"] = map[string]string{"target": "/redfish/v1/eject/" + id}
	}
	doc["Actions"] = actions
	b, _ := json.Marshal(doc)
	tr.docs["/VM/"+id] = string(b)
}

func (tr *tray) carryOut(w http.ResponseWriter, r *http.Request, body map[string]any) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	what, id := parts[2], parts[3]
	s := tr.slots[id]
	if tr.refuse != nil {
		if status, said := tr.refuse(r.Method, what+" "+id, body); status != 0 {
			if status == http.StatusAccepted {
				w.Header().Set("Location", "/redfish/v1/Tasks/1")
				s.in, s.image = true, fmt.Sprint(body["Image"])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(said))
			return
		}
	}
	image, isText := body["Image"].(string)
	switch {
	case what == "eject" || !isText:
		s.staleImage = s.image
		s.in, s.image = false, ""
	default:
		s.in, s.image = true, image
	}
	w.WriteHeader(http.StatusNoContent)
}

const (
	cd    = `["CD","DVD"]`
	usb   = `["USBStick"]`
	all   = `["CD","DVD","Floppy","USBStick"]`
	image = "http://192.0.2.9/boot.iso"
)

func refusal(text string) string {
	return fmt.Sprintf(`{"error":{"code":"Base.1.8.GeneralError","message":"x","@Message.ExtendedInfo":[{"MessageId":"Base.1.8.X","Message":%q}]}}`, text)
}

func TestAnImageIsInserted(t *testing.T) { // quirks 23 to 29, G35
	ok := func(string, string, map[string]any) (int, string) { return 0, "" }
	both := func(types string) *slot { return &slot{types: types, actions: "both"} }
	full := `{"Image":"` + image + `","Inserted":true,"WriteProtected":true}`
	for name, c := range map[string]struct {
		place  string
		slots  map[string]*slot
		refuse func(method, where string, body map[string]any) (int, string)
		medium node.Medium
		sent   []string
		in     string // where it is afterwards
	}{
		"into the drive of its kind":  {"system", map[string]*slot{"1": both(usb), "2": both(cd)}, ok, node.Medium{}, []string{"POST /insert/2 " + full}, "2"},
		"into a manager's drive (29)": {"manager", map[string]*slot{"CD": both(`["DVD"]`)}, ok, node.Medium{}, []string{"POST /insert/CD " + full}, "CD"},
		"it is there already":         {"system", map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}}, ok, node.Medium{}, nil, "1"},
		"another image is ejected first (G35)": {"system", map[string]*slot{"1": {types: cd, actions: "both", in: true, image: "http://x/old.iso"}}, ok, node.Medium{},
			[]string{"POST /eject/1 {}", "POST /insert/1 " + full}, "1"},
		"media types are missing, the name tells": {"manager", map[string]*slot{"CD1": both(""), "HD1": both("")}, ok, node.Medium{}, []string{"POST /insert/CD1 " + full}, "CD1"},
		"neither types nor name tell anything":    {"manager", map[string]*slot{"1": both("[]")}, ok, node.Medium{}, []string{"POST /insert/1 " + full}, "1"},
		"the BMC takes Image alone (24)": {"system", map[string]*slot{"1": both(cd)}, func(_, _ string, body map[string]any) (int, string) {
			if len(body) > 1 {
				return 400, refusal("The property Inserted is not in the list.")
			}
			return 0, ""
		}, node.Medium{}, []string{"POST /insert/1 " + full, `POST /insert/1 {"Image":"` + image + `","Inserted":true}`, `POST /insert/1 {"Image":"` + image + `"}`}, "1"},
		"it demands to be told the protocol (25)": {"system", map[string]*slot{"1": both(cd)}, func(_, _ string, body map[string]any) (int, string) {
			if body["TransferProtocolType"] != "HTTP" {
				return 400, refusal("The action requires the parameter TransferProtocolType to be present.")
			}
			return 0, ""
		}, node.Medium{}, []string{"POST /insert/1 " + full, `POST /insert/1 {"Image":"` + image + `","Inserted":true,"TransferProtocolType":"HTTP","WriteProtected":true}`}, "1"},
		"it demands a user, whoever he is (25)": {"system", map[string]*slot{"1": both(cd)}, func(_, _ string, body map[string]any) (int, string) {
			if body["UserName"] == nil {
				return 400, refusal("UserName and Password are required.")
			}
			return 0, ""
		}, node.Medium{}, []string{"POST /insert/1 " + full, `POST /insert/1 {"Image":"` + image + `","Inserted":true,"Password":"none","UserName":"none","WriteProtected":true}`}, "1"},
		"with the user of the image's server": {"system", map[string]*slot{"1": both(cd)}, ok, node.Medium{User: "u", Password: "p"},
			[]string{`POST /insert/1 {"Image":"` + image + `","Inserted":true,"Password":"p","UserName":"u","WriteProtected":true}`}, "1"},
		"drives without actions are written to; the first is the console's (23)": {"manager", map[string]*slot{"1": {types: all, actions: "none"}, "2": {types: all, actions: "none"}}, func(_, where string, _ map[string]any) (int, string) {
			if where == "VM 1" {
				return 405, refusal("no")
			}
			return 0, ""
		}, node.Medium{}, []string{"PATCH /VM/1 " + full, `PATCH /VM/1 {"Image":"` + image + `","Inserted":true}`, `PATCH /VM/1 {"Image":"` + image + `"}`, "PATCH /VM/2 " + full}, "2"},
		"it becomes a task (37)": {"system", map[string]*slot{"1": both(cd)}, func(_, _ string, _ map[string]any) (int, string) { return 202, "" }, node.Medium{}, []string{"POST /insert/1 " + full}, "1"},
		"another kind's image is left alone": {"system", map[string]*slot{"1": {types: all, actions: "both", in: true, image: "http://x/config.img"}, "2": both(all)}, ok, node.Medium{},
			[]string{"POST /insert/2 " + full}, "2"},
		"the console's medium is not ours to eject": {"system", map[string]*slot{"1": {types: cd, actions: "both", in: true, image: "local.iso", applet: true}, "2": both(cd)}, func(_, where string, _ map[string]any) (int, string) {
			if where == "eject 1" {
				return 400, refusal("in use")
			}
			return 0, ""
		}, node.Medium{}, []string{"POST /eject/1 {}", "POST /insert/2 " + full}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTray(c.place, c.slots)
			tr.refuse = c.refuse
			tr.docs["/Tasks/1"] = `{"TaskState":"Completed"}`
			c.medium.Kind, c.medium.URL = node.MediumCD, image
			if err := putIn(t.Context(), tr.client(t, patient()), c.medium); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(tr.writes(), c.sent) {
				t.Errorf("sent %q\nwant %q", tr.writes(), c.sent)
			}
			if s := tr.slots[c.in]; !s.in || s.image != image {
				t.Errorf("drive %s: %+v", c.in, s)
			}
		})
	}
}

// putIn begins an insertion and looks until the image is in.
func putIn(ctx context.Context, c bmc.Media, m node.Medium) error {
	task, err := c.BeginInsert(ctx, m)
	if err != nil {
		return err
	}
	for end := time.Now().Add(10 * time.Second); ; {
		in, err := c.Inserted(ctx, m, task)
		switch {
		case in || err != nil:
			return err
		case time.Now().After(end):
			return errors.New("accepted, and not in after 10 s")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestInsertingWaitsAndIsRepeatedOnlyAfterALook(t *testing.T) { // quirk 27, G34, G35
	t.Run("the old image is still shown after the ejection", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both", in: true, image: "http://x/old.iso"}})
		tr.refuse = func(_, where string, _ map[string]any) (int, string) {
			if where == "eject 1" {
				tr.slots["1"].stale = 5
			}
			if where == "insert 1" && tr.slots["1"].stale > 0 {
				t.Error("inserted while the drive still shows the old image")
			}
			return 0, ""
		}
		if err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image}); err != nil || tr.slots["1"].image != image {
			t.Errorf("%v, %+v", err, tr.slots["1"])
		}
	})
	t.Run("the BMC fails right after the ejection, then does it", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		left := 2
		tr.refuse = func(string, string, map[string]any) (int, string) {
			if left--; left >= 0 {
				return 500, refusal("internal")
			}
			return 0, ""
		}
		if err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image}); err != nil || len(tr.writes()) != 3 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("the BMC says no and has done it", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		tr.refuse = func(_, _ string, body map[string]any) (int, string) {
			tr.slots["1"].in, tr.slots["1"].image = true, fmt.Sprint(body["Image"])
			return 500, refusal("internal")
		}
		if err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image}); err != nil || len(tr.writes()) != 1 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("the task fails, with its reason", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		tr.docs["/Tasks/1"] = `{"TaskState":"Exception","Messages":[{"Message":"The share cannot be reached."}]}`
		tr.refuse = func(string, string, map[string]any) (int, string) {
			return 202, ""
		}
		tr.get = func(http.ResponseWriter, *http.Request) bool { return false } // shows nothing inserted
		err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image})
		if !errors.As(err, new(*node.Unreachable)) || !strings.Contains(err.Error(), "cannot be reached") || len(tr.writes()) != 1 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("it is accepted and never shown", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		tr.get = func(http.ResponseWriter, *http.Request) bool { return false }
		c, medium := tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image}
		task, err := c.BeginInsert(t.Context(), medium)
		if in, lookErr := c.Inserted(t.Context(), medium, task); in || err != nil || lookErr != nil || len(tr.writes()) != 1 {
			t.Errorf("%v, %v, %v, sent %v", in, err, lookErr, tr.writes())
		}
	})
	t.Run("there is no drive for it", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: usb, actions: "both"}})
		err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image})
		if !errors.As(err, new(*node.Unsupported)) || len(tr.writes()) != 0 {
			t.Errorf("%v, sent %v", err, tr.writes())
		}
	})
	t.Run("a password that the BMC echoes is masked", func(t *testing.T) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		tr.refuse = func(string, string, map[string]any) (int, string) {
			return 400, refusal("The value 'not-for-logs' is odd.")
		}
		err := putIn(t.Context(), tr.client(t, patient()), node.Medium{Kind: node.MediumCD, URL: image, User: "u", Password: "not-for-logs"})
		if err == nil || strings.Contains(err.Error(), "not-for-logs") || !strings.Contains(err.Error(), "******") {
			t.Errorf("%v", err)
		}
	})
}

func TestDrivesAreEmptied(t *testing.T) { // quirks 23, 26, 27, 30, G35
	for name, c := range map[string]struct {
		slots  map[string]*slot
		refuse func(method, where string, body map[string]any) (int, string)
		kind   node.MediumKind
		sent   []string
		good   bool
	}{
		"an empty drive is no error, and is not touched (26)": {map[string]*slot{"1": {types: cd, actions: "both"}}, nil, node.MediumCD, nil, true},
		"Image stays although nothing is inserted (30)":       {map[string]*slot{"1": {types: cd, actions: "both", image: "None"}, "2": {types: cd, actions: "both", image: "http://x/old.iso"}}, nil, "", nil, true},
		"with a body (26)": {map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}}, nil, "", []string{"POST /eject/1 {}"}, true},
		"only those of the kind": {map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}, "2": {types: usb, actions: "both", in: true, image: "x"},
			"3": {types: all, actions: "both", in: true, image: "http://x/a.img?t=1"}}, nil, node.MediumCD, []string{"POST /eject/1 {}"}, true},
		"all of them": {map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}, "2": {types: usb, actions: "both", in: true, image: "x"}}, nil, "",
			[]string{"POST /eject/1 {}", "POST /eject/2 {}"}, true},
		"a drive without the action is written to (23)": {map[string]*slot{"1": {types: all, actions: "insert", in: true, image: image}}, nil, "", []string{`PATCH /VM/1 {"Image":null,"Inserted":false}`}, true},
		"which may take less": {map[string]*slot{"1": {types: all, actions: "none", in: true, image: image}}, func(_, _ string, body map[string]any) (int, string) {
			if len(body) > 1 {
				return 400, refusal("Inserted cannot be written.")
			}
			return 0, ""
		}, "", []string{`PATCH /VM/1 {"Image":null,"Inserted":false}`, `PATCH /VM/1 {"Image":null}`}, true},
		"an error although it is empty then (26)": {map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}}, nil, "", []string{"POST /eject/1 {}"}, true},
		"a refusal is told, and the others are emptied all the same": {map[string]*slot{"1": {types: cd, actions: "both", in: true, image: image}, "2": {types: cd, actions: "both", in: true, image: image}}, func(_, where string, _ map[string]any) (int, string) {
			if where == "eject 1" {
				return 400, refusal("in use")
			}
			return 0, ""
		}, "", []string{"POST /eject/1 {}", "POST /eject/2 {}"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTray("system", c.slots)
			tr.refuse = c.refuse
			if strings.HasPrefix(name, "an error although") {
				tr.refuse = func(string, string, map[string]any) (int, string) {
					tr.slots["1"].in = false
					return 400, refusal("There is no media.")
				}
			}
			err := tr.client(t, patient()).Eject(t.Context(), c.kind)
			if (err == nil) != c.good || !slices.Equal(tr.writes(), c.sent) {
				t.Errorf("%v, sent %q\nwant %q", err, tr.writes(), c.sent)
			}
		})
	}
}

func TestDrivesAreListedOnce(t *testing.T) { // quirk 29
	tr := newTray("system", map[string]*slot{"1": {types: all, actions: "both", in: true, image: image}, "Virtual Floppy": {actions: "both"}, "X": {actions: "both"}})
	tr.docs["/Managers/1"] = "{" + to("VirtualMedia", "/VM") + "}"
	got, err := tr.client(t, patient()).Drives(t.Context())
	want := []node.VirtualDrive{
		{ID: "1", Kinds: []node.MediumKind{"cdrom", "floppy", "disk"}, Inserted: true, URL: image}, {ID: "Virtual Floppy", Kinds: []node.MediumKind{"floppy"}}, {ID: "X"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}
