package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"
)

// Issue 6, point 1: a hall of 10,000 nodes is looked through in a browser.
func TestInABrowserAHallOfTenThousandNodesIsLookedThrough(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a := serveOn(t, filepath.Join(t.TempDir(), "data"), "--power-sync-interval", "0", "--log-level", "error")
	fillHall(t, a, 10_000)
	w := browse(t, a.base+"/ui")
	rows := `document.querySelectorAll('tbody tr').length`
	w.holds(rows + ` === 50 && document.getElementById('count-all').innerText.replace(/\D/g, '') === '10000'`)

	t.Log("one box finds a node by its name and by its MAC")
	for _, words := range []string{"h007-u21", "52:54:01:00:1b:58"} {
		w.do(chromedp.Navigate(a.base+"/ui"), chromedp.WaitVisible("input[name=q]"), chromedp.SendKeys("input[name=q]", words+"\r"))
		w.holds(rows + ` === 1 && location.search.includes('q=')`)
	}

	t.Log("the last page is the first of the other order, and the next one is a link")
	w.do(chromedp.Navigate(a.base + "/ui?sort=name&dir=desc"))
	w.holds(`document.querySelector('tbody th a').innerText === 'h249-u40'`)
	w.do(chromedp.Click("a[rel=next]"))
	w.holds(rows + ` === 50 && document.querySelector('tbody th a').innerText === 'h248-u30'`)

	t.Log("what changes on the page is seen, and nothing is loaded again")
	w.holds(`document.getElementById('live').dataset.state === 'live'`)
	w.holds(`window.neverReloaded = true`)
	must[any](a, "PUT", "/v1/nodes/h248-u30/maintenance", map[string]string{"reason": "a fan"})
	w.holds(`document.querySelector('tbody tr').innerText.includes('maintenance') && window.neverReloaded === true`)
}

// fillHall enrols nodes, forty in each rack, every tenth with a port.
func fillHall(t *testing.T, a *appliance, n int) {
	t.Helper()
	post := func(path string, body map[string]any) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", a.base+path, strings.NewReader(string(text)))
		if err != nil {
			return err
		}
		req.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusCreated {
			return fmt.Errorf("POST %s: %s", path, resp.Status)
		}
		return nil
	}
	var all errgroup.Group
	all.SetLimit(8)
	for i := range n {
		all.Go(func() error {
			uuid := fmt.Sprintf("10000000-0000-4000-8000-%012d", i)
			err := post("/v1/nodes", map[string]any{
				"uuid": uuid, "name": fmt.Sprintf("h%03d-u%02d", i/40, i%40+1), "driver": "fake-hardware", "extra": map[string]any{"rack": fmt.Sprintf("H%03d", i/40), "rack_unit": i%40 + 1},
			})
			if err != nil || i%10 != 0 {
				return err
			}
			return post("/v1/ports", map[string]any{"node_uuid": uuid, "address": fmt.Sprintf("52:54:01:%02x:%02x:%02x", i>>16, i>>8&255, i&255)})
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
}
