package conductor

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"cagenut/node"
)

// Probed is what a BMC said when somebody tried the settings of a node that is not enrolled yet.
type Probed struct {
	Power  node.PowerState
	BMC    node.BMCIdentity
	System node.SystemIdentity
	Twins  []Twin
}

// Namer is a [BMC] that says which server it is in.
type Namer interface {
	System(ctx context.Context) (node.SystemIdentity, error)
}

// ProbeBMC asks a BMC with exactly the settings that the node would have, within 20 s, and makes nothing. Its errors are
// those of any request to a BMC: what they are about is in their kind. One login is made and ended.
func (e *Enroller) ProbeBMC(ctx context.Context, actor node.Actor, x Enrolment) (p Probed, err error) {
	n := x.Node
	n.DriverInfo = maps.Clone(n.DriverInfo) // it is read still when this has returned: by the logging out
	if n.UUID == "" {
		n.UUID = "(new)" // it stands in sentences
	}
	if err := e.c.BMCs.Validate(n); err != nil {
		return Probed{}, err
	}
	endpoint, host, err := e.Endpoints.Endpoint(n)
	if err != nil {
		return Probed{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := e.mayAsk(ctx, host); err != nil {
		return Probed{}, err
	}
	a := e.c.about(actor, "test connection", "")
	a.Reason = node.Shorten(endpoint, auditLimit)
	if err := e.c.Moves.Note(ctx, nil, &a); err != nil {
		return Probed{}, fmt.Errorf("note who tests the connection to %s: %w", endpoint, err)
	}
	err = e.c.BMCs.Do(ctx, n, func(b BMC) (err error) {
		p, err = interrogate(ctx, b)
		return err
	})
	same, lookErr := e.behind(context.WithoutCancel(ctx), n)
	if lookErr == nil && !slices.ContainsFunc(same, func(other node.Node) bool { return sameLogin(n, other) }) {
		e.c.BMCs.Forget(n) // nobody else would log out there
	}
	if err != nil {
		return Probed{}, err
	}
	if p.Twins, err = e.Twins(ctx, x, p.System.Serial); err != nil {
		return Probed{}, err
	}
	return p, nil
}

// sameLogin tells whether two nodes of one BMC ask it as the same user, and so by the same session.
func sameLogin(a, b node.Node) bool {
	one, _ := node.Text(a.DriverInfo[a.Driver+"_username"])
	two, _ := node.Text(b.DriverInfo[b.Driver+"_username"])
	return a.Driver == b.Driver && one == two
}

// interrogate reads what tells people whether this is the server that they mean. A BMC that says its power takes the
// settings; what else it does not tell is left out.
func interrogate(ctx context.Context, b BMC) (p Probed, err error) {
	if p.Power, err = b.Power(ctx); err != nil {
		return Probed{}, err
	}
	if i, ok := b.(interface {
		Identity(ctx context.Context) (node.BMCIdentity, error)
	}); ok {
		if p.BMC, err = i.Identity(ctx); errors.Is(err, node.ErrCredentials) {
			return Probed{}, err
		}
	}
	if s, ok := b.(Namer); ok {
		if p.System, err = s.System(ctx); errors.Is(err, node.ErrCredentials) {
			return Probed{}, err
		}
	}
	return p, nil
}

// Certificate is one that a BMC showed and nobody has vouched for.
type Certificate struct {
	Fingerprint string // SHA-256, 64 hexadecimal digits
	Subject     string
	Issuer      string
	NotAfter    time.Time
}

// Untrusted is the certificate because of which a BMC was not asked; false where that is not why.
func Untrusted(err error) (Certificate, bool) {
	var refused *tls.CertificateVerificationError
	if !errors.As(err, &refused) || len(refused.UnverifiedCertificates) == 0 {
		return Certificate{}, false
	}
	c := refused.UnverifiedCertificates[0]
	sum := sha256.Sum256(c.Raw)
	return Certificate{Fingerprint: hex.EncodeToString(sum[:]), Subject: c.Subject.String(), Issuer: c.Issuer.String(), NotAfter: c.NotAfter}, true
}

// mayAsk refuses hosts that no person may have this appliance ask, by the address or by what the name leads to.
func (e *Enroller) mayAsk(ctx context.Context, host string) error {
	if host == "" {
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return askable(a, e.LocalTargets)
	}
	found, err := e.Resolve(ctx, host)
	if err != nil {
		return nil // who asks the BMC meets the same, and says it better
	}
	for _, a := range found {
		if err := askable(a, e.LocalTargets); err != nil {
			return err
		}
	}
	return nil
}
