package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// AppOptions are what the server needs. Zero values mean the defaults.
type AppOptions struct {
	// Context ends every request's context when the appliance stops; context.Background() if nil.
	Context context.Context
	Log     *slog.Logger
	// RequestTimeout bounds what a handler does; 30 s. Event streams outlive it.
	RequestTimeout time.Duration
	// WriteTimeout is how long after that a client may take to read an ordinary answer; 60 s. What takes longer by nature
	// (event streams, boot files) sets deadlines of its own.
	WriteTimeout time.Duration
	// TrustedProxies are addresses or prefixes whose X-Forwarded-* is believed; anything else is a programmer's error
	// that [ParseProxies] finds first.
	TrustedProxies []string
	// ReportDoors are the paths whose bodies may have 16 MiB, with * for any one part; [ReportDoors] if nil.
	ReportDoors []string
	// Errors are the shapes of errors by path; the longest prefix wins.
	Errors []ErrorShape
}

// ReportDoors are the paths at which ramdisks report (design.md §7).
var ReportDoors = []string{"/v1/continue_inspection", "/continue_inspection", "/v1/continue_inspection.json", "/continue_inspection.json", "/v1/continue"}

const (
	defaultTimeout   = 30 * time.Second
	defaultWriteTime = time.Minute
	smallBody        = 1 << 20
	reportBody       = 16 << 20
	// readLimit is where the connection is cut while reading; the guard answers below it.
	readLimit = reportBody + 1<<20
)

// ParseProxies checks the setting of trusted proxies.
func ParseProxies(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a network such as 192.0.2.0/24", s)
		}
		out = append(out, p)
	}
	return out, nil
}

// NewApp makes the server without any route. Every request gets: a path without doubled or trailing slashes, an id, the
// security headers, a context with a deadline, a bounded body that is no longer compressed, and a line in the log; an
// unsafe method that a browser sends from another site is refused; a panic is a 500 and a stack in the log. fiber's own
// WriteTimeout is 0, because it would cut event streams; a deadline on the connection does its work.
func NewApp(o AppOptions) *fiber.App {
	s := newServer(o)
	app := fiber.New(fiber.Config{
		CaseSensitive: true, StrictRouting: true, Immutable: true,
		Network:     fiber.NetworkTCP,
		ReadTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second,
		ReadBufferSize: 16384, BodyLimit: readLimit,
		DisableStartupMessage: true,
		// A body is JSON whatever its Content-Type says; fiber must not try to understand another.
		DisablePreParseMultipartForm: true,
		// An empty answer has no Content-Type (contract.md §1.3).
		DisableDefaultContentType: true,
		// Without the check fiber would believe X-Forwarded-* of everybody.
		EnableTrustedProxyCheck: true, TrustedProxies: s.TrustedProxies,
		ErrorHandler: s.unrouted,
	})
	// The path may change here, and with it fiber's table of routes: that is safe because this is the first route of all.
	app.Use(s.serve)
	app.Use(s.guardBody)
	app.Use(refuseCrossOrigin())
	return app
}

type server struct {
	AppOptions
	proxies []netip.Prefix
	doors   map[string]bool
	// wideDoors are those with a *.
	wideDoors []string
}

func newServer(o AppOptions) *server {
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = defaultTimeout
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = defaultWriteTime
	}
	if o.ReportDoors == nil {
		o.ReportDoors = ReportDoors
	}
	s := &server{AppOptions: o, doors: map[string]bool{}}
	for _, path := range o.ReportDoors {
		if s.doors[path] = true; strings.Contains(path, "*") {
			s.wideDoors = append(s.wideDoors, path)
		}
	}
	proxies, err := ParseProxies(o.TrustedProxies)
	if err != nil {
		// Trusting nobody is the safe reading of a setting that cannot be read.
		o.Log.Error("web: no proxy is trusted", "err", err)
		s.TrustedProxies = nil
	}
	s.proxies = proxies
	return s
}

// serve frames a request: what must be there before its handler, and what is said about it afterwards.
func (s *server) serve(c *fiber.Ctx) error {
	began := time.Now()
	normalisePath(c)
	s.begin(c)
	ctx, cancel := context.WithTimeout(s.Context, s.RequestTimeout)
	defer cancel()
	c.SetUserContext(ctx)

	err := safely(c.Next)
	if err != nil {
		s.answer(c, err)
	}
	s.log(c, began, err)
	return nil
}

// begin gives a request its id, its headers and the time by which its answer must have been taken.
func (s *server) begin(c *fiber.Ctx) {
	id := "req-" + node.NewUUID()
	c.Locals(localID, id)
	c.Locals(localAddress, s.remoteAddress(c))
	c.Set("X-Openstack-Request-Id", id)
	c.Set("Openstack-Request-Id", id)
	setSecurityHeaders(c)
	if conn := c.Context().Conn(); conn != nil {
		// A client that never reads must not hold its connection for ever. A failure shows at the next write.
		_ = conn.SetWriteDeadline(time.Now().Add(s.RequestTimeout + s.WriteTimeout))
	}
}

// panicked is a panic of a handler; its text is for the log alone.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func safely(next func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return next()
}

// unrouted answers what never reached a handler: requests that could not be read. Their errors quote what was sent, so
// only the status is kept.
func (s *server) unrouted(c *fiber.Ctx, err error) error {
	began := time.Now()
	if RequestID(c) == "" {
		s.begin(c)
	}
	code := fiber.StatusBadRequest
	var f *fiber.Error
	if errors.As(err, &f) {
		code = f.Code
	}
	if code == fiber.StatusRequestEntityTooLarge {
		err = tooLarge(reportBody)
	} else {
		err = fiber.NewError(code)
	}
	s.answer(c, err)
	s.log(c, began, err)
	return nil
}
