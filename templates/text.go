package templates

import (
	"context"
	"fmt"
	"strings"

	"cagenut/templates/texts"
)

type catalogueKey struct{}

// chosen is the language that a page is drawn in.
type chosen struct {
	tag   string
	texts texts.Catalogue
}

// WithLanguage is a context whose pages are drawn in a language, by its tag such as "en".
func WithLanguage(ctx context.Context, tag string) context.Context {
	return WithTexts(ctx, tag, texts.Of(tag))
}

// WithTexts is WithLanguage with texts that are not among the binary's.
func WithTexts(ctx context.Context, tag string, c texts.Catalogue) context.Context {
	return context.WithValue(ctx, catalogueKey{}, chosen{tag: tag, texts: c})
}

// Speak is a context whose pages are drawn in the language that fits an Accept-Language header best.
func Speak(ctx context.Context, accept string) context.Context {
	return WithLanguage(ctx, texts.Choose(accept))
}

// Speaks tells whether a language has been chosen.
func Speaks(ctx context.Context) bool { return ctx.Value(catalogueKey{}) != nil }

// Language is the tag of the language that pages are drawn in.
func Language(ctx context.Context) string {
	if c, ok := ctx.Value(catalogueKey{}).(chosen); ok {
		return c.tag
	}
	return texts.Original
}

// T is the text of a key in the language of the page, with its arguments filled in by the verbs of package fmt. A text that
// is missing in that language is the original's.
func T(ctx context.Context, key string, args ...any) string {
	text, ok := "", false
	if c, has := ctx.Value(catalogueKey{}).(chosen); has {
		text, ok = c.texts[key]
	}
	if !ok {
		if text, ok = texts.Of(texts.Original)[key]; !ok {
			return key // a test looks for every key
		}
	}
	if len(args) == 0 || !strings.Contains(text, "%") {
		return text // such as "the only node": its number goes without saying
	}
	return fmt.Sprintf(text, args...)
}

// N is T for a text that depends on how many: of key.one and key.other, with n as its first argument.
func N(ctx context.Context, key string, n int, args ...any) string {
	form := ".other"
	if n == 1 {
		form = ".one"
	}
	return T(ctx, key+form, append([]any{n}, args...)...)
}
