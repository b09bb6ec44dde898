package node

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"
)

// BootMediumKey of driver_internal_info holds the medium that a start has put into the server's virtual drive, until a
// clean-up has taken it out: a [MediumRecord]. Its name makes it a secret, sealed and masked, because the address may be.
const BootMediumKey = "boot_medium_secret"

// MediumRecord is what is known of a medium that a start puts in. It is written before the BMC is asked, so that whatever
// happens then, a clean-up knows what to look for.
type MediumRecord struct {
	URL string // "": there is none
	// In tells that the BMC has shown it. Until then it may still be on its way: it must be waited for before it is given up.
	In bool
}

// String is the record as it is kept.
func (r MediumRecord) String() string {
	switch {
	case r.URL == "":
		return ""
	case r.In:
		return "in " + r.URL
	}
	return "asked " + r.URL
}

// BootMedium is the node's record.
func (n Node) BootMedium() MediumRecord {
	kept, _ := Text(n.DriverInternalInfo[BootMediumKey])
	state, address, _ := strings.Cut(kept, " ")
	return MediumRecord{URL: address, In: state == "in"}
}

// MediumKey is the part of the address of an attempt's boot medium that nobody can guess. It is made from the attempt's
// token and does not tell it: BMCs show such addresses in their logs and on their pages.
func (a Attempt) MediumKey(file string) string {
	h := hmac.New(sha256.New, []byte(a.Token))
	h.Write([]byte("boot medium " + a.ID + " " + file))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// MediumPath is where this appliance serves a file as the boot medium of an attempt, for as long as that runs.
func (a Attempt) MediumPath(file string) string {
	return mediumPaths + a.ID + "/" + a.MediumKey(file) + "/" + url.PathEscape(file)
}

const mediumPaths = "/boot/iso/"

// HideMediumKey masks in a path or an address what must not be known of a boot medium's.
func HideMediumKey(path string) string {
	before, rest, found := strings.Cut(path, mediumPaths)
	parts := strings.SplitN(rest, "/", 3)
	if !found || len(parts) < 2 {
		return path
	}
	parts[1] = Mask
	return before + mediumPaths + strings.Join(parts, "/")
}

// ErrMediumLeft says that a clean-up has left a medium of ours in the server's virtual drive.
var ErrMediumLeft = errors.New("eject the virtual medium")

// PublicAddress is an address without what may be secret in it: user, password, query, fragment and the key of a boot
// medium. "" for what is none.
func PublicAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
	return HideMediumKey(u.String())
}

// ParseMedium reads the address of an image: http or https, with user and password for its server where it asks for them.
// Those are handed to the BMC apart from the address.
func ParseMedium(kind MediumKind, address string) (Medium, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return Medium{}, errors.New("an image has to have an address with http or https")
	}
	m := Medium{Kind: kind}
	if u.User != nil {
		password, _ := u.User.Password()
		m.User, m.Password, u.User = u.User.Username(), Secret(password), nil
	}
	m.URL = u.String()
	return m, nil
}
