package ramdisklogs_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/ramdisklogs"
	"cagenut/node"
)

var logs ramdisklogs.Archives

type file struct {
	name, content string
	kind          byte
}

func archive(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if f.kind == 0 {
			f.kind = tar.TypeReg
		}
		h := &tar.Header{Name: f.name, Typeflag: f.kind, Mode: 0o644, Size: int64(len(f.content))}
		if f.kind == tar.TypeSymlink {
			h.Linkname, h.Size = "/etc/passwd", 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.content[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSplitTakesTheLogsOutOfAReport(t *testing.T) {
	a := archive(t, file{name: "journal", content: "boot"})
	encoded := base64.StdEncoding.EncodeToString(a)
	wrapped := encoded[:20] + "\\n" + encoded[20:]
	for _, c := range []struct {
		name, body, rest string
		archive          []byte
	}{
		{"in the middle", `{"inventory":{"a":1.50},"logs":"` + encoded + `","error":null}`, `{"inventory":{"a":1.50},"error":null}`, a},
		{"alone", `{"logs":"` + encoded + `"}`, `{}`, a},
		{"with line ends, as some encoders put them", `{"logs":"` + wrapped + `","x":1}`, `{"x":1}`, a},
		{"none, and the report is left as it is, byte for byte", `{ "inventory" : {} }`, `{ "inventory" : {} }`, nil},
		{"logs deeper down are none", `{"inventory":{"logs":"x"}}`, `{"inventory":{"logs":"x"}}`, nil},
		{"logs that are no base64 go away", `{"logs":"%%%","x":1}`, `{"x":1}`, nil},
		{"logs that are no text go away", `{"logs":{"a":[1]},"x":1}`, `{"x":1}`, nil},
		{"null", `{"logs":null,"x":1}`, `{"x":1}`, nil},
		{"numbers stay as they were written", `{"x":18446744073709551615,"logs":""}`, `{"x":18446744073709551615}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, rest, err := logs.Split([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, c.archive) {
				t.Errorf("archive of %d bytes, want %d", len(got), len(c.archive))
			}
			if diff := cmp.Diff(c.rest, string(rest)); diff != "" {
				t.Errorf("the rest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilesOfAnArchive(t *testing.T) {
	a := archive(t,
		file{name: "journal", content: "started"}, file{name: "./var/log/ipa.log", content: "ok"}, file{name: "empty"},
		file{name: "dir", kind: tar.TypeDir}, file{name: "link", kind: tar.TypeSymlink}, file{name: "../../etc/shadow", content: "x"},
		file{name: "journal", content: "a second one"}, file{name: "bad\x01name", content: "x"},
	)
	files, err := logs.Files(a)
	if err != nil {
		t.Fatal(err)
	}
	want := []node.LogFile{{Name: "journal", Size: 7}, {Name: "var/log/ipa.log", Size: 2}, {Name: "empty"}, {Name: "etc/shadow", Size: 1}}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	content, err := logs.File(a, "journal")
	if err != nil || string(content) != "started" {
		t.Errorf("journal: %q, %v", content, err)
	}
	var none *node.NotFound
	if _, err := logs.File(a, "link"); !errors.As(err, &none) {
		t.Errorf("a link is no file: %v", err)
	}
}

// G26: archives are as hostile as the rest of a report.
func TestHostileArchives(t *testing.T) {
	whole := archive(t, file{name: "journal", content: strings.Repeat("line\n", 10_000)}, file{name: "last", content: "x"})
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Size: 300 << 20}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeros{}, 300<<20); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	var many []file
	for i := range 3000 {
		many = append(many, file{name: fmt.Sprint("f", i)})
	}
	for _, c := range []struct {
		name    string
		archive []byte
		files   int
		want    string
	}{
		{"nothing", nil, 0, "cannot be read"},
		{"no gzip", []byte("hello"), 0, "cannot be read"},
		{"cut off", whole[:len(whole)/2], 1, "cannot be read"},
		{"a bomb", bomb.Bytes(), 1, "more than 256 MiB"},
		{"too many files", archive(t, many...), 2000, "more than 2000 files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := logs.Files(c.archive)
			var invalid *node.Invalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want *node.Invalid with %q", err, c.want)
			}
			if len(files) != c.files {
				t.Errorf("%d files were listed, want the %d before the fault", len(files), c.files)
			}
		})
	}
	t.Run("what is shown of a file is bounded", func(t *testing.T) {
		content, err := logs.File(bomb.Bytes(), "zeros")
		if err != nil || len(content) != 16<<20 {
			t.Errorf("%d bytes, %v", len(content), err)
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"inventory":{},"logs":"H4sIAAAAAAAAAwMAAAAAAAAAAAA="}`))
	f.Add([]byte(`{"logs":1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		archive, rest, err := logs.Split(body)
		if err != nil {
			return
		}
		if json.Valid(body) && !json.Valid(rest) {
			t.Errorf("valid JSON became %q", rest)
		}
		_, _ = logs.Files(archive)
	})
}
