package templates_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cagenut/templates"
)

// asWritten are the files of a pattern, one after the other.
func asWritten(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(pattern, err)
	}
	var all strings.Builder
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(body)
	}
	return all.String()
}

func TestStaticFilesAreServedWithoutWhatOnlyTheirAuthorsRead(t *testing.T) {
	for name, written := range map[string]string{"live.js": "static/live.js", "cagenut.css": "static/css/*.css"} {
		served, _, ok := templates.Asset(strings.TrimPrefix(templates.AssetURL(name), templates.StaticPath))
		if !ok {
			t.Fatalf("%s is not served", name)
		}
		all := []byte(asWritten(t, written))
		if len(served) >= len(all) || (name == "cagenut.css" && bytes.Contains(served, []byte("/*"))) || bytes.Contains(served, []byte("\n//")) {
			t.Errorf("%s: %d bytes are served of %d", name, len(served), len(all))
		}
		// Whatever means something is there in its order.
		means := func(text string) string {
			return regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`(?ms)/\*.*?\*/|^[\t ]*//[^\n]*$`).ReplaceAllString(text, ""), "")
		}
		if means(string(all)) != means(string(served)) {
			t.Errorf("%s: something else than space and comments was dropped", name)
		}
	}
}

func TestTheStyleSheetKeepsTheSpacesThatMeanSomething(t *testing.T) {
	served, _, _ := templates.Asset(strings.TrimPrefix(templates.AssetURL("cagenut.css"), templates.StaticPath))
	written := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(asWritten(t, "static/css/*.css"), "")
	// Sums, conditions, and one thing inside of another.
	for _, space := range []string{`[\w)] [+*/-] [\w(]`, `[\w\])] [.#\[:][\w-]`, `[\w\])] > [\w.:]`} {
		re := regexp.MustCompile(space)
		if want, got := len(re.FindAllString(written, -1)), len(re.FindAll(served, -1)); got != want || want == 0 {
			t.Errorf("%s: %d times, written %d times", space, got, want)
		}
	}
}

func TestNoTextOfTheScriptGoesOverSeveralLines(t *testing.T) {
	body, err := os.ReadFile("static/live.js")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if strings.Count(line, "`")%2 != 0 || strings.HasSuffix(strings.TrimSpace(line), `\`) {
			t.Errorf("a text begins in a line and does not end in it: %s", line)
		}
	}
}
