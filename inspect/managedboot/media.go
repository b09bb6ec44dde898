package managedboot

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"cagenut/node"
)

// media are the virtual drives of a node's BMC, or *node.Unsupported.
func media(c BMC, n node.Node) (Media, error) {
	if m, ok := c.(Media); ok {
		return m, nil
	}
	return nil, &node.Unsupported{Driver: n.Driver, Extension: "virtual media"}
}

// takeOut ejects what a start has put in, and says in how many drives that was. What somebody else has put in is theirs. A
// BMC without drives, such as that of a node whose driver was changed, has nothing of ours.
func takeOut(ctx context.Context, c BMC, r node.MediumRecord) (int, error) {
	m, ok := c.(Media)
	if r.URL == "" || !ok {
		return 0, nil
	}
	n, err := m.EjectIf(ctx, func(d node.VirtualDrive) bool { return holds(d, r.URL) })
	if unsupported := (*node.Unsupported)(nil); errors.As(err, &unsupported) {
		return 0, nil
	}
	if err != nil {
		return n, untold(fmt.Errorf("%w: %w", node.ErrMediumLeft, err), r.URL)
	}
	return n, nil
}

// holds tells whether it is our image that a drive shows. Some BMCs show only its name, some none at all, some spell the
// address in their own way.
func holds(d node.VirtualDrive, address string) bool {
	switch {
	case d.URL == address:
		return true
	case d.URL == "":
		return len(d.Kinds) == 0 || slices.Contains(d.Kinds, node.MediumCD)
	case !strings.Contains(d.URL, "/"):
		return d.URL == path.Base(node.PublicAddress(address))
	}
	return spelling(d.URL) == spelling(address)
}

// spelling is an address in one way of spelling it.
func spelling(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User, u.Fragment = nil, ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			u.Host = strings.TrimSuffix(u.Host, port)
		}
	}
	return u.String()
}

// forgotten is the record of a medium that is out; nil where there was none.
func forgotten(n node.Node) *string {
	if n.BootMedium().URL == "" {
		return nil
	}
	none := ""
	return &none
}
