package e2e_test

import (
	"bytes"
	"context"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// looks are the ways that every page is looked at: both colour schemes, a desk and a phone held in one hand.
var looks = []look{
	{name: "light-wide", scheme: "light", width: 1280, height: 900},
	{name: "dark-wide", scheme: "dark", width: 1280, height: 900},
	{name: "light-narrow", scheme: "light", width: 360, height: 780, phone: true},
	{name: "dark-narrow", scheme: "dark", width: 360, height: 780, phone: true},
}

type look struct {
	name, scheme  string
	width, height int64
	phone         bool
}

// take makes the window look like this.
func (l look) take(w *window) {
	w.t.Helper()
	w.do(chromedp.EmulateViewport(l.width, l.height), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, errorOf(cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		}))
	})
}

func errorOf[T any](_ T, err error) error { return err }

// tour looks at pages: what axe finds, whether they fit the screen, and where their links lead.
type tour struct {
	*window
	base        string
	axe         string // the source of axe-core
	screenshots string // where pictures of the pages are put for a person to look at; "" for nowhere
	seen        map[string]bool
	linked      map[string]string // patterns of addresses, and a page that leads there
}

// newTour opens a browser for pages of an appliance.
func newTour(t *testing.T, base string) *tour {
	t.Helper()
	axe, err := os.ReadFile("axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		missing(t, "axe-core (npm ci in e2e/axe)")
	}
	o := &tour{
		window: windowFor(t, 20*patience), base: base, axe: string(axe), screenshots: os.Getenv("CAGENUT_SCREENSHOTS"),
		seen: map[string]bool{}, linked: map[string]string{},
	}
	// What finds nothing anywhere would be worth nothing.
	o.do(chromedp.Navigate(base+"/ui"), chromedp.Evaluate[chromedp.Void](o.axe+`;document.querySelector('main').append(new Image()); undefined`))
	if found := evalPromise[[]violation](o.window, runAxe); !slices.ContainsFunc(found, func(v violation) bool { return v.ID == "image-alt" }) {
		t.Fatalf("axe does not see a picture without words: %v", found)
	}
	return o
}

// violation is something that axe finds.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

const runAxe = `axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => ({
	id: v.id, help: v.help, nodes: v.nodes.map(n => n.target.join(' ') + ': ' + (n.any.concat(n.all, n.none)[0]?.message ?? '') + ' ' + n.html.slice(0, 200)),
})))`

// visit goes to an address and looks at what is there in every look.
func (o *tour) visit(name, path string) {
	o.t.Helper()
	o.do(chromedp.Navigate(o.base + path))
	o.lookAround(name)
}

// lookAround looks at the page that the window shows.
func (o *tour) lookAround(name string) {
	o.t.Helper()
	at := eval[string](o.window, `location.pathname`)
	o.seen[pattern(at)] = true
	for _, href := range eval[[]string](o.window, `[...document.querySelectorAll('a[href^="/ui"]:not([download])')].map(a => a.getAttribute('href'))`) {
		if u, err := url.Parse(href); err == nil {
			o.linked[pattern(u.Path)] = at
		}
	}
	o.do(chromedp.Evaluate[chromedp.Void](o.axe + ";undefined"))
	for _, l := range looks {
		l.take(o.window)
		for _, v := range evalPromise[[]violation](o.window, runAxe) {
			o.t.Errorf("%s (%s, %s): axe finds %s: %s\n  %s", name, at, l.name, v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
		}
		if wide := eval[int64](o.window, `document.documentElement.scrollWidth`); wide > l.width {
			o.t.Errorf("%s (%s, %s): the page is %d wide and scrolls sideways; widest is %s", name, at, l.name, wide, eval[string](o.window, widest))
		}
		o.picture(name + "." + l.name)
	}
}

// leadsNowhereElse fails for addresses that the pages lead to and that were not looked at, but for beginnings that are
// looked at elsewhere.
func (o *tour) leadsNowhereElse(elsewhere ...string) {
	o.t.Helper()
	for _, to := range slices.Sorted(maps.Keys(o.linked)) {
		if !o.seen[to] && !slices.ContainsFunc(elsewhere, func(s string) bool { return strings.HasPrefix(to, s) }) {
			o.t.Errorf("%s leads to %s, which this test does not look at", o.linked[to], to)
		}
	}
}

// widest names the element that reaches farthest to the right.
const widest = `(() => {
	let most = 0, at = ''
	for (const e of document.querySelectorAll('main *, header *')) {
		const r = e.getBoundingClientRect()
		if (r.right > most && !e.closest('.scroll, .sr')) { most = r.right; at = e.outerHTML.slice(0, 200) }
	}
	return Math.round(most) + ' ' + at
})()`

// picture takes a screenshot of the whole page, and sees that there is something on it.
func (o *tour) picture(name string) {
	o.t.Helper()
	if o.screenshots == "" {
		return
	}
	shot, err := chromedp.Run(o.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(shot)); err != nil {
		o.t.Fatalf("the picture of %s: %v", name, err)
	}
	if err := os.MkdirAll(o.screenshots, 0o755); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.screenshots, name+".png"), shot, 0o644); err != nil {
		o.t.Fatal(err)
	}
}

var (
	anID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	aNode  = regexp.MustCompile(`^/ui/nodes/[^/]+`)
	aRack  = regexp.MustCompile(`^/ui/racks/[^/]+`)
	aLog   = regexp.MustCompile(`/logs/.+`)
	aUser  = regexp.MustCompile(`^/ui/users/[^/]+`)
	manyOf = strings.NewReplacer("//", "/")
)

// pattern is an address without what differs between pages of a kind.
func pattern(path string) string {
	path = aNode.ReplaceAllString(path, "/ui/nodes/{node}")
	path = aRack.ReplaceAllString(path, "/ui/racks/{rack}")
	path = aUser.ReplaceAllString(path, "/ui/users/{user}")
	path = aLog.ReplaceAllString(path, "/logs/{log}")
	return manyOf.Replace(anID.ReplaceAllString(path, "{id}"))
}

func eval[T any](w *window, script string) T {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
	return v
}

func evalPromise[T any](w *window, script string) T {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
	return v
}
