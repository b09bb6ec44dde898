package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// Conductor knows who is expected to boot: *node.NotFound for everybody but nodes whose inspection is running.
type Conductor interface {
	Booting(ctx context.Context, mac string) (node.Node, node.Attempt, error)
	// BootingAttempt is the same by the id of an attempt.
	BootingAttempt(ctx context.Context, id string) (node.Node, node.Attempt, error)
	// Sign notes a sign of life of an attempt's server; detail is where it came from.
	Sign(ctx context.Context, nodeUUID, attempt string, kind node.SignKind, detail string)
}

// Options are what boot files are served with.
type Options struct {
	Conductor Conductor
	// KernelURL and InitrdURL are what the script boots; both absolute.
	KernelURL, InitrdURL string
	// CallbackURL is where the ramdisk of an attempt reports, with its token; see [Callback].
	CallbackURL func(n node.Node, a node.Attempt) string
	// Dir holds the files that are served below /boot; it is made when missing.
	Dir string
	// ISOs are those of them that attempts boot from virtual drives.
	ISOs *ISOs
	Log  *slog.Logger
}

// Callback is the address at which the ramdisk of an attempt reports to this appliance.
func Callback(ramdiskURL string) func(node.Node, node.Attempt) string {
	return func(_ node.Node, a node.Attempt) string {
		return strings.TrimSuffix(ramdiskURL, "/") + "/v1/continue_inspection?attempt=" + url.QueryEscape(string(a.Token))
	}
}

// Server serves boot files until it is closed.
type Server struct {
	Options
	root *os.Root
}

// New checks the options and opens the folder of boot files.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	for _, s := range []string{o.KernelURL, o.InitrdURL} {
		if u, err := url.Parse(s); err != nil || u.Host == "" || !plain(s) {
			return nil, fmt.Errorf("boot: %q is no URL that a boot script can name", s)
		}
	}
	root, err := openFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	return &Server{Options: o, root: root}, nil
}

func openFolder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("boot: make the folder of boot files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("boot: open the folder of boot files: %w", err)
	}
	return root, nil
}

// Close closes the folder.
func (s *Server) Close() error { return s.root.Close() }

// Register adds the routes.
func (s *Server) Register(r fiber.Router) {
	r.Get("/boot.ipxe", s.script)
	r.Get("/boot/iso/:attempt/:key/:file", s.medium)
	r.Get("/boot/:file", s.file)
}

// elsewhere lets the firmware go on to the next boot device.
const elsewhere = "#!ipxe\nexit\n"

// script is always a script and 200: a firmware that gets anything else may stop and wait for a person.
func (s *Server) script(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	mac, ok := node.ParseMAC(c.Query("mac"))
	if !ok {
		return c.SendString(elsewhere)
	}
	n, a, err := s.Conductor.Booting(c.UserContext(), mac)
	var unknown *node.NotFound
	if err != nil {
		if !errors.As(err, &unknown) {
			s.Log.Error("boot: a server is sent to its next boot device", "mac", mac, "err", err)
		}
		return c.SendString(elsewhere)
	}
	callback := s.CallbackURL(n, a)
	if !plain(callback) {
		s.Log.Error("boot: the callback URL cannot stand in a script", "node", n.UUID)
		return c.SendString(elsewhere)
	}
	return c.SendString("#!ipxe\n" +
		"kernel " + s.named(s.KernelURL, a) + " " + parameters(callback) + " BOOTIF=" + mac + " initrd=ramdisk\n" +
		"initrd --name ramdisk " + s.named(s.InitrdURL, a) + "\n" +
		"boot\n")
}

// named is the address of a boot file with the attempt's id, which is no secret, where it is one of ours: whoever fetches it
// gives a sign of life.
func (s *Server) named(address string, a node.Attempt) string {
	if s.ISOs == nil || s.ISOs.RamdiskURL == "" || !strings.HasPrefix(address, s.ISOs.RamdiskURL+"/boot/") || strings.Contains(address, "?") {
		return address
	}
	return address + "?attempt=" + url.QueryEscape(a.ID)
}
