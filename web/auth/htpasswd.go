package auth

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// htpasswd is a file of users, read again when it has changed. A change that cannot be taken is logged, and the users
// stay as they were.
type htpasswd struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex
	users map[string]string
	seen  time.Time
	size  int64
}

func openHTPasswd(path string, log *slog.Logger) (*htpasswd, error) {
	h := &htpasswd{path: path, log: log}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("auth: htpasswd file: %w", err)
	}
	h.seen, h.size = info.ModTime(), info.Size()
	h.users, err = readHTPasswd(path)
	return h, err
}

func (h *htpasswd) hash(name string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refresh()
	hash, ok := h.users[name]
	return hash, ok
}

func (h *htpasswd) refresh() {
	info, err := os.Stat(h.path)
	if err != nil {
		if !h.seen.IsZero() {
			h.log.Error("auth: the htpasswd file is gone; its last users stay valid", "err", err)
		}
		h.seen = time.Time{}
		return
	}
	if info.ModTime().Equal(h.seen) && info.Size() == h.size {
		return
	}
	h.seen, h.size = info.ModTime(), info.Size()
	users, err := readHTPasswd(h.path)
	if err != nil {
		h.log.Error("auth: the changed htpasswd file is not taken", "err", err)
		return
	}
	h.users = users
}

// readHTPasswd reads `name:hash` lines; anything but bcrypt is an error that names the line, never its hash.
func readHTPasswd(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("auth: htpasswd file: %w", err)
	}
	users := map[string]string{}
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, hash, ok := strings.Cut(line, ":")
		if !ok || name == "" || !isBcrypt(hash) {
			return nil, fmt.Errorf("auth: %s line %d: only bcrypt entries ($2y$, $2a$, $2b$) are taken", path, i+1)
		}
		users[name] = hash
	}
	return users, nil
}

func isBcrypt(hash string) bool {
	for _, p := range []string{"$2y$", "$2a$", "$2b$"} {
		if strings.HasPrefix(hash, p) {
			_, err := bcrypt.Cost([]byte(hash))
			return err == nil
		}
	}
	return false
}

// names are the users of the file; none without a file.
func (h *htpasswd) names() []string {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refresh()
	return slices.Sorted(maps.Keys(h.users))
}
