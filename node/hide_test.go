package node_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cagenut/node"
)

func TestASecretIsHiddenInAnErrorAndNowhereInsideOfIt(t *testing.T) {
	busy := &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Trouble: node.TroubleBusy, Err: errors.New("the value not-for-logs is odd")}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a BMC's answer":          {busy, "BMC 192.0.2.10: the value ****** is odd"},
		"a wrapped one":           {fmt.Errorf("insert: %w", busy), "BMC 192.0.2.10: insert: BMC 192.0.2.10: the value ****** is odd"},
		"a conflict":              {&node.Conflict{Text: "busy with not-for-logs"}, "busy with ******"},
		"anything":                {errors.New("not-for-logs"), "BMC: ******"},
		"one that does not quote": {node.ErrLost, node.ErrLost.Error()},
	} {
		got := node.HideSecret(c.err, "not-for-logs")
		if got.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
		for inside := got; inside != nil; inside = errors.Unwrap(inside) {
			if strings.Contains(inside.Error(), "not-for-logs") {
				t.Errorf("%s: %#v", name, inside)
			}
		}
		was, is := (*node.Unreachable)(nil), (*node.Unreachable)(nil)
		if errors.As(c.err, &was) && (!errors.As(got, &is) || is.Trouble != was.Trouble || is.Answered != was.Answered) {
			t.Errorf("%s became %#v", name, got)
		}
	}
	if err := node.HideSecret(busy, ""); err != error(busy) {
		t.Errorf("without a secret: %v", err)
	}
	if node.HideSecret(nil, "x") != nil {
		t.Error("an error is made of none")
	}
}
