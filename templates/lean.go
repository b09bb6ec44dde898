package templates

import (
	"bytes"
	"path"
	"strings"
)

// lean is a static file without what only its authors read: comments and indentation. The list of nodes has to be light with
// all that it needs (a test weighs it).
func lean(name string, body []byte) []byte {
	switch path.Ext(name) {
	case ".css":
		return leanStyle(body)
	case ".js":
		return leanScript(body)
	}
	return body
}

// leanScript drops lines that are comments, and what lines begin with. No text of the script goes over several lines; a test
// looks for that.
func leanScript(body []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			out.WriteString(line + "\n")
		}
	}
	return out.Bytes()
}

// leanStyle drops comments, and the space around what divides rules.
func leanStyle(body []byte) []byte {
	var out bytes.Buffer
	for s := string(body); s != ""; {
		switch {
		case s[0] == '"': // texts stay as they are
			end := strings.IndexByte(s[1:], '"') + 2
			out.WriteString(s[:end])
			s = s[end:]
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s, "*/")
		case strings.IndexByte(" \t\n", s[0]) >= 0:
			s = strings.TrimLeft(s, " \t\n")
			if last := out.Len() - 1; last >= 0 && !divides(out.Bytes()[last], "{};:,") && s != "" && !divides(s[0], "{};,") {
				out.WriteByte(' ')
			}
		default:
			out.WriteByte(s[0])
			s = s[1:]
		}
	}
	return out.Bytes()
}

func divides(c byte, signs string) bool { return strings.IndexByte(signs, c) >= 0 }
