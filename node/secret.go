package node

import (
	"log/slog"
	"strings"
)

// Mask is what every secret reads as in answers, logs and history.
const Mask = "******"

// Secret is a value that must not be seen: it prints, logs and marshals as [Mask]. Use string(s) where it is needed.
type Secret string

// String is [Mask].
func (Secret) String() string { return Mask }

// GoString is [Mask], for %#v.
func (Secret) GoString() string { return Mask }

// LogValue is [Mask].
func (Secret) LogValue() slog.Value { return slog.StringValue(Mask) }

// MarshalJSON is [Mask] in quotes.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Mask + `"`), nil }

// secretWords mark a key of driver_info, instance_info or driver_internal_info whose value is a secret.
var secretWords = []string{"password", "passwd", "token", "secret", "auth_key", "priv_key", "private_key", "credential", "configdrive"}

// IsSecretKey tells whether values under the key are sealed in the database and masked in answers (contract.md §3.3).
func IsSecretKey(key string) bool {
	key = strings.ToLower(key)
	for _, w := range secretWords {
		if strings.Contains(key, w) {
			return true
		}
	}
	return false
}

// MaskSecrets is a copy of doc in which every value under a secret key, at any depth, reads as [Mask].
func MaskSecrets(doc map[string]any) map[string]any {
	out := make(map[string]any, len(doc))
	for k, v := range doc {
		switch {
		case IsSecretKey(k) && v != nil:
			out[k] = Mask
		default:
			out[k] = maskValue(v)
		}
	}
	return out
}

func maskValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return MaskSecrets(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = maskValue(v[i])
		}
		return out
	}
	return v
}
