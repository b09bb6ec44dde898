package node

import (
	"errors"
	"strings"
)

// HideSecret masks a secret in the text of an error of a BMC, which may quote what it was sent. The error is made anew, so
// that nobody finds the secret inside of it; what kind it was stays where the kind says more than that the BMC answered badly.
func HideSecret(err error, secret Secret) error {
	if err == nil || secret == "" || !strings.Contains(err.Error(), string(secret)) {
		return err
	}
	hide := func(s string) string { return strings.ReplaceAll(s, string(secret), Mask) }
	text := hide(err.Error())
	if conflict := (*Conflict)(nil); errors.As(err, &conflict) {
		return &Conflict{Text: text}
	}
	masked := &Unreachable{What: "BMC", Answered: true}
	if was := (*Unreachable)(nil); errors.As(err, &was) {
		masked.What, masked.Timeout, masked.Answered, masked.Unasked, masked.Trouble = hide(was.What), was.Timeout, was.Answered, was.Unasked, was.Trouble
	}
	masked.Err = errors.New(strings.TrimPrefix(text, masked.What+": "))
	return masked
}
