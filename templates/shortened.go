package templates

// foldedFrom is how many characters of a text that others have written stand on a page before the rest is folded away.
const foldedFrom = 400

// shortened is the beginning of a text that is long; the text itself where it is not.
func shortened(text string) string {
	if len(text) <= foldedFrom {
		return text
	}
	r := []rune(text)
	if len(r) <= foldedFrom {
		return text
	}
	return string(r[:foldedFrom-1]) + "…"
}
