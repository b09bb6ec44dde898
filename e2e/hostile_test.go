package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// What people, programs and ramdisks may write where the dashboard shows it.
const (
	markup  = `<script>alert(1)</script>"><img src=x onerror=alert(2)></textarea></title><svg onload=alert(3)>`
	turning = "\u202Etfel ot thgir\u2066 \U0001F9E8\U0001F469\u200D\U0001F692 javascript:alert(4)"
	nothing = "nul\x00byte"
	hostile = markup + " " + turning
)

// endless is longer than any place for it.
var endless = strings.Repeat("W", 10_000)

// hostileRack is an appliance whose every text is hostile, and the addresses of its pages.
func hostileRack(t *testing.T) (a *appliance, paths []string) {
	t.Helper()
	a = serveOn(t, withBootFiles(t), "--discovery", "--power-sync-interval", "1s")
	const mac, other = "52:54:00:aa:00:01", "52:54:00:aa:00:02"
	rack := hostile + nothing
	for i, name := range []string{"reports", "fails", "aborted", "kept"} {
		must[any](a, "POST", "/v1/nodes", map[string]any{
			"name": name, "driver": "fake-hardware", "inspect_interface": "agent", "description": hostile + " " + endless[:2000], "owner": hostile, "lessee": endless[:255],
			"extra": map[string]any{"rack": rack, "rack_unit": i + 1, "note": endless, markup: hostile}, "properties": map[string]any{"capabilities": hostile + endless, "vendor": markup},
			"driver_info": map[string]any{"redfish_address": "javascript:alert(5)", "deploy_kernel": markup},
		})
	}
	must[any](a, "POST", "/v1/ports", map[string]any{
		"node_uuid": a.node("reports").UUID, "address": mac, "physical_network": markup[:60], "local_link_connection": map[string]any{"switch_info": hostile, "switch_id": "02:00:5e:00:00:01", "port_id": endless[:200]},
	})
	must[any](a, "POST", "/v1/ports", map[string]any{"node_uuid": a.node("fails").UUID, "address": other})

	for _, name := range []string{"reports", "fails", "aborted"} {
		a.verb(name, "manage")
		a.waitFor(name, "manageable")
		a.verb(name, "inspect")
		a.waitFor(name, "inspect wait")
	}
	must[any](a, "POST", "/v1/continue_inspection", hostileReport(t, mac, "one", nil))
	a.waitFor("reports", "manageable")
	a.verb("reports", "inspect")
	a.waitFor("reports", "inspect wait")
	must[any](a, "POST", "/v1/continue_inspection", hostileReport(t, mac, "two", nil))
	a.waitFor("reports", "manageable")
	failure := hostile + " " + endless
	must[any](a, "POST", "/v1/continue_inspection", hostileReport(t, other, "one", &failure))
	a.waitFor("fails", "inspect failed")
	a.post("/ui/nodes/aborted/provision", url.Values{"verb": {"abort"}, "reason": {hostile + nothing + endless[:200]}})
	a.waitFor("aborted", "inspect failed")
	must[any](a, "PUT", "/v1/nodes/kept/maintenance", map[string]any{"reason": hostile + nothing + endless[:3000]})
	send(t, "POST", a.base+"/v1/continue_inspection", hostileReport(t, "52:54:00:aa:00:99", "one", nil)) // a stranger
	must[any](a, "POST", "/cagenut/v1/bulk", map[string]any{"action": "abort", "nodes": []string{a.node("reports").UUID, a.node("kept").UUID}, "reason": hostile})

	list := a.page(a.post("/ui/enrol/import", url.Values{"driver": {"redfish"}, "text": {
		"name,address,user,rack,unit,description\n" + csvLine("bad"+markup, "javascript:alert(6)", hostile, hostile, "-1", endless) + csvLine("r1", "https://192.0.2.10", "root", hostile, "3", hostile)}}), nil)
	paths = []string{
		"/ui", "/ui?q=" + url.QueryEscape(hostile), "/ui?rack=" + url.QueryEscape(rack), "/ui?q=" + endless[:150], "/ui/racks", "/ui/racks/" + url.PathEscape(hostile), "/ui/racks/" + url.PathEscape(rack),
		"/ui/audit", "/ui/bulk", "/ui/discovered", "/ui/enrol", "/ui/enrol/import", strings.TrimPrefix(list.address, a.base), "/ui/appliance", "/ui/help", "/ui/nodes/" + url.PathEscape(markup), "/ui/" + url.PathEscape(markup),
	}
	for _, name := range []string{"reports", "fails", "aborted", "kept"} {
		at := "/ui/nodes/" + name
		paths = append(paths, at, at+"/history", at+"/attempts", at+"/inspections", at+"/edit", at+"/place", at+"/delete", at+"/maintenance?to=off", at+"/abort")
		for _, run := range a.attempts(name) {
			paths = append(paths, at+"/attempts/"+run.ID)
		}
	}
	newest := a.attempts("reports")[0].ID
	logs := "/ui/nodes/reports/attempts/" + newest + "/logs"
	paths = append(paths, logs, logs+"/file?name="+url.QueryEscape(hostileFile), "/ui/nodes/reports/reapply")
	for _, m := range must[struct{ Discovered []struct{ UUID string } }](a, "GET", "/cagenut/v1/discovered", nil).Discovered {
		paths = append(paths, "/ui/discovered/"+m.UUID)
	}
	for _, r := range must[struct{ Runs []struct{ ID string } }](a, "GET", "/cagenut/v1/bulk", nil).Runs {
		paths = append(paths, "/ui/bulk/"+r.ID)
	}
	for _, kind := range []string{"/ui/discovered/", "/ui/bulk/", "/ui/nodes/reports/attempts/", "/ui/enrol/import/"} {
		if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, kind) && p != kind }) {
			t.Errorf("there is no page below %s", kind)
		}
	}
	return a, paths
}

func csvLine(fields ...string) string {
	for i, f := range fields {
		fields[i] = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
	}
	return strings.Join(fields, ",") + "\n"
}

const hostileFile = `logs/<img src=x onerror=alert(7)>.txt`

// hostileReport is what a ramdisk could send: every text that there is, hostile.
func hostileReport(t *testing.T, mac, serial string, failure *string) map[string]any {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	tarred := tar.NewWriter(zipped)
	content := hostile + "\x1b[31m" + nothing + "\n" + endless
	if err := tarred.WriteHeader(&tar.Header{Name: hostileFile, Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := tarred.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := tarred.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	r := map[string]any{
		"inventory": map[string]any{
			"interfaces": []map[string]any{
				{"name": markup, "mac_address": mac, "has_carrier": true, "ipv4_address": "192.0.2.21", "vendor": hostile, "product": endless},
				{"name": endless, "mac_address": "52:54:00:bb:00:01", "has_carrier": false, "ipv4_address": markup},
			},
			"cpu":           map[string]any{"architecture": "x86_64", "count": 16, "model_name": hostile + nothing},
			"memory":        map[string]any{"physical_mb": 65536, "total": 68719476736},
			"disks":         []map[string]any{{"name": markup, "size": 480103981056, "model": hostile + endless, "serial": serial + markup, "vendor": turning}},
			"boot":          map[string]any{"current_boot_mode": markup, "pxe_interface": mac},
			"bmc_address":   "javascript:alert(8)",
			"hostname":      hostile,
			"system_vendor": map[string]any{"manufacturer": hostile, "product_name": endless, "serial_number": serial + hostile, "firmware": map[string]any{"vendor": markup, "version": turning}},
		},
		"parsed_lldp": map[string]any{markup: map[string]any{"switch_system_name": hostile, "switch_port_id": endless}},
		"extra":       map[string]any{"memory": map[string]any{"bank:0" + markup: map[string]any{"size": 17179869184, "vendor": hostile, "slot": markup}}},
		"logs":        base64.StdEncoding.EncodeToString(archive.Bytes()),
	}
	if failure != nil {
		r["error"] = *failure
	}
	return r
}

// watching is run before anything of a page: whatever ran that should not, or was refused by the policy, is noted.
const watching = `
window.wrong = []
addEventListener('securitypolicyviolation', e => wrong.push('refused by the policy: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))
addEventListener('error', e => wrong.push('error: ' + e.message), true)
addEventListener('unhandledrejection', e => wrong.push('error: ' + e.reason))
window.alert = window.confirm = window.prompt = text => wrong.push('somebody else\'s script ran: ' + text)
`

// Issue 6: hostile names and reports on every page. Nothing of them runs, nothing is even tried, and no page gets wider than the
// window, be that a phone's.
func TestInABrowserHostileTextsAreTextOnEveryPage(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, paths := hostileRack(t)
	for some := range slices.Chunk(paths, 20) { // each with a browser, and a deadline, of its own
		t.Run(fmt.Sprintf("from %.40q on", some[0]), func(t *testing.T) {
			w := browse(t, a.base+"/ui")
			w.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
				return err
			}))
			for _, path := range some {
				w.do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(a.base+path))
				w.holds(`document.readyState === 'complete'`)
				w.isText(path, 1280)
				w.do(chromedp.EmulateViewport(360, 800))
				w.isText(path, 360)
			}
		})
	}
}

// isText tells what is wrong with the page that is open.
func (w *window) isText(path string, width int) {
	w.t.Helper()
	got, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string](`(() => {
		const all = [...document.querySelectorAll('main *, header *')], root = document.documentElement
		const wide = all.filter(e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll, .logtext, .tabs, svg, dialog'))
		const markup = document.querySelector('main script, main img, main iframe, [onerror], [onload], a[href^="javascript:"], [style]')
		return [...wrong.splice(0),
			...(root.scrollWidth > root.clientWidth ? ['it is ' + root.scrollWidth + ' wide: ' + wide.slice(0, 3).map(e => e.outerHTML.slice(0, 90)).join(' | ')] : []),
			...(markup ? ['markup of a text: ' + markup.outerHTML.slice(0, 90)] : []),
		]
	})()`))
	if err != nil {
		w.t.Fatalf("%.60q: %v", path, err)
	}
	for _, what := range got {
		w.t.Errorf("%.60q at %d: %s", path, width, what)
	}
}
