package templates

import (
	"context"
	"strings"

	"cagenut/node"
)

// dashed makes a piece of a key out of a word of the wire: "inspect wait" is inspect-wait.
func dashed(word string) string { return strings.ToLower(strings.ReplaceAll(word, " ", "-")) }

// StateSentence says what a state means for the person who looks at it.
func StateSentence(ctx context.Context, s node.State) string {
	return T(ctx, "state."+dashed(string(s)))
}

// ReapplyEffect says what a reapply does; the node stays in its state.
func ReapplyEffect(ctx context.Context, s node.State) string { return T(ctx, "reapply.effect", s) }

// ReapplyQuestion names the node and its place.
func ReapplyQuestion(ctx context.Context, name, place string) string {
	return question(ctx, T(ctx, "reapply.question"), name, place)
}

// MaintenanceQuestion names the node and its place.
func MaintenanceQuestion(ctx context.Context, on bool, name, place string) string {
	if on {
		return question(ctx, T(ctx, "maintenance.question.on"), name, place)
	}
	return question(ctx, T(ctx, "maintenance.question.off"), name, place)
}

// RemoveQuestion names the node and its place.
func RemoveQuestion(ctx context.Context, name, place string) string {
	return question(ctx, T(ctx, "remove.question"), name, place)
}

// ProofText says how sure it is that the report was this attempt's; "" before any.
func ProofText(ctx context.Context, p node.Proof) string {
	if p == "" {
		return ""
	}
	return T(ctx, "attempt.proof."+dashed(string(p)))
}

// RunSentence says what an attempt does, or how it ended.
func RunSentence(ctx context.Context, a node.Attempt) string {
	switch {
	case a.State == node.RunReapplying, a.Outcome == "":
		return T(ctx, "run."+dashed(string(a.State)))
	default:
		return T(ctx, "run."+dashed(string(a.Outcome)))
	}
}

// SignWords is a sign of life in words.
func SignWords(ctx context.Context, k node.SignKind) string {
	return T(ctx, "sign."+dashed(string(k)))
}

// SignDetail says where a sign came from.
func SignDetail(ctx context.Context, k node.SignKind, detail string) string {
	switch {
	case detail == "":
		return ""
	case k == node.SignBootScript:
		return T(ctx, "sign.by", detail)
	case k == node.SignDone:
		return detail
	}
	return T(ctx, "sign.from", detail)
}

// ChangeLook is the colour and the sign of what happened to a part.
func ChangeLook(c node.ChangeKind) (look, icon string) {
	switch c {
	case node.PartAdded:
		return "good", "+"
	case node.PartRemoved:
		return GroupFailed, "−"
	}
	return GroupWaiting, "≠"
}

// ChangeWord is what happened to a part in a word.
func ChangeWord(ctx context.Context, what string) string { return T(ctx, "difference.change."+what) }

// kindWord is a kind of parts; one that nobody has a word for is what it is called on the wire.
func kindWord(ctx context.Context, kind string, parts int) string {
	form := ".other"
	if parts == 1 {
		form = ".one"
	}
	key := "difference.kind." + dashed(kind) + form
	if word := T(ctx, "difference.kind."+dashed(kind)+form); word != key {
		return word
	}
	if parts > 1 {
		return kind + "s"
	}
	return kind
}

// KindHeading is the heading of a kind of parts.
func KindHeading(ctx context.Context, kind string, parts int) string {
	r := []rune(kindWord(ctx, kind, max(parts, 1)))
	if len(r) == 0 {
		return ""
	}
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// Counted is a piece of a difference's summary: "2 disks replaced".
func Counted(ctx context.Context, n int, kind, what string) string {
	return T(ctx, "difference.counted", n, kindWord(ctx, kind, n), ChangeWord(ctx, what))
}

// OnlyOne is the same for a kind of which there is one: what changed of it.
func OnlyOne(ctx context.Context, kind, what string, fields []string) string {
	const most = 3
	if len(fields) > most {
		fields = append(append([]string{}, fields[:most]...), "…")
	}
	if len(fields) == 0 || what != string(node.PartChanged) {
		return T(ctx, "difference.only", kindWord(ctx, kind, 1), ChangeWord(ctx, what))
	}
	return T(ctx, "difference.onlyfields", kindWord(ctx, kind, 1), ChangeWord(ctx, what), strings.Join(fields, ", "))
}
