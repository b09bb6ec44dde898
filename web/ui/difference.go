package ui

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// partsShown is how many parts of a kind are shown: a hostile report may have thousands.
const partsShown = 100

// differenceView groups a difference by kinds of parts.
func differenceView(ctx context.Context, d node.Difference) templates.Difference {
	v := templates.Difference{Identity: d.Identity, Same: len(d.Parts) == 0 && len(d.Identity) == 0}
	var said []string
	for parts := range byKind(d.Parts) {
		said = append(said, summary(ctx, parts)...)
		g := templates.PartGroup{Label: templates.KindHeading(ctx, parts[0].Kind, len(parts))}
		for _, p := range parts[:min(len(parts), partsShown)] {
			g.Parts = append(g.Parts, partLine(ctx, p))
		}
		if more := len(parts) - len(g.Parts); more > 0 {
			g.More = templates.T(ctx, "difference.more", more)
		}
		v.Groups = append(v.Groups, g)
	}
	v.Summary = strings.Join(said, ", ")
	return v
}

// byKind gives the parts of each kind; those of one kind follow each other.
func byKind(parts []node.PartChange) func(yield func([]node.PartChange) bool) {
	return func(yield func([]node.PartChange) bool) {
		for len(parts) > 0 {
			kind := parts[0].Kind
			end := slices.IndexFunc(parts, func(p node.PartChange) bool { return p.Kind != kind })
			if end < 0 {
				end = len(parts)
			}
			if !yield(parts[:end]) {
				return
			}
			parts = parts[end:]
		}
	}
}

// summary says what happened to the parts of one kind, as people would: a disk that went and one that came is a disk that
// was replaced.
func summary(ctx context.Context, parts []node.PartChange) (out []string) {
	kind := parts[0].Kind
	if len(parts) == 1 && parts[0].Name == "" { // there is only one of it
		var fields []string
		for _, f := range parts[0].Fields {
			fields = append(fields, fieldLine(ctx, f).Label)
		}
		return []string{templates.OnlyOne(ctx, kind, string(parts[0].Change), fields)}
	}
	var added, removed, changed, lost, up, moved int
	for _, p := range parts {
		switch p.Change {
		case node.PartAdded:
			added++
		case node.PartRemoved:
			removed++
		default:
			link, port, other := whatChanged(p)
			lost, up, moved, changed = lost+one(link == "no"), up+one(link == "yes"), moved+one(port), changed+one(other)
		}
	}
	replaced := min(added, removed)
	for _, c := range []struct {
		n    int
		what string
	}{{replaced, "replaced"}, {added - replaced, "added"}, {removed - replaced, "removed"}, {changed, "changed"}} {
		if c.n > 0 {
			out = append(out, templates.Counted(ctx, c.n, kind, c.what))
		}
	}
	if lost > 0 {
		out = append(out, templates.N(ctx, "difference.lost", lost))
	}
	if up > 0 {
		out = append(out, templates.N(ctx, "difference.up", up))
	}
	if moved > 0 {
		out = append(out, templates.N(ctx, "difference.moved", moved))
	}
	return out
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// whatChanged tells of a part that stayed: what its link is now, whether it is at another switch port, whether anything
// else of it is new. A switch that is not told any more follows from a link that was lost.
func whatChanged(p node.PartChange) (link string, port, other bool) {
	for _, f := range p.Fields {
		switch {
		case f.Name == "link" && f.Before != "" && f.After != "":
			link = f.After
		case strings.HasPrefix(f.Name, "switch"):
			port = port || (f.Before != "" && f.After != "")
		case f.Name == "Mbit/s" && (f.Before == "" || f.After == ""): // follows from the link, too
		default:
			other = true
		}
	}
	return link, port, other || (link == "" && !port)
}

func partLine(ctx context.Context, p node.PartChange) templates.PartLine {
	look, icon := templates.ChangeLook(p.Change)
	l := templates.PartLine{State: templates.State{Name: templates.ChangeWord(ctx, string(p.Change)), Look: look, Icon: icon}, Part: p.Name, Stayed: p.Change == node.PartChanged}
	for _, f := range p.Fields {
		l.Fields = append(l.Fields, fieldLine(ctx, f))
	}
	return l
}

// fieldLine is a value in people's units, unless that would hide that it changed.
func fieldLine(ctx context.Context, f node.FieldChange) templates.FieldLine {
	label, say := f.Name, func(v string) string { return v }
	switch f.Name {
	case "bytes":
		label, say = templates.T(ctx, "difference.size"), sized(decimal, 1)
	case "size in MiB":
		label, say = templates.T(ctx, "difference.size"), sized(binary, 1<<20)
	case "link":
		say = func(v string) string {
			if word := map[string]string{"yes": templates.T(ctx, "inventory.up"), "no": templates.T(ctx, "inventory.down")}[v]; word != "" {
				return word
			}
			return v
		}
	}
	if before, after := say(f.Before), say(f.After); before != after {
		return templates.FieldLine{Label: label, Before: before, After: after}
	}
	return templates.FieldLine{Label: f.Name, Before: f.Before, After: f.After}
}

// sized says a number of units as a size.
func sized(say func(int64) string, unit int64) func(string) string {
	return func(v string) string {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n <= 0 || n > (1<<62)/unit {
			return v
		}
		return say(n * unit)
	}
}
