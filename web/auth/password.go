package auth

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"cagenut/node"
	"cagenut/web"
)

const (
	// bcryptCost makes one check take about 0.1 s; a verified password is remembered for a while.
	bcryptCost = 10
	// shortest and longest are the bounds of a password; bcrypt takes no more bytes.
	shortest, longest = 8, 72
	longestName       = 64
)

// HashPassword makes what is kept of a password; *node.Invalid for one that is too short or too long.
func HashPassword(password string) (string, error) {
	if utf8.RuneCountInString(password) < shortest {
		return "", node.Invalidf("A password has at least %d characters.", shortest)
	}
	if len(password) > longest {
		return "", node.Invalidf("A password has at most %d bytes.", longest)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcryptCost)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return string(hash), nil
}

// CheckName refuses names that cannot be typed in again, or that HTTP Basic cannot carry (*node.Invalid).
func CheckName(name string) error {
	odd := func(r rune) bool { return r == ':' || r == '/' || !unicode.IsPrint(r) }
	switch {
	case name == "":
		return node.Invalidf("A user needs a name.")
	case utf8.RuneCountInString(name) > longestName:
		return node.Invalidf("A user's name has at most %d characters.", longestName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name || name == "." || name == "..":
		return node.Invalidf("A user's name may hold letters, digits, signs and spaces inside, but neither : nor /.")
	}
	return nil
}

// CheckRole refuses what is no role (*node.Invalid).
func CheckRole(role string) error {
	switch role {
	case web.RoleViewer, web.RoleOperator, web.RoleAdmin:
		return nil
	}
	return node.Invalidf("A role is viewer, operator or admin.")
}
