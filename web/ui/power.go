package ui

import (
	"net/url"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// powerActions are the power buttons that make sense now; the others go to the refusals with their reason. Only switching
// on does not ask back.
func powerActions(n node.Node, not []templates.Refusal) ([]templates.Action, []templates.Refusal) {
	var out []templates.Action
	for _, a := range []node.PowerAction{node.ActionOn, node.ActionOff, node.ActionReboot, node.ActionSoftOff, node.ActionSoftReboot} {
		label := templates.PowerLabel(a)
		if why := whyNotPower(n, a); why != "" {
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
		return out, append(not, templates.Refusal{Label: templates.TextNMI, Reason: templates.WhyServerOff})
	}
	return append(out, templates.Action{ID: "nmi-" + n.UUID, Label: templates.TextNMI, Names: n.Label(), Confirm: nodeURL(n.UUID) + "/nmi"}), not
}

// whyNotPower is why a power action makes no sense now; "" if it does.
func whyNotPower(n node.Node, a node.PowerAction) string {
	switch {
	case n.TargetPowerState != "":
		return templates.WhyPowerRuns
	case n.ProvisionState == node.Cleaning || n.ProvisionState == node.CleanWait:
		return templates.WhyCleaning
	case a == node.ActionOn && n.PowerState == node.PowerOn:
		return templates.WhyServerOn
	case a != node.ActionOn && n.PowerState == node.PowerOff:
		return templates.WhyServerOff
	case a.Result() == node.PowerOff && n.DisablePowerOff:
		return templates.WhyStaysOn
	}
	return ""
}
