package templates

import (
	"context"
	"encoding/json"
	"strings"
)

// wayTo is an entry of the navigation.
type wayTo struct {
	href, text, keys, count string
}

// ways are the pages that this person can go to.
func (f Frame) ways() []wayTo {
	all := []wayTo{{href: "/ui", text: "nodes", keys: "gn"}, {href: "/ui/racks", text: "racks", keys: "gr"}}
	if f.Discovered != "" {
		all = append(all, wayTo{href: "/ui/discovered", text: "discovered", keys: "gd", count: f.Discovered})
	}
	if f.Role != "viewer" {
		all = append(all, wayTo{href: "/ui/enrol", text: "enrol", keys: "ge"})
	}
	if f.Role != "viewer" {
		all = append(all, wayTo{href: "/ui/audit", text: "audit", keys: "gu"})
	}
	all = append(all, wayTo{href: "/ui/appliance", text: "appliance", keys: "ga"})
	if f.Role == "admin" && f.User != "" {
		all = append(all, wayTo{href: "/ui/users", text: "users", keys: "gs"})
	}
	return append(all, wayTo{href: "/ui/help", text: "help", keys: "?"})
}

// current is the aria-current of a link: the page itself, or a page that stands below it. Nodes stand below the list.
func (f Frame) current(href string) string {
	switch {
	case f.Path == href:
		return "page"
	case strings.HasPrefix(f.Path, href+"/") && href != "/ui", href == "/ui" && strings.HasPrefix(f.Path, "/ui/nodes/"):
		return "true"
	}
	return "false"
}

type theme struct{ value, key string }

var themes = []theme{{"", "system"}, {"light", "light"}, {"dark", "dark"}}

// Themes are the colour schemes that a person can choose; "" is the system's.
func Themes() []string {
	var all []string
	for _, t := range themes {
		all = append(all, t.value)
	}
	return all
}

func colourScheme(theme string) string {
	if theme == "" {
		return "light dark"
	}
	return theme
}

func pressed(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// around is a relative time in the language of the page.
func around(ctx context.Context, t Time) string {
	switch t.Kind {
	case "ago":
		return T(ctx, "time.ago", t.Text)
	case "in":
		return T(ctx, "time.in", t.Text)
	}
	return t.Text
}

// scriptTexts are what the page's script says, by its names, as JSON. # is where it puts a number or a time.
func scriptTexts(ctx context.Context) string {
	said := map[string]string{"ago": T(ctx, "time.ago", "#"), "in": T(ctx, "time.in", "#")}
	for _, name := range []string{
		"live", "reconnecting", "off", "full", "lost", "found", "noAnswer", "signedOut", "oneChanged", "manyChanged", "asking", "answered", "notAsked", "tryAgain", "copied", "notCopied",
	} {
		said[name] = T(ctx, "script."+name)
	}
	out, err := json.Marshal(said)
	if err != nil {
		panic(err) // strings: cannot happen
	}
	return string(out)
}
