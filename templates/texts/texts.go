// Package texts holds every text of the dashboard, one file for each language. en.yaml is the original; a translation is
// another file beside it, such as de.yaml, with the same keys. What a translation lacks is shown in English.
//
// Texts that come from the conductor or a BMC (last_error, refusals, history) are data on the wire and are not translated.
package texts

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"gopkg.in/yaml.v3"
)

//go:embed *.yaml
var files embed.FS

// Original is the language that every text exists in.
const Original = "en"

// Catalogue is the texts of one language by key, such as "list.title".
type Catalogue map[string]string

// all are the catalogues that the binary carries, by language tag.
var all = sync.OnceValue(func() map[string]Catalogue {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // embedded: cannot happen
	}
	out := map[string]Catalogue{}
	for _, e := range entries {
		body, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err) // embedded: cannot happen
		}
		c, err := Parse(body)
		if err != nil {
			panic(fmt.Errorf("%s: %w", e.Name(), err)) // a test reads every file
		}
		out[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = c
	}
	return out
})

// Parse reads a catalogue: one flat map of keys to texts.
func Parse(body []byte) (Catalogue, error) {
	var c Catalogue
	if err := yaml.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	return c, nil
}

// Languages are the tags of the languages there are, the original first.
func Languages() []string {
	var tags []string
	for tag := range all() {
		if tag != Original {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return append([]string{Original}, tags...)
}

// Choose is the language that fits an Accept-Language header best; the original where none does.
func Choose(accept string) string {
	tags := Languages()
	if len(tags) == 1 {
		return Original
	}
	have := make([]language.Tag, len(tags))
	for i, t := range tags {
		have[i] = language.Make(t)
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return Original
	}
	_, at, _ := language.NewMatcher(have).Match(wanted...)
	return tags[at]
}

// Of is the catalogue of a language; the original's for one that there is not.
func Of(tag string) Catalogue {
	if c, ok := all()[tag]; ok {
		return c
	}
	return all()[Original]
}
