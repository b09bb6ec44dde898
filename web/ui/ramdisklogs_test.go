package ui_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"cagenut/node"
)

// Issue 5, point 2: the logs of an attempt are listed, read and taken away.
func TestTheLogsOfAnAttempt(t *testing.T) {
	r, _ := inspectedRack()
	r.edit(func() {
		r.kept.files = map[string]map[string]string{newest: {
			"journal": "line 1\r\nline\t2 <b>&\n\x00\x1b[31m\u202e\xff", "var/log/a b&c.log": strings.Repeat("x", 3000), "empty": "", "big": strings.Repeat("é", 700_000),
		}, second: {}}
	})
	s := serve(t, r, 0)
	at := "/ui/nodes/r07-u21/attempts/" + newest
	s.get(at).has(t, `href="`+at+`/logs">Read the logs`)
	list := s.get(at+"/logs", viewer)
	list.has(t, `href="`+at+`/logs/file?name=journal">journal</a>`, "3 KiB", "0 bytes", "1.3 MiB", `href="`+at+`/logs/archive" download`, `href="`+at+`">The inspection`)
	odd := regexp.MustCompile(`href="([^"]*)">var/log/a b&amp;c.log<`).FindStringSubmatch(list.body)
	if odd == nil {
		t.Fatal("a file with an odd name has no link")
	}
	if a := s.get(html.UnescapeString(odd[1])); a.status != http.StatusOK {
		t.Errorf("its page: %d", a.status)
	}

	journal := s.get(at + "/logs/file?name=journal")
	journal.has(t, "<code>line 1\nline\t2 &lt;b&gt;&amp;\n\uFFFD\uFFFD[31m\uFFFD\uFFFD</code>", `href="`+at+`/logs/file/whole?name=journal"`, `href="`+at+`/logs/archive" download`, "<h1><bdi>journal</bdi></h1>")
	journal.lacks(t, "These are the first")
	whole := s.get(at + "/logs/file/whole?name=journal")
	if kind := whole.header.Get("Content-Type"); kind != "text/plain; charset=utf-8" || whole.header.Get("X-Content-Type-Options") != "nosniff" || whole.body != "line 1\r\nline\t2 <b>&\n\x00\x1b[31m\u202e\uFFFD" {
		t.Errorf("the whole file is %s %q", kind, whole.body)
	}
	archive := s.get(at+"/logs/archive", viewer)
	if as := archive.header.Get("Content-Disposition"); archive.body != "archive of "+newest || as != `attachment; filename="ramdisk-logs-`+newest+`.tar.gz"` {
		t.Errorf("the archive is %q as %s", archive.body, as)
	}
	s.get(at+"/logs/file?name=empty").has(t, english("logs.empty"))

	t.Log("of a long one the first MiB, in whole characters")
	big := s.get(at + "/logs/file?name=big")
	big.has(t, "These are the first 1 MiB of 1.3 MiB.")
	if n := strings.Count(big.body, "é"); n != 1<<19 || strings.Contains(big.body, "\uFFFD") {
		t.Errorf("%d characters are shown", n)
	}
	if a := s.get(at + "/logs/file?name=other"); a.status != http.StatusNotFound {
		t.Errorf("a file that is not there: %d", a.status)
	}
	s.get("/ui/nodes/r07-u21/attempts/"+second+"/logs").has(t, english("logs.nofiles"))
}

// G26
func TestABrokenArchiveSaysSo(t *testing.T) {
	r, _ := inspectedRack()
	r.edit(func() {
		r.kept.files = map[string]map[string]string{newest: {"journal": "x"}}
		r.kept.broken = &node.Invalid{Text: "The logs that the ramdisk sent cannot be read: unexpected <EOF>."}
	})
	s := serve(t, r, 0)
	at := "/ui/nodes/r07-u21/attempts/" + newest + "/logs"
	s.get(at).has(t, "cannot be read: unexpected &lt;EOF&gt;.", ">journal</a>", "/archive")
	a := s.get(at + "/file?name=journal")
	if a.status != http.StatusBadRequest {
		t.Errorf("got %d", a.status)
	}
	a.has(t, "cannot be read: unexpected &lt;EOF&gt;.", "/archive")
	a.lacks(t, english("logs.whole"))
}
