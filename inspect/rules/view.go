package rules

import (
	"errors"
	"slices"
	"strconv"

	"cagenut/node"
)

// masked is what a secret reads as in fields.
const masked = "***"

// isMaskedKey tells which keys of inventory and plugin data hold secrets (contract.md §4.4).
func isMaskedKey(key string) bool {
	return slices.Contains([]string{"password", "auth_token", "bmc_password"}, key)
}

func isSecretOfNode(key string) bool { return isMaskedKey(key) || node.IsSecretKey(key) }

// view is a value with what must not be seen in it.
type view struct {
	value  any
	secret func(key string) bool // nil: there are no secrets
}

func (v view) hides(key string) bool { return v.secret != nil && v.secret(key) }

// walk goes down into a value. What has no such part lacks it, whatever it is itself: data that is not there counts as
// empty, not as a mistake (G33).
func (v view) walk(steps []pathStep) (view, error) {
	for _, s := range steps {
		if s.attribute {
			return view{}, errors.New("is read with brackets after its first name: node.extra[rack], inventory[cpu][count]")
		}
		switch in := v.value.(type) {
		case map[string]any:
			e, ok := in[s.key]
			if !ok {
				return view{}, errAbsent
			}
			if v.value = e; v.hides(s.key) {
				v.value = masked
			}
		case []any:
			i, err := strconv.Atoi(s.key)
			if err != nil || i < 0 || i >= len(in) {
				return view{}, errAbsent
			}
			v.value = in[i]
		default:
			return view{}, errAbsent
		}
	}
	return v, nil
}
