package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// G17, G18: the list is narrowed, sorted and sent on by its address, and goes on living.
func TestInABrowserTheListIsNarrowedAndStaysAlive(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	uuid, other := a.node(silent).UUID, a.otherThan(silent)
	w := browse(t, a.base+"/ui")
	rows := `[...document.querySelectorAll('.list tbody th a')].map(a => a.textContent.trim()).join()`

	t.Log("a search finds one server, and the address holds it")
	w.do(chromedp.SendKeys("#search", silent+"\r"))
	w.holds(`location.search.includes('q=` + url.QueryEscape(silent) + `') && ` + rows + ` === '` + silent + `'`)
	w.holds(`document.querySelector('.condition').innerText.includes('` + silent + `')`)
	w.do(chromedp.Click(".condition"))
	w.holds(`location.search === '' && document.querySelectorAll('.list tbody tr').length === 3`)

	t.Log("a heading sorts, and sorts the other way when it is pressed again")
	w.do(chromedp.Click("#sort-name"))
	w.holds(`document.querySelector('.list th[aria-sort=ascending] #sort-name') !== null`)
	w.do(chromedp.Click("#sort-name"))
	w.holds(`document.querySelector('.list th[aria-sort=descending] #sort-name') !== null`)

	t.Log("the count of a state shows those in it alone; a colleague sees the same under the same address")
	w.do(chromedp.Click("#state-manageable"))
	w.holds(`location.search.includes('state=manageable') && location.search.includes('sort=name') && document.querySelectorAll('.list tbody tr').length === 3`)
	address, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](`location.href`))
	if err != nil {
		t.Fatal(err)
	}
	colleague := browse(t, address)
	seen, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](rows))
	if err != nil || len(strings.Split(seen, ",")) != 3 {
		t.Fatal(seen, err)
	}
	colleague.holds(rows + ` === '` + seen + `'`)

	t.Log("a server that leaves the filter stays where it is, greyed; the counts follow; what was chosen and typed stays")
	w.do(chromedp.Click("#pick-"+other.UUID), chromedp.SendKeys("#search", "half a wo"))
	w.holds(`window.neverReloaded = true`)
	if status, body := a.ask("PUT", "/v1/nodes/"+uuid+"/states/provision", map[string]string{"target": "inspect"}); status != 202 {
		t.Fatalf("inspect: %d %s", status, body)
	}
	for _, each := range []*window{w, colleague} {
		each.holds(`document.getElementById('row-` + uuid + `').innerText.includes('inspect wait')`)
		each.holds(`document.getElementById('row-` + uuid + `').classList.contains('left')`)
		each.holds(`document.getElementById('total').innerText === '2 nodes' && document.getElementById('count-waiting').innerText === '1'`)
		each.holds(`document.getElementById('state-inspect-wait')?.innerText.includes('1')`)
	}
	w.holds(`document.getElementById('pick-` + other.UUID + `').checked && document.getElementById('search').value === 'half a wo' && window.neverReloaded === true`)

	t.Log("the next load shows what the filter lets through")
	w.do(chromedp.Reload())
	w.holds(`document.querySelectorAll('.list tbody tr').length === 2 && !document.getElementById('row-` + uuid + `')`)
}

func TestInABrowserTheListFitsAPhone(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	if status, body := a.ask("PUT", "/v1/nodes/"+silent+"/states/provision", map[string]string{"target": "inspect"}); status != 202 {
		t.Fatalf("inspect: %d %s", status, body)
	}
	a.waitFor(silent, "inspect wait")
	w := browse(t, a.base+"/ui")
	w.do(chromedp.EmulateViewport(360, 740))
	w.holds(`document.documentElement.scrollWidth <= 360`)
	w.holds(`getComputedStyle(document.querySelector('.list tbody tr')).display === 'grid'`)
	t.Log("what a thumb presses is large enough")
	w.holds(`[...document.querySelectorAll('.list td a, .list td button, .states a, .tabs a, .filter .button, #search')].every(e => e.getBoundingClientRect().height >= 44)`)
	t.Log("the filter unfolds and holds")
	w.do(chromedp.Click("#facets > summary"))
	w.holds(`document.querySelector('select[name=driver]').getBoundingClientRect().height >= 44 && document.documentElement.scrollWidth <= 360`)
}

func TestWithoutAScriptTheListIsLinksAndAForm(t *testing.T) {
	a, silent := demo(t)
	page := a.open("/ui?q=" + url.QueryEscape(silent) + "&sort=name&dir=desc&size=100")
	if strings.Count(page.text, `id="row-`) != 1 || !strings.Contains(page.text, `aria-sort="descending"`) {
		t.Errorf("the address is not followed:\n%s", page.text)
	}
	if !strings.Contains(page.text, `<form class="search filter" role="search" method="get" action="/ui"`) || !strings.Contains(page.text, `<select name="driver">`) {
		t.Error("the filter is no form")
	}
	if all := a.open("/ui?maintenance=false&driver=ipmi"); strings.Count(all.text, `id="row-`) != 1 {
		t.Errorf("the one server with an IPMI BMC is not found:\n%s", all.text)
	}
}
