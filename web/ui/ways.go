package ui

import (
	"context"
	"net/url"
	"slices"

	"cagenut/node"
	"cagenut/templates"
)

// way adds to a hint what can be pressed about it, where that is possible now.
func (p *Pages) way(ctx context.Context, d diagnosis, way string, act bool, back string, h *templates.Hint) {
	link := func(label, href string, part bool) {
		h.Links = append(h.Links, templates.HintLink{ID: "hint-" + h.ID + "-" + way, Label: label, Href: href, Part: part && back == "node"})
	}
	button := func(a templates.Action) {
		a.ID = "hint-" + h.ID + "-" + way
		h.Actions = append(h.Actions, a)
	}
	n := d.node
	switch way {
	case "again", "manage":
		verb := map[string]node.Event{"again": node.Inspect, "manage": node.Manage}[way]
		if act && !d.past && slices.Contains(templates.Verbs(n.ProvisionState), verb) && (verb == node.Inspect || n.ProvisionState == node.Enroll) {
			button(verbAction(ctx, n, verb, back))
		}
	case "poweroff":
		if act && whyNotPower(ctx, n, node.ActionOff) == "" {
			button(templates.Action{
				Label: templates.PowerLabel(ctx, node.ActionOff), Names: n.Label(), Confirm: nodeURL(n.UUID) + "/power?target=" + url.QueryEscape(string(node.ActionOff)),
			})
		}
	case "reapply":
		if again := reapplyAction(ctx, n, *d.attempt, back); act && again.Confirm != "" {
			button(again)
		}
	case "edit":
		if act && !d.past && (n.ProvisionState.PatchAllowed() || n.Maintenance) {
			link(templates.T(ctx, "hint.edit"), editURL(n), false)
		}
	case "timeline":
		if back == "node" && d.attempt != nil {
			link(templates.T(ctx, "hint.timeline"), attemptURL(n, d.attempt.ID), false)
		}
	case "logs":
		if back == "node" {
			link(templates.T(ctx, "hint.logs"), attemptURL(n, d.attempt.ID), false)
		}
	case "inventory":
		if back == "node" {
			link(templates.T(ctx, "hint.inventory"), "#h-inventory", false)
		}
	default: // a part of what the BMC tells
		link(templates.T(ctx, "hint."+way), partURL(n, way), true)
	}
}
