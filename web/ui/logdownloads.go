package ui

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
)

// The downloads stand below /ui because a session of the dashboard counts nowhere else. What is sent is what a server likes
// to send: nothing may open it by itself.

// logArchive sends the logs as they came.
func (p *Pages) logArchive(c *fiber.Ctx) error {
	n, attempt, err := p.attemptNamed(c)
	if err != nil {
		return err
	}
	l, err := p.o.Conductor.RamdiskLogs(c.UserContext(), n.UUID, attempt)
	if err != nil {
		return err
	}
	c.Attachment("ramdisk-logs-" + attempt + ".tar.gz")
	c.Set(fiber.HeaderContentType, "application/gzip")
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Send(l.Archive)
}

// wholeLogFile sends one file as plain text.
func (p *Pages) wholeLogFile(c *fiber.Ctx) error {
	n, attempt, err := p.attemptNamed(c)
	if err != nil {
		return err
	}
	content, err := p.o.Conductor.RamdiskLogFile(c.UserContext(), n.UUID, attempt, c.Query("name"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Send(bytes.ToValidUTF8(content, []byte("\uFFFD")))
}
