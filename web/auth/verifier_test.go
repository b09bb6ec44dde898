package auth

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

func always() error { return nil }

func ignore() {}

// A password that was right is right again without bcrypt, which takes a tenth of a second and a place in its queue:
// programs send it with every request. Here nobody gets a place any more.
func TestAVerifiedPasswordIsRemembered(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("not-a-real-one"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier()
	if ok, _, err := v.verify(t.Context(), "jon", string(hash), "not-a-real-one", always, ignore); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	if ok, _, err := v.verify(t.Context(), "jon", string(hash), "another", always, ignore); ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	for range cap(v.busy) {
		v.busy <- struct{}{}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name, user, hash, password string
		remembered                 bool
	}{
		{"the same", "jon", string(hash), "not-a-real-one", true},
		{"a wrong password, asked before", "jon", string(hash), "another", false},
		{"another user with the same password", "ann", string(hash), "not-a-real-one", false},
		{"the old password after it was changed", "jon", string(hash) + "x", "not-a-real-one", false},
		{"name and password cut elsewhere", "jonnot-a-", string(hash), "real-one", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ok, remembered, err := v.verify(gone, tc.user, tc.hash, tc.password, always, ignore)
			if ok != tc.remembered || remembered != tc.remembered || (err == nil) != tc.remembered || (err != nil && !errors.Is(err, context.Canceled)) {
				t.Errorf("got %v, %v", ok, err)
			}
		})
	}
}
