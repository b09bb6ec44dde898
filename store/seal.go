package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"cagenut/node"
)

// Seal encrypts what must not be readable in the database file: AES-256-GCM, with the place of a value as additional
// data, so that a sealed value cannot be moved to another node or key.
type Seal struct{ aead cipher.AEAD }

const (
	keySize    = 32
	sealPrefix = "sealed:v1:"
)

// OpenSeal reads the key file, or makes one (mode 0600) where there is none. A file that others can read is refused.
func OpenSeal(path string) (*Seal, error) {
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, keySize)
		rand.Read(key) // never fails: crypto/rand
		if err := writeKey(path, key); err != nil {
			return nil, fmt.Errorf("make the key file: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	} else if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the key file %s can be read by others (mode %#o): make it 0600", path, info.Mode().Perm())
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("the key file %s is damaged: it has %d bytes instead of %d", path, len(key), keySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Seal{aead: aead}, nil
}

func writeKey(path string, key []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(key)
	return errors.Join(err, f.Sync(), f.Close())
}

func (s *Seal) close(place string, plain []byte) string {
	return sealPrefix + base64.RawStdEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, []byte(place)))
}

func (s *Seal) open(place, sealed string) ([]byte, error) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimPrefix(sealed, sealPrefix))
	if err == nil {
		raw, err = s.aead.Open(nil, nil, raw, []byte(place))
	}
	if err != nil {
		return nil, fmt.Errorf("unseal %s: the key file does not belong to this database, or the value is damaged: %w", place, err)
	}
	return raw, nil
}

// closeDocument is a copy of doc in which every value under a secret key is sealed.
func (s *Seal) closeDocument(place string, doc map[string]any) (map[string]any, error) {
	return mapSecrets(place, doc, func(place string, v any) (any, error) {
		plain, err := json.Marshal(reveal(v))
		if err != nil {
			return nil, fmt.Errorf("seal %s: %w", place, err)
		}
		return s.close(place, plain), nil
	})
}

// openDocument is the inverse of closeDocument.
func (s *Seal) openDocument(place string, doc map[string]any) (map[string]any, error) {
	return mapSecrets(place, doc, func(place string, v any) (any, error) {
		sealed, ok := v.(string)
		if !ok || !strings.HasPrefix(sealed, sealPrefix) {
			return v, nil
		}
		plain, err := s.open(place, sealed)
		if err != nil {
			return nil, err
		}
		return decodeValue(plain)
	})
}

func mapSecrets(place string, doc map[string]any, secret func(string, any) (any, error)) (map[string]any, error) {
	out := make(map[string]any, len(doc))
	for k, v := range doc {
		at := place + "/" + k
		var err error
		if v != nil && node.IsSecretKey(k) {
			out[k], err = secret(at, v)
		} else {
			out[k], err = mapInside(at, v, secret)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mapInside looks for secrets in what a value contains: lists of documents have them too.
func mapInside(place string, v any, secret func(string, any) (any, error)) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		return mapSecrets(place, v, secret)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = mapInside(fmt.Sprintf("%s/%d", place, i), v[i], secret); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// reveal turns a node.Secret, which would marshal as its mask, into its value.
func reveal(v any) any {
	if s, ok := v.(node.Secret); ok {
		return string(s)
	}
	return v
}

func tokenHash(t node.Secret) string {
	sum := sha256.Sum256([]byte(t))
	return hex.EncodeToString(sum[:])
}
