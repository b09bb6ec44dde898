package boot

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// errMissing is all that anybody learns of what is not served.
var errMissing = &node.NotFound{Text: "There is no such boot file."}

// file sends one regular file of the folder.
func (s *Server) file(c *fiber.Ctx) error {
	name, err := url.PathUnescape(c.Params("file"))
	if err != nil {
		return errMissing
	}
	if id := c.Query("attempt"); node.IsUUID(id) {
		if n, a, err := s.Conductor.BootingAttempt(c.UserContext(), id); err == nil {
			s.Conductor.Sign(c.UserContext(), n.UUID, a.ID, node.SignBootFile, web.RemoteAddress(c))
		}
	}
	return s.send(c, name, func(r io.Reader, _ int64) io.Reader { return r })
}

// medium sends a file as the boot medium of an attempt, with its kernel parameters in it, for as long as that runs.
func (s *Server) medium(c *fiber.Ctx) error {
	name, err := url.PathUnescape(strings.Clone(c.Params("file"))) // it is remembered
	if err != nil || s.ISOs == nil || !node.IsUUID(c.Params("attempt")) {
		return errMissing
	}
	n, a, err := s.Conductor.BootingAttempt(c.UserContext(), c.Params("attempt"))
	var unknown *node.NotFound
	if errors.As(err, &unknown) {
		return errMissing
	}
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(c.Params("key")), []byte(a.MediumKey(name))) != 1 {
		return errMissing
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), scanTime)
	defer cancel()
	found, err := s.ISOs.scanned(ctx, name)
	text := ""
	if err == nil && len(found.places) > 0 {
		text, err = s.ISOs.text(n, a, found)
	}
	if err != nil { // it was replaced since the attempt began
		s.Log.Error("boot: an ISO cannot be served", "node", n.UUID, "file", name, "err", err)
		return errMissing
	}
	s.Conductor.Sign(c.UserContext(), n.UUID, a.ID, node.SignBootImage, web.RemoteAddress(c))
	c.Set(fiber.HeaderCacheControl, "no-store")
	return s.send(c, name, func(r io.Reader, from int64) io.Reader {
		return &filled{image: r, at: from, places: found.places, text: text}
	})
}

// scanTime bounds looking through an image that was replaced since its attempt began.
const scanTime = 20 * time.Second

// send sends a regular file of the folder as change makes it, told from where on. A single range is honoured, because BMCs
// read virtual media in pieces.
func (s *Server) send(c *fiber.Ctx, name string, change func(r io.Reader, from int64) io.Reader) error {
	f, err := s.root.Open(name) // refuses to leave the folder
	if err != nil {
		return errMissing
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return errMissing
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	from, length, ranged, ok := byteRange(c.Get(fiber.HeaderRange), info.Size())
	if !ok {
		_ = f.Close()
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", info.Size()))
		return fiber.ErrRequestedRangeNotSatisfiable
	}
	if ranged {
		c.Status(fiber.StatusPartialContent)
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", from, from+length-1, info.Size()))
	}
	c.Context().SetBodyStream(part{change(io.NewSectionReader(f, from, length), from), f, c.Context().Conn()}, int(length))
	return nil
}

// stall is how long a server may take nothing of a boot file before it is cut. The whole file may take as long as it
// likes: management networks are slow.
const stall = time.Minute

// part is a stretch of a file that closes it; the server does that once it has sent it.
type part struct {
	stretch io.Reader
	file    *os.File
	conn    net.Conn
}

// Read is called for the next piece when the one before has been written.
func (p part) Read(b []byte) (int, error) {
	if err := p.conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return p.stretch.Read(b)
}

func (p part) Close() error { return p.file.Close() }

// byteRange reads a Range header. Several ranges, and units other than bytes, are answered with the whole file.
func byteRange(header string, size int64) (from, length int64, ranged, ok bool) {
	spec, found := strings.CutPrefix(header, "bytes=")
	first, last, dash := strings.Cut(spec, "-")
	if !found || !dash || strings.Contains(spec, ",") {
		return 0, size, false, true
	}
	if first == "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n <= 0 || size == 0 {
			return 0, 0, false, false
		}
		n = min(n, size)
		return size - n, n, true, true
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from < 0 || from >= size {
		return 0, 0, false, false
	}
	end := size - 1
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < from {
			return 0, 0, false, false
		}
		end = min(n, end)
	}
	return from, end - from + 1, true, true
}
