package extension

import (
	"bytes"
	"errors"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// logs lists the files in the logs of an attempt's ramdisk.
func (a *api) logs(c *fiber.Ctx) error {
	id, _, err := asked(c, "logs")
	if err != nil {
		return err
	}
	attempt, err := attemptID(c)
	if err != nil {
		return err
	}
	files, err := a.o.Inspections.RamdiskLogFiles(c.UserContext(), id, attempt)
	out := LogFiles{Attempt: attempt, Files: shown(files, func(f node.LogFile) LogFile { return LogFile(f) })}
	var broken *node.Invalid
	switch {
	case errors.As(err, &broken): // what could be read is worth showing
		out.Problem = orNull(broken.Text)
	case err != nil:
		return err
	}
	return c.JSON(out)
}

// logArchive sends the logs as they came. Nothing may open them by itself: they are what a server likes to send.
func (a *api) logArchive(c *fiber.Ctx) error {
	id, _, err := asked(c, "archive")
	if err != nil {
		return err
	}
	attempt, err := attemptID(c)
	if err != nil {
		return err
	}
	l, err := a.o.Inspections.RamdiskLogs(c.UserContext(), id, attempt)
	if err != nil {
		return err
	}
	c.Attachment("ramdisk-logs-" + attempt + ".tar.gz")
	c.Set(fiber.HeaderContentType, "application/gzip")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.Send(l.Archive)
}

// logFile shows one file as plain text, which no browser takes for anything else.
func (a *api) logFile(c *fiber.Ctx) error {
	id, q, err := asked(c, "file")
	if err != nil {
		return err
	}
	attempt, err := attemptID(c)
	if err != nil {
		return err
	}
	content, err := a.o.Inspections.RamdiskLogFile(c.UserContext(), id, attempt, q.Get("name"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.Send(bytes.ToValidUTF8(content, []byte("\uFFFD")))
}
