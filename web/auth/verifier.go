package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const (
	remembered = 5 * time.Minute
	mostKept   = 1024
)

// nobody is a hash that nobody's password has: comparing with it takes as long for unknown names as for known ones.
const nobody = "$2a$10$......................0000000000000000000000000000000"

type digest [sha256.Size]byte

// verifier compares passwords with bcrypt hashes. Successes are remembered for five minutes under a keyed digest of
// name, hash and password, so that a changed password counts at once and memory holds none. Failures cost full price,
// on at most as many processors as there are.
type verifier struct {
	key  []byte
	busy chan struct{}

	mu   sync.Mutex
	good map[digest]time.Time // until when
}

func newVerifier() *verifier {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &verifier{key: key, busy: make(chan struct{}, runtime.GOMAXPROCS(0)), good: map[digest]time.Time{}}
}

// verify tells whether a password is right. Where nothing is remembered, allowed is asked when it is this password's turn
// (what it returns ends the check), and wrong is told before it is another's. An error comes from allowed, or from a
// context that ends before the turn.
func (v *verifier) verify(ctx context.Context, name, hash, password string, allowed func() error, wrong func()) (right, remembered bool, err error) {
	d := v.digest(name, hash, password)
	if v.knows(d) {
		return true, true, nil
	}
	if err := allowed(); err != nil {
		return false, false, err
	}
	select {
	case v.busy <- struct{}{}:
	case <-ctx.Done():
		return false, false, ctx.Err()
	}
	defer func() { <-v.busy }()
	// Of many that came at once, the first may have settled it.
	if v.knows(d) {
		return true, true, nil
	}
	if err := allowed(); err != nil {
		return false, false, err
	}
	if hash == "" {
		_ = bcrypt.CompareHashAndPassword([]byte(nobody), []byte(password))
		wrong()
		return false, false, nil
	}
	if bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) != nil {
		wrong()
		return false, false, nil
	}
	v.remember(d)
	return true, false, nil
}

func (v *verifier) digest(parts ...string) digest {
	mac := hmac.New(sha256.New, v.key)
	for _, p := range parts {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(p)))
		mac.Write([]byte(p))
	}
	return digest(mac.Sum(nil))
}

func (v *verifier) knows(d digest) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	until, ok := v.good[d]
	return ok && time.Now().Before(until)
}

func (v *verifier) remember(d digest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.good) >= mostKept {
		clear(v.good)
	}
	v.good[d] = time.Now().Add(remembered)
}
