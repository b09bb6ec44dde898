package templates

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
	entries, err := files.ReadDir("static")
	if err != nil {
		panic(err) // embedded: cannot happen
	}
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	for _, e := range entries {
		body, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err) // embedded: cannot happen
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		byHash[name] = asset{body: body, contentType: types[ext]}
		hashed[e.Name()] = name
	}
	return byHash, hashed
})

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
