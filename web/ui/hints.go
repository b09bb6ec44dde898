package ui

import (
	"context"
	"slices"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// diagnosis is what is known of a node that may be in trouble, and of one of its inspections.
type diagnosis struct {
	node    node.Node
	attempt *node.Attempt // nil where there was none
	signs   []node.Sign
	past    bool // a later inspection has followed: only what the attempt itself tells counts
}

// hint is what may be wrong and what to do about it: the texts are hint.<key> and hint.<key>.do. ways are what can be pressed,
// by the keys of [Pages.way].
type hint struct {
	key  string
	fits func(d diagnosis) bool
	ways []string
}

// hintGroups are all hints. Of each group the first that fits is told: the groups are about different things, which may all be
// wrong at once.
func hintGroups() [][]hint {
	return [][]hint{bmcHints(), inspectionHints(), leftoverHints(), healthHints()}
}

// bmcHints are about a BMC that cannot be used. What is known of the reason is its sentence: the words are those of
// bmc/redfish and bmc/ipmi, which tell what an operator may do.
func bmcHints() []hint {
	said := func(words ...string) func(diagnosis) bool {
		return func(d diagnosis) bool { return mentions(d.bmcTrouble(), words...) }
	}
	return []hint{
		{"credentials", said(node.ErrCredentials.Error()), []string{"edit", "manage", "health"}},
		{"pin", said("is not the pinned one"), []string{"edit", "bmc"}},
		{"certificate", said("redfish_verify_ca", "x509: "), []string{"edit", "health"}},
		{"oldtls", said("redfish_old_tls"), []string{"edit", "health"}},
		{"scheme", said("does not speak TLS there", "wants TLS there"), []string{"edit", "manage"}},
		{"name", said("cannot be resolved"), []string{"edit", "manage"}},
		{"refused", said("nothing listens there"), []string{"edit", "health", "manage"}},
		{"route", said("nothing leads to that address"), []string{"edit", "health", "manage"}},
		{"foreign", said("is not a Redfish service", "that is no BMC"), []string{"edit", "manage"}},
		{"busy", said("stayed busy", "sessions are taken"), []string{"health"}},
		{"silent", func(d diagnosis) bool {
			return !d.past && !d.node.BMCUnreachableSince.IsZero() || mentions(d.bmcTrouble(), "that it is powered", "answers too slowly")
		}, []string{"health", "edit", "manage"}},
		{"bmcfailed", func(d diagnosis) bool {
			return !d.past && d.node.ProvisionState == node.Enroll && d.node.LastError != ""
		}, []string{"edit", "manage"}},
	}
}

// bmcTrouble is why the BMC cannot be used; "" where nothing says so.
func (d diagnosis) bmcTrouble() string {
	switch {
	case d.past:
		return d.startFailure()
	case d.node.BMCError != "":
		return d.node.BMCError
	case d.node.ProvisionState == node.Enroll || mentions(d.node.LastError, "Failed to change power state", "Power off not confirmed"):
		return d.node.LastError
	}
	return d.startFailure()
}

// startFailure is why an inspection could not be started; "" where it was.
func (d diagnosis) startFailure() string {
	if d.ended(node.Failed) && d.attempt.WaitingAt.IsZero() {
		return d.attempt.Error
	}
	return ""
}

// ended tells whether the attempt is what the node is about, and ended so.
func (d diagnosis) ended(o node.Outcome) bool {
	return d.attempt != nil && d.attempt.Outcome == o && (d.past || d.node.ProvisionState == node.InspectFailed)
}

func (d diagnosis) saw(kinds ...node.SignKind) bool {
	return slices.ContainsFunc(d.signs, func(s node.Sign) bool { return slices.Contains(kinds, s.Kind) })
}

func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// inspectionHints are about an inspection that did not succeed.
func inspectionHints() []hint {
	timedOut := func(kinds ...node.SignKind) func(diagnosis) bool {
		return func(d diagnosis) bool { return d.ended(node.TimedOut) && (kinds == nil || d.saw(kinds...)) }
	}
	failed := func(words ...string) func(diagnosis) bool {
		return func(d diagnosis) bool {
			return d.ended(node.Failed) && (words == nil || mentions(d.attempt.Error, words...))
		}
	}
	reported := func(words ...string) func(diagnosis) bool {
		return func(d diagnosis) bool { return failed(words...)(d) && !d.attempt.ReportAt.IsZero() }
	}
	return []hint{
		{"abortrefused", func(d diagnosis) bool {
			return !d.past && d.node.ProvisionState == node.InspectWait && mentions(d.node.LastError, "Failed to abort inspection")
		}, []string{"timeline"}},
		{"aborted", func(d diagnosis) bool { return d.ended(node.Aborted) }, []string{"again", "timeline"}},
		{"stuck", timedOut(node.SignLookup, node.SignHeartbeat), []string{"again", "timeline", "health"}},
		{"kernel", timedOut(node.SignBootFile, node.SignBootImage), []string{"again", "timeline"}},
		{"script", timedOut(node.SignBootScript), []string{"again", "timeline"}},
		{"nosign", timedOut(), []string{"again", "timeline", "boot"}},
		{"interrupted", failed("The appliance was restarted"), []string{"again"}},
		{"inspectorgone", failed("The inspector service does not know this node"), []string{"again"}},
		{"inspectorfailed", failed("ironic-inspector inspection failed"), []string{"again"}},
		{"inspectorstart", failed("Failed to start inspection"), []string{"again"}},
		{"outofband", failed("Failed to discover the following properties", "the BMC did not tell everything within"), []string{"again", "bmc"}},
		{"insert", failed("insert the ISO"), []string{"media", "again"}},
		{"slowstart", failed("the server was not ready within"), []string{"again", "health"}},
		{"ramdisk", failed("Ramdisk reported error"), []string{"logs", "again"}},
		{"nics", failed("no usable network interface", "no network interfaces match"), []string{"logs", "again"}},
		{"rootdevice", failed("root device hints", "properties.root_device"), []string{"inventory", "logs", "reapply"}},
		{"rule", failed("Failed to inspect hardware. Reason: "), []string{"reapply", "again"}},
		{"hook", failed("Error in hook "), []string{"reapply", "logs"}},
		{"report", reported(), []string{"logs", "reapply", "again"}},
		{"start", func(d diagnosis) bool { return failed()(d) && !anyFits(bmcHints(), d) }, []string{"again", "health"}},
	}
}

// leftoverHints are about what the end of an inspection left behind.
func leftoverHints() []hint {
	cleaning := func(d diagnosis) bool {
		return d.attempt != nil && d.attempt.CleanUpError != "" && (d.attempt.CleanUp == node.CleanUpGivenUp || d.attempt.CleanUp == node.CleanUpPending)
	}
	return []hint{
		{"media-left", func(d diagnosis) bool {
			return cleaning(d) && mentions(d.attempt.CleanUpError, node.ErrMediumLeft.Error())
		}, []string{"media"}},
		{"poweroff", func(d diagnosis) bool { return cleaning(d) && !d.past && powerUnconfirmed(d.node, *d.attempt) }, []string{"poweroff", "health"}},
		{"override", func(d diagnosis) bool { return cleaning(d) && !d.past }, []string{"boot"}},
		{"diverges", func(d diagnosis) bool { return d.attempt != nil && d.attempt.Divergence != "" }, nil},
	}
}

// healthHints are about what the BMC says of the server's parts.
func healthHints() []hint {
	return []hint{{"sick", func(d diagnosis) bool {
		return !d.past && (d.node.Health == node.HealthWarning || d.node.Health == node.HealthCritical)
	}, []string{"health", "log"}}}
}

func anyFits(group []hint, d diagnosis) bool {
	return slices.ContainsFunc(group, func(h hint) bool { return h.fits(d) })
}

// hintsFor are the hints for what is known, with what a person who may act can press on the page that it is drawn on.
func (p *Pages) hintsFor(ctx context.Context, d diagnosis, act bool, back string) (out []templates.Hint) {
	for _, group := range hintGroups() {
		i := slices.IndexFunc(group, func(h hint) bool { return h.fits(d) })
		if i < 0 {
			continue
		}
		h := templates.Hint{ID: group[i].key, Title: templates.T(ctx, "hint."+group[i].key), Text: templates.T(ctx, "hint."+group[i].key+".do")}
		for _, way := range group[i].ways {
			p.way(ctx, d, way, act, back, &h)
		}
		out = append(out, h)
	}
	return out
}
