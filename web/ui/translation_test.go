package ui_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/templates/texts"
)

// marked is a language in which every text stands between ⟦ and ⟧.
func marked() texts.Catalogue {
	c := texts.Catalogue{}
	for key, text := range texts.Of(texts.Original) {
		c[key] = "⟦" + text + "⟧"
	}
	return c
}

// speakMarked lets a rack's pages speak it. A stream asks for it by its tag.
func speakMarked(ctx context.Context, _ string) context.Context {
	return templates.WithTexts(ctx, "xx", marked())
}

// A translation is a file: whatever a person reads that is no data comes from the catalogue.
func TestEveryWordOfAPageIsATextOfTheCatalogue(t *testing.T) {
	r, pages := pagesOf(t)
	r.speak = speakMarked
	s := serve(t, r, 0)
	for _, path := range pages {
		a := s.get(path)
		if !strings.Contains(a.body, `<html lang="xx"`) {
			t.Errorf("%s does not say its language", path)
		}
		for _, said := range saidOn(a.body) {
			if rest := withoutData(outside(said)); strings.ContainsFunc(rest, unicode.IsLetter) {
				t.Errorf("%s says %q, of which %q is no text of the catalogue", path, said, strings.TrimSpace(rest))
			}
		}
	}
}

// What is streamed is in the language of the page that it goes to.
func TestAStreamSpeaksTheLanguageOfItsPage(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	r.speak = func(ctx context.Context, accept string) context.Context {
		if strings.HasPrefix(accept, "xx") {
			return speakMarked(ctx, accept)
		}
		return templates.WithLanguage(ctx, texts.Original)
	}
	s := serve(t, r, 0)
	_, theirs := s.stream("/ui/events?view=list&after="+s.hub.Position(), header{"Accept-Language": "xx"})
	_, ours := s.stream("/ui/events?view=list&after=" + s.hub.Position())
	r.tell(n.UUID)
	if row := until(t, theirs, `id="row-`+n.UUID); !strings.Contains(row, "⟦"+english("abort.label")+"⟧") {
		t.Errorf("the row is %s", row)
	}
	if row := until(t, ours, `id="row-`+n.UUID); strings.Contains(row, "⟦") {
		t.Errorf("the row in English is %s", row)
	}
}

// saidOn is what a person sees or hears of a page, but for what stands there as data: code, and text of foreign direction.
func saidOn(page string) (said []string) {
	z := html.NewTokenizer(strings.NewReader(page))
	depth := 0
	for {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			return said
		case html.TextToken:
			if depth == 0 {
				said = append(said, token.Data)
			}
		case html.EndTagToken:
			if slices.Contains(quoting, token.Data) {
				depth--
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if slices.Contains(quoting, token.Data) {
				depth++
			}
			for _, a := range token.Attr {
				if slices.Contains([]string{"alt", "aria-label", "aria-description", "label", "placeholder", "title"}, a.Key) {
					said = append(said, a.Val)
				}
			}
		}
	}
}

var quoting = []string{"code", "pre", "bdi", "kbd", "option", "q", "datalist"}

// outside is what does not stand between ⟦ and ⟧.
func outside(s string) string {
	var b strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '⟦':
			depth++
		case r == '⟧':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

var (
	durations = regexp.MustCompile(`\b\d+ (s|m|h|d)\b`)
	ids       = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|req-[0-9a-f-]+`)
)

// rigSays are the words of the rig's nodes, attempts and BMCs.
var rigSays = []string{
	"r07-u21", "r07-u22", "r07-u23", "r07-u26", "R07", "· U21", "· U22", "· U23", "· U26", "nothing-like-it", "mara", "jon", "new fan", "redfish", "agent", "waiting", "aborted",
	"Critical", "Warning", "OK", "PSU 2", "No input voltage.", "Fan 3", "Fan 1", "Inlet", "CPU 1", "Exhaust", "Failure detected", "P12V", "Lid", "Closed", "°C", "RPM", "\u00a0V",
	"Power supply 2 failed.", "entry 30", "Something happened.", "Example Corp", "BMC 4", "Redfish 1.17.0", "BIOS", "nic-1", "Cores", "NumLock", "SecureBoot",
}

// withoutData takes out what the rig's nodes and their BMCs say, and the words of Ironic, which are no texts.
func withoutData(s string) string {
	s = ids.ReplaceAllString(durations.ReplaceAllString(s, ""), "")
	data := slices.Concat([]string{"UTC", "GiB", "GB", "MHz", "Inspection was aborted by request.", "There are no logs of attempt ."}, rigSays)
	for _, state := range node.States() {
		data = append(data, string(state))
	}
	// Longer ones first: "inspect failed" holds "inspect".
	slices.SortFunc(data, func(a, b string) int { return len(b) - len(a) })
	for _, d := range data {
		s = strings.ReplaceAll(s, d, "")
	}
	return s
}
