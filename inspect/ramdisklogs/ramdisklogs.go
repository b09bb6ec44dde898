package ramdisklogs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"path"
	"strings"
	"unicode"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// How much of an archive is read.
const (
	maxFiles    = 2000
	maxUnpacked = 256 << 20 // bytes of all files together
	maxFile     = 16 << 20  // bytes of a file that is shown
	maxName     = 255
)

// Archives reads archives. It holds nothing.
type Archives struct{}

// Split takes the logs out of a report: the archive, nil where there is none or it is no base64, and the rest of the
// report. The rest is the body itself where it has no logs. The report is one that was accepted.
func (Archives) Split(body []byte) (archive, rest []byte, err error) {
	rest, text := inventory.WithoutLogs(body)
	archive = make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(archive, text) // it overlooks line ends
	if err != nil || n == 0 {
		return nil, rest, nil
	}
	return archive[:n], rest, nil
}

// Files lists the regular files of an archive, in its order. An archive that is broken further on gives what came before
// and an error of kind *node.Invalid.
func (Archives) Files(archive []byte) ([]node.LogFile, error) {
	var files []node.LogFile
	err := each(archive, func(name string, size int64, _ io.Reader) (bool, error) {
		files = append(files, node.LogFile{Name: name, Size: size})
		return true, nil
	})
	return files, err
}

// File is the content of one file, at most its first 16 MiB; *node.NotFound without such a file.
func (Archives) File(archive []byte, wanted string) (content []byte, err error) {
	found := false
	err = each(archive, func(name string, _ int64, r io.Reader) (bool, error) {
		if name != wanted {
			return true, nil
		}
		found = true
		var err error
		content, err = io.ReadAll(io.LimitReader(r, maxFile))
		return false, err
	})
	if err == nil && !found {
		err = &node.NotFound{Text: "There is no such file in the logs."}
	}
	return content, err
}

// each visits the regular files until visit says that it has seen enough. Of several files with one name the first counts.
func each(archive []byte, visit func(name string, size int64, r io.Reader) (more bool, err error)) error {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return broken(err)
	}
	seen := map[string]bool{}
	limit := &io.LimitedReader{R: z, N: maxUnpacked}
	for t := tar.NewReader(limit); ; {
		h, err := t.Next()
		switch {
		case limit.N <= 0:
			return node.Invalidf("The logs unpack to more than %d MiB; the rest is not shown.", maxUnpacked>>20)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return broken(err)
		case h.Typeflag != tar.TypeReg:
			continue
		}
		name := clean(h.Name)
		if name == "" || seen[name] {
			continue
		}
		if len(seen) == maxFiles {
			return node.Invalidf("The logs hold more than %d files; the rest is not shown.", maxFiles)
		}
		seen[name] = true
		more, err := visit(name, h.Size, t)
		if err != nil {
			return broken(err)
		}
		if !more {
			return nil
		}
	}
}

func broken(err error) error {
	return node.Invalidf("The logs that the ramdisk sent cannot be read: %s.", err)
}

// clean is a file's name as it can be shown and asked for: relative, without dots that lead elsewhere and without control
// characters; "" for one that cannot.
func clean(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}
