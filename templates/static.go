package templates

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed static
var files embed.FS

// StaticPath is where static files are served; their names carry a hash of the content, so they may be cached for ever.
const StaticPath = "/ui/static/"

type asset struct {
	body        []byte
	contentType string
}

// assets maps hashed names to content, and plain names to hashed ones.
var assets = sync.OnceValues(func() (map[string]asset, map[string]string) {
	byHash, hashed := map[string]asset{}, map[string]string{}
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	for file, body := range map[string][]byte{"live.js": joinedFiles("static/live.js"), "icon.svg": joinedFiles("static/icon.svg"), "cagenut.css": joinedFiles("static/css/*.css")} {
		body = lean(file, body)
		sum := sha256.Sum256(body)
		ext := path.Ext(file)
		name := strings.TrimSuffix(file, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		byHash[name] = asset{body: body, contentType: types[ext]}
		hashed[file] = name
	}
	return byHash, hashed
})

// joinedFiles is what a pattern finds, one after the other by name: the style sheet is one file on the wire and one for each
// page here.
func joinedFiles(pattern string) []byte {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // embedded: cannot happen
	}
	var all []byte
	for _, name := range names {
		body, err := files.ReadFile(name)
		if err != nil {
			panic(err) // embedded: cannot happen
		}
		all = append(all, body...)
	}
	return all
}

// AssetURL is the address of a static file, such as "live.js".
func AssetURL(name string) string {
	_, hashed := assets()
	return StaticPath + hashed[name]
}

// Asset finds a static file by the hashed name of its address.
func Asset(hashed string) (body []byte, contentType string, ok bool) {
	byHash, _ := assets()
	a, ok := byHash[hashed]
	return a.body, a.contentType, ok
}

// joined lists states for an attribute that the script splits again; no state's name has a comma.
func joined(states []string) string { return strings.Join(states, ",") }
