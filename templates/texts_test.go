package templates_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"cagenut/templates"
	"cagenut/templates/texts"
)

// A translation is a file: so no template holds words of its own.
func TestTemplatesHoldNoWords(t *testing.T) {
	files, err := filepath.Glob("*_templ.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, word := range wordsOf(f) {
				t.Errorf("%s: %s holds %q; its place is texts/en.yaml", strings.TrimSuffix(file, "_templ.go")+".templ", f.Name.Name, word)
			}
		}
	}
}

// wordsOf are the words that a generated function draws by itself: in its HTML, and in the expressions that it joins.
func wordsOf(f *ast.FuncDecl) (words []string) {
	var drawn strings.Builder
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		switch {
		case ok && s.Sel.Name == "WriteString" && len(call.Args) == 3:
			if lit, ok := call.Args[2].(*ast.BasicLit); ok {
				drawn.WriteString(unquoted(lit))
			}
		case ok && s.Sel.Name == "JoinStringErrs":
			words = append(words, spoken(call.Args)...)
			drawn.WriteString("1") // what stands there is no word of ours
		}
		return true
	})
	return append(words, shown(drawn.String())...)
}

// spoken are the literals with letters in what is drawn as text, but for keys of texts.
func spoken(args []ast.Expr) (words []string) {
	for _, arg := range args {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				return false // its arguments are keys or numbers
			case *ast.BasicLit:
				if s := unquoted(x); x.Kind == token.STRING && hasLetters(s) && strings.ContainsAny(s, " ") {
					words = append(words, s)
				}
			}
			return true
		})
	}
	return words
}

// shown are the words that a person sees or hears of HTML.
func shown(text string) (words []string) {
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return words
		case html.TextToken:
			if s := strings.TrimSpace(string(z.Text())); hasLetters(s) {
				words = append(words, s)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range z.Token().Attr {
				if slices.Contains([]string{"alt", "aria-label", "aria-description", "label", "placeholder", "title"}, a.Key) && hasLetters(a.Val) {
					words = append(words, a.Val)
				}
			}
		}
	}
}

func hasLetters(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

func unquoted(l *ast.BasicLit) string {
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return l.Value
	}
	return s
}

// asked finds keys in the source: whole ones, and beginnings that something is put behind.
var asked = regexp.MustCompile(`\b(T|N)\([^"()]*(?:\([^()]*\))?[^"()]*"([a-z][a-zA-Z0-9_.-]*)"(\s*\+)?`)

func TestEveryTextIsThereAndUsed(t *testing.T) {
	original := texts.Of(texts.Original)
	used, beginnings := map[string]bool{}, map[string]bool{}
	for _, pattern := range []string{"*.templ", "*.go", "../web/ui/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_templ.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range asked.FindAllStringSubmatch(string(source), -1) {
				keys := []string{m[2]}
				switch {
				case m[3] != "":
					beginnings[m[2]] = true
					continue
				case m[1] == "N":
					keys = []string{m[2] + ".one", m[2] + ".other"}
				}
				for _, key := range keys {
					if used[key] = true; original[key] == "" {
						t.Errorf("%s asks for %s, which en.yaml does not have", file, key)
					}
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(original)) {
		begun := false
		for b := range beginnings {
			begun = begun || strings.HasPrefix(key, b)
		}
		if !used[key] && !begun {
			t.Errorf("en.yaml has %s, which nobody asks for", key)
		}
	}
}

var verbs = regexp.MustCompile(`%(\[\d+\])?[a-z]`)

func TestTranslationsFitTheOriginal(t *testing.T) {
	original := texts.Of(texts.Original)
	for _, tag := range texts.Languages()[1:] {
		for key, text := range texts.Of(tag) {
			want, ok := original[key]
			if !ok {
				t.Errorf("%s.yaml has %s, which en.yaml has not", tag, key)
			}
			if g, w := len(verbs.FindAllString(text, -1)), len(verbs.FindAllString(want, -1)); g > w {
				t.Errorf("%s.yaml: %s fills in %d values, en.yaml %d", tag, key, g, w)
			}
		}
	}
}

func TestTextsAreThoseOfTheLanguageAndElseEnglish(t *testing.T) {
	ctx := templates.WithTexts(t.Context(), "xx", texts.Catalogue{"frame.skip": "⟦%s⟧"})
	if got := templates.T(ctx, "frame.skip", "a"); got != "⟦a⟧" {
		t.Errorf("the language's own text is %q", got)
	}
	if got := templates.T(templates.WithTexts(t.Context(), "xx", nil), "frame.skip"); got != texts.Of("en")["frame.skip"] {
		t.Errorf("a text that the language lacks is %q", got)
	}
	for accept, want := range map[string]string{"": "en", "fr, de;q=0.5": "en", "nonsense;;;": "en", "en-GB": "en"} {
		if got := texts.Choose(accept); got != want {
			t.Errorf("%q chooses %s, want %s", accept, got, want)
		}
	}
}
