package redfish_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cagenut/bmc"
	"cagenut/node"
)

func TestAnInsertionIsBegunAndLookedAtLater(t *testing.T) {
	const full = `POST /insert/1 {"Image":"` + image + `","Inserted":true,"WriteProtected":true}`
	medium := node.Medium{Kind: node.MediumCD, URL: image}
	begin := func(t *testing.T, refuse func(tr *tray) (int, string)) (*tray, bmc.Abilities, string, error) {
		tr := newTray("system", map[string]*slot{"1": {types: cd, actions: "both"}})
		tr.refuse = func(string, string, map[string]any) (int, string) { return refuse(tr) }
		c := tr.client(t, patient())
		task, err := c.BeginInsert(t.Context(), medium)
		return tr, c, task, err
	}
	t.Run("the BMC does it at once", func(t *testing.T) {
		tr, c, task, err := begin(t, func(*tray) (int, string) { return 0, "" })
		if err != nil || task != "" || !slices.Equal(tr.writes(), []string{full}) {
			t.Fatalf("%q, %v, sent %v", task, err, tr.writes())
		}
		if in, err := c.Inserted(t.Context(), medium, task); !in || err != nil {
			t.Errorf("%v, %v", in, err)
		}
		if _, err := c.BeginInsert(t.Context(), medium); err != nil || len(tr.writes()) != 1 {
			t.Errorf("begun again with the image in: %v, sent %v", err, tr.writes())
		}
	})
	t.Run("the BMC makes a task of it, which is not waited for", func(t *testing.T) {
		tr, c, task, err := begin(t, func(tr *tray) (int, string) {
			tr.docs["/Tasks/1"] = `{"TaskState":"Running"}`
			return http.StatusAccepted, `{"TaskState":"New"}`
		})
		if err != nil || task != "/redfish/v1/Tasks/1" {
			t.Fatalf("%q, %v", task, err)
		}
		tr.slots["1"].in = false
		if in, err := c.Inserted(t.Context(), medium, task); in || err != nil {
			t.Errorf("while it runs: %v, %v", in, err)
		}
		tr.docs["/Tasks/1"] = `{"TaskState":"Exception","Messages":[{"Message":"The share cannot be reached."}]}`
		if in, err := c.Inserted(t.Context(), medium, task); in || trouble(err) != node.TroubleTask || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("after it failed: %v, %v", in, err)
		}
		tr.docs["/Tasks/1"], tr.slots["1"].in = `{"TaskState":"Completed"}`, true
		if in, err := c.Inserted(t.Context(), medium, task); !in || err != nil {
			t.Errorf("after it was done: %v, %v", in, err)
		}
	})
	t.Run("what the task's address answers is the task's only where it says so", func(t *testing.T) {
		tr, c, task, err := begin(t, func(*tray) (int, string) { return http.StatusAccepted, `{"@odata.id":"/redfish/v1/Tasks/9"}` })
		if err != nil {
			t.Fatal(err)
		}
		for code, want := range map[int]node.Trouble{http.StatusBadRequest: node.TroubleTask, http.StatusServiceUnavailable: node.TroubleBusy, http.StatusInternalServerError: node.TroubleInside} {
			tr.get = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != task {
					return false
				}
				say(code, refusal("no"))(w)
				return true
			}
			if in, err := c.Inserted(t.Context(), medium, task); in || err == nil || trouble(err) != want {
				t.Errorf("%d: %v, %v", code, in, err)
			}
		}
	})
	t.Run("the BMC refuses", func(t *testing.T) {
		_, _, _, err := begin(t, func(*tray) (int, string) { return 400, refusal("The image cannot be read.") })
		var u *node.Unreachable
		if !errors.As(err, &u) || !u.Answered || !strings.Contains(err.Error(), "cannot be read") {
			t.Error(err)
		}
	})
}

func TestOnlyChosenDrivesAreEmptied(t *testing.T) { // G35: what somebody else has put in is theirs
	tr := newTray("system", map[string]*slot{
		"1": {types: cd, actions: "both", in: true, image: "http://x/theirs.iso"}, "2": {types: cd, actions: "both", in: true, image: image}, "3": {types: cd, actions: "both"},
	})
	ours := func(d node.VirtualDrive) bool { return d.URL == image }
	c := tr.client(t, patient())
	for _, want := range []int{1, 0} {
		if n, err := c.EjectIf(t.Context(), ours); n != want || err != nil {
			t.Errorf("%d drives, %v; want %d", n, err, want)
		}
	}
	if want := []string{"POST /eject/2 {}"}; !slices.Equal(tr.writes(), want) {
		t.Errorf("sent %v, want %v", tr.writes(), want)
	}
}

func trouble(err error) node.Trouble {
	if u := (*node.Unreachable)(nil); errors.As(err, &u) {
		return u.Trouble
	}
	return ""
}
