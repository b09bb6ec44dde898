package ui

import (
	"context"
	"net/url"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// powerActions are the power buttons that make sense now; the others go to the refusals with their reason. Only switching
// on does not ask back.
func powerActions(ctx context.Context, n node.Node, not []templates.Refusal) ([]templates.Action, []templates.Refusal) {
	var out []templates.Action
	for _, a := range []node.PowerAction{node.ActionOn, node.ActionOff, node.ActionReboot, node.ActionSoftOff, node.ActionSoftReboot} {
		label := templates.PowerLabel(ctx, a)
		if why := whyNotPower(ctx, n, a); why != "" {
			not = append(not, templates.Refusal{Label: label, Reason: why})
			continue
		}
		button := templates.Action{
			ID: strings.ReplaceAll(string(a), " ", "-") + "-" + n.UUID, Label: label, Names: n.Label(),
			Field: "target", Value: string(a), Post: nodeURL(n.UUID) + "/power", Back: "node",
		}
		if a != node.ActionOn {
			button.Confirm = nodeURL(n.UUID) + "/power?target=" + url.QueryEscape(string(a))
		}
		out = append(out, button)
	}
	if n.PowerState == node.PowerOff {
		return out, append(not, templates.Refusal{Label: templates.T(ctx, "nmi.label"), Reason: templates.T(ctx, "power.why.off")})
	}
	return append(out, templates.Action{ID: "nmi-" + n.UUID, Label: templates.T(ctx, "nmi.label"), Names: n.Label(), Confirm: nodeURL(n.UUID) + "/nmi"}), not
}

// whyNotPower is why a power action makes no sense now; "" if it does.
func whyNotPower(ctx context.Context, n node.Node, a node.PowerAction) string {
	switch {
	case n.TargetPowerState != "":
		return templates.T(ctx, "power.why.runs")
	case n.ProvisionState == node.Cleaning || n.ProvisionState == node.CleanWait:
		return templates.T(ctx, "power.why.cleaning")
	case a == node.ActionOn && n.PowerState == node.PowerOn:
		return templates.T(ctx, "power.why.on")
	case a != node.ActionOn && n.PowerState == node.PowerOff:
		return templates.T(ctx, "power.why.off")
	case a.Result() == node.PowerOff && n.DisablePowerOff:
		return templates.T(ctx, "power.why.stays")
	}
	return ""
}
