package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// textShown is how much of a log file a page holds, in bytes.
const textShown = 1 << 20

// logsURL is the address of the list of files in an attempt's logs.
func logsURL(n node.Node, attempt string) string { return attemptURL(n, attempt) + "/logs" }

func (p *Pages) logs(c *fiber.Ctx) error {
	n, id, err := p.attemptNamed(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	files, err := p.o.Conductor.RamdiskLogFiles(ctx, n.UUID, id)
	v := templates.Logs{
		Frame: p.frame(c, templates.T(ctx, "logs.of", n.Label()), ""), Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n),
		Attempt: attemptURL(n, id), Archive: logsURL(n, id) + "/archive",
	}
	var broken *node.Invalid
	switch {
	case errors.As(err, &broken): // what could be read is worth showing
		v.Problem = broken.Text
	case err != nil:
		return err
	}
	for _, f := range files {
		v.Files = append(v.Files, templates.LogFile{File: f.Name, Size: fileSize(ctx, f.Size), Href: logsURL(n, id) + "/file?name=" + url.QueryEscape(f.Name)})
	}
	return render(c, fiber.StatusOK, templates.LogsPage(v))
}

// logFile shows the beginning of one file as text.
func (p *Pages) logFile(c *fiber.Ctx) error {
	n, id, err := p.attemptNamed(c)
	if err != nil {
		return err
	}
	ctx, name := c.UserContext(), c.Query("name")
	content, err := p.o.Conductor.RamdiskLogFile(ctx, n.UUID, id, name)
	status, problem := fiber.StatusOK, ""
	var broken *node.Invalid
	switch {
	case errors.As(err, &broken):
		status, problem = web.Status(err)
	case err != nil:
		return err
	}
	v := templates.LogText{
		Frame: p.frame(c, templates.T(ctx, "logs.fileof", name, n.Label()), ""), Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n), File: name, Problem: problem,
		Logs: logsURL(n, id), Whole: logsURL(n, id) + "/file/whole?name=" + url.QueryEscape(name), Archive: logsURL(n, id) + "/archive",
	}
	if len(content) > textShown {
		v.Cut = templates.T(ctx, "logs.cut", fileSize(ctx, textShown), fileSize(ctx, int64(len(content))))
		content = wholeRunes(content[:textShown])
	}
	v.Text = plainText(content)
	return render(c, status, templates.LogTextPage(v))
}

// wholeRunes leaves out a character that was cut at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// plainText is what a server sent, without what would do anything but be read: control characters, and those that turn the
// direction of the text around.
func plainText(b []byte) string {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return utf8.RuneError
		}
		return r
	}, string(bytes.ToValidUTF8(b, []byte("\uFFFD"))))
}

// fileSize is the size of a file.
func fileSize(ctx context.Context, b int64) string {
	switch {
	case b < 1<<10:
		return templates.N(ctx, "logs.bytes", int(b))
	case b < 1<<20:
		return fmt.Sprintf("%d KiB", (b+1<<9)>>10)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(b)/(1<<20)), ".0") + " MiB"
}
