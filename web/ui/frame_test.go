package ui_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cagenut/node"
)

// pagesOf are the addresses of pages, of a rack with a node in each state that draws something of its own.
func pagesOf(t *testing.T) (*rack, []string) {
	t.Helper()
	r, sick := sickRack()
	waiting := r.add("r07-u22", node.InspectWait, in("R07", 22, 1))
	failed := r.add("r07-u23", node.InspectFailed, in("R07", 23, 2))
	r.end(failed.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	r.add("r07-u26", node.Manageable, in("R07", 26, 1), func(n *node.Node) { n.Maintenance, n.MaintenanceReason = true, "new fan" })
	all := []string{"/ui", "/ui?group=failed", "/ui?q=nothing-like-it", "/ui/racks", "/ui/racks/R07", "/ui/help", "/ui/bulk", "/ui/nothing-like-it", "/ui/nodes/nothing-like-it"}
	for _, n := range []node.Node{sick, waiting, failed} {
		all = append(all, "/ui/nodes/"+n.Name)
	}
	for _, path := range []string{
		"health", "sensors", "log", "light", "boot", "media", "bmc", "firmware", "bios", "log/clear", "media/eject", "nmi", "power?target=power+off", "power?target=rebooting", "power?target=soft+power+off",
		"maintenance", "delete", "place", "history", "attempts", "inspections",
	} {
		all = append(all, "/ui/nodes/"+sick.Name+"/"+path)
	}
	for _, n := range []node.Node{waiting, failed} {
		all = append(all, "/ui/nodes/"+n.Name+"/abort", "/ui/nodes/"+n.Name+"/attempts/"+n.AttemptID, "/ui/nodes/"+n.Name+"/attempts/"+n.AttemptID+"/logs")
	}
	return r, all
}

// Nothing on a page may be written so that only a weaker policy would let it work.
func TestNoPageHoldsAScriptOrAStyleOfItsOwn(t *testing.T) {
	r, pages := pagesOf(t)
	s := serve(t, r, 0)
	for _, path := range pages {
		a := s.get(path)
		policy := a.header.Get("Content-Security-Policy")
		for _, must := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, must) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, must)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for tag := range tags(a.body) {
			if tag.Data == "style" || (tag.Data == "script" && !slices.ContainsFunc(tag.Attr, func(a html.Attribute) bool { return a.Key == "src" })) {
				t.Errorf("%s: it has a <%s> of its own", path, tag.Data)
			}
			for _, attr := range tag.Attr {
				if attr.Key == "style" || strings.HasPrefix(attr.Key, "on") || strings.HasPrefix(attr.Val, "javascript:") {
					t.Errorf(`%s: <%s %s="%s">`, path, tag.Data, attr.Key, attr.Val)
				}
			}
		}
	}
}

// tags goes through the start tags of a page.
func tags(page string) func(yield func(html.Token) bool) {
	return func(yield func(html.Token) bool) {
		z := html.NewTokenizer(strings.NewReader(page))
		for {
			switch z.Next() {
			case html.ErrorToken:
				return
			case html.StartTagToken, html.SelfClosingTagToken:
				if !yield(z.Token()) {
					return
				}
			}
		}
	}
}

func TestColoursAreChosenWithoutAScriptAndKnownFromTheStart(t *testing.T) {
	s := serve(t, newRack(), 0)
	if a := s.get("/ui"); !strings.Contains(a.body, `data-theme=""`) {
		t.Error("without a choice the system decides")
	}
	for _, theme := range []string{"light", "dark"} {
		a := s.do("POST", "/ui/theme", url.Values{"theme": {theme}, "back": {"/ui?group=failed"}})
		if a.status != http.StatusSeeOther || a.location != "/ui?group=failed" {
			t.Fatalf("%s: %d to %s", theme, a.status, a.location)
		}
		cookie := a.header.Get("Set-Cookie")
		for _, must := range []string{"cagenut_theme=" + theme, "path=/ui", "HttpOnly", "SameSite=Lax"} {
			if !strings.Contains(cookie, must) {
				t.Errorf("%s: the cookie is %q, without %s", theme, cookie, must)
			}
		}
		s.get("/ui", header{"Cookie": "cagenut_theme=" + theme}).has(t, `data-theme="`+theme+`"`, `content="`+theme+`"`, `value="`+theme+`" aria-pressed="true"`)
	}
	if a := s.get("/ui", header{"Cookie": `cagenut_theme="><script>`}); !strings.Contains(a.body, `data-theme=""`) {
		t.Error("what is no theme is none")
	}
	if a := s.do("POST", "/ui/theme", url.Values{"theme": {"mauve"}}); a.status != http.StatusBadRequest {
		t.Errorf("colours that there are not: %d", a.status)
	}
}

// A form of the frame leads back to where it stands, and nowhere else.
func TestAChoiceLeadsBackToAPageOfOurs(t *testing.T) {
	s := serve(t, newRack(), 0)
	for back, want := range map[string]string{
		"/ui/racks/R07?q=x": "/ui/racks/R07?q=x", "/ui": "/ui", "": "/ui", "//evil.example/ui": "/ui", "https://evil.example/ui": "/ui", "/v1/nodes": "/ui", `/\evil.example`: "/ui", `/ui/\evil`: "/ui", "/uitopia": "/ui",
	} {
		if a := s.do("POST", "/ui/theme", url.Values{"theme": {"dark"}, "back": {back}}); a.location != want {
			t.Errorf("%q leads to %q, want %q", back, a.location, want)
		}
	}
}

// WCAG 2.1.4.
func TestTheKeysCanBeSwitchedOff(t *testing.T) {
	s := serve(t, newRack(), 0)
	s.get("/ui/help").has(t, "<kbd>j</kbd>", `name="keys" value="off"`)
	a := s.do("POST", "/ui/keys", url.Values{"keys": {"off"}, "back": {"/ui/help"}}, header{"X-Test-Role": "viewer"})
	if a.location != "/ui/help" || !strings.Contains(a.header.Get("Set-Cookie"), "cagenut_keys=off") {
		t.Fatalf("to %q with %q", a.location, a.header.Get("Set-Cookie"))
	}
	off := header{"Cookie": "cagenut_keys=off"}
	s.get("/ui", off).has(t, `data-keys="off"`)
	s.get("/ui/help", off).has(t, `name="keys" value="on"`)
	if a := s.do("POST", "/ui/keys", url.Values{"keys": {"on"}}, off); !strings.Contains(a.header.Get("Set-Cookie"), "expires=Thu, 01 Jan 1970") {
		t.Errorf("on again: %q", a.header.Get("Set-Cookie"))
	}
}

func TestTheFrameLeadsWhereAPersonMayGo(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.Manageable)
	s := serve(t, r, 0)
	ways := func(path, role string) (all []string, current string) {
		for tag := range tags(s.get(path, header{"X-Test-Role": role}).body) {
			var href, aria string
			way := false
			for _, a := range tag.Attr {
				switch a.Key {
				case "href":
					href = a.Val
				case "aria-current":
					aria = a.Val
				case "data-key":
					way = true
				}
			}
			if !way {
				continue
			}
			all = append(all, href)
			if aria != "false" {
				current += href + " " + aria
			}
		}
		return all, current
	}
	for role, want := range map[string]string{
		"viewer":   "/ui /ui/racks /ui/appliance /ui/help",
		"operator": "/ui /ui/racks /ui/enrol /ui/audit /ui/appliance /ui/help",
		"admin":    "/ui /ui/racks /ui/enrol /ui/audit /ui/appliance /ui/users /ui/help",
	} {
		if all, _ := ways("/ui/help", role); strings.Join(all, " ") != want {
			t.Errorf("%s: %v, want %s", role, all, want)
		}
	}
	for path, want := range map[string]string{"/ui": "/ui page", "/ui/nodes/r07-u21": "/ui true", "/ui/racks": "/ui/racks page", "/ui/racks/R07": "/ui/racks true", "/ui/help": "/ui/help page"} {
		if _, current := ways(path, "operator"); current != want {
			t.Errorf("%s: current is %q, want %q", path, current, want)
		}
	}
}

func TestHelpSaysWhatEveryStateMeans(t *testing.T) {
	s := serve(t, newRack(), 0)
	a := s.get("/ui/help")
	for _, state := range node.States() {
		a.has(t, "</span>"+string(state)+"</span>")
	}
	a.has(t, english("help.abort.does"), english("help.keys"))
}
