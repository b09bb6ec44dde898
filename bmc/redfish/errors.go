package redfish

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/stmcginnis/gofish/schemas"

	"cagenut/node"
)

// fail turns what went wrong while doing something into one of node's kinds.
func (c *connection) fail(ctx context.Context, doing string, err error) error {
	var unsupported *node.Unsupported
	var invalid *node.Invalid
	var unreachable *node.Unreachable
	var conflict *node.Conflict
	var answered *schemas.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsupported), errors.As(err, &invalid), errors.As(err, &unreachable), errors.As(err, &conflict):
		return err
	case errors.Is(err, node.ErrCredentials):
		return fmt.Errorf("redfish: %s at %s: %w", doing, c.base, node.ErrCredentials)
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("redfish: %s at %s: %w", doing, c.base, ctx.Err())
	case errors.As(err, &answered) && answered.HTTPReturnedStatusCode != 0:
		return c.refused(doing, answered)
	}
	u := &node.Unreachable{What: "BMC " + c.base, Err: fmt.Errorf("%s: %w", doing, bare(err))}
	u.Trouble, u.Hint = explain(err)
	if u.Trouble == node.TroubleOldTLS && c.oldTLS {
		u.Hint = "even with redfish_old_tls the BMC has no way to speak TLS with us: update its firmware"
	}
	u.Timeout = u.Trouble == node.TroubleSilence
	u.Answered = !u.Timeout && !severed(err)
	return u
}

// refused is an answer that is not success.
func (c *connection) refused(doing string, e *schemas.Error) error {
	said := says(e)
	u := &node.Unreachable{What: "BMC " + c.base, Answered: true, Err: fmt.Errorf("%s: HTTP status %s", doing, said)}
	switch {
	case e.HTTPReturnedStatusCode == http.StatusUnauthorized:
		return fmt.Errorf("redfish: %s at %s: %w", doing, c.base, node.ErrCredentials)
	case e.HTTPReturnedStatusCode == http.StatusForbidden && strings.Contains(strings.ToLower(said), "licen"):
		u.Trouble, u.Hint = node.TroubleLicence, "the BMC lacks a licence for this"
	case e.HTTPReturnedStatusCode == http.StatusForbidden:
		return fmt.Errorf("redfish: %s at %s: the user may not do this: %w", doing, c.base, node.ErrCredentials)
	case e.HTTPReturnedStatusCode == http.StatusServiceUnavailable, e.HTTPReturnedStatusCode == http.StatusTooManyRequests:
		u.Trouble, u.Hint = node.TroubleBusy, "the BMC stayed busy: try again in a while"
	case e.HTTPReturnedStatusCode >= http.StatusInternalServerError && e.HTTPReturnedStatusCode != http.StatusNotImplemented && !busy(e):
		u.Trouble = node.TroubleInside
	case busy(e):
		u.Trouble, u.Hint = node.TroubleBusy, "the BMC cannot do this in the state that the server is in now: try again in a while"
	}
	return u
}

// says is what the BMC gave as its reason: the status and the first messages, made fit for a line of text.
func says(e *schemas.Error) string {
	var parts []string
	for _, info := range e.ExtendedInfos {
		if m := strings.TrimSpace(info.Message); m != "" {
			parts = append(parts, m)
		} else if info.MessageID != "" {
			parts = append(parts, info.MessageID)
		}
	}
	if len(parts) == 0 && e.Message != "" {
		parts = append(parts, e.Message)
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%d", e.HTTPReturnedStatusCode)
	}
	return fmt.Sprintf("%d: %s", e.HTTPReturnedStatusCode, printable(strings.Join(parts, " ")))
}

// reason is what says tells of an error that is an answer.
func reason(err error) string {
	var e *schemas.Error
	if errors.As(err, &e) {
		return says(e)
	}
	return err.Error()
}

// status is the HTTP status of a BMC's refusal, 0 where there was none.
func status(err error) int {
	var e *schemas.Error
	if errors.As(err, &e) {
		return e.HTTPReturnedStatusCode
	}
	return 0
}

// lost tells of a connection that broke before the answer came: nobody knows whether the BMC has done what it was asked.
func lost(err error) bool {
	return status(err) == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

// severed tells of errors below HTTP: no name, no connection, one that was cut, a certificate that is not trusted.
func severed(err error) bool {
	var wire *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var pin *pinError
	return lost(err) || errors.As(err, &wire) || errors.As(err, &dns) || errors.As(err, &cert) || errors.As(err, &pin) || plainThere(err) ||
		strings.Contains(err.Error(), "tls: ") // most errors of a handshake have no type
}

// busy tells of refusals that end by themselves: the BMC is in the middle of something (quirks 6, 32, 36).
func busy(err error) bool {
	switch status(err) {
	case http.StatusConflict, http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return true
	}
	var e *schemas.Error
	if !errors.As(err, &e) {
		return false
	}
	said := e.Error()
	for _, id := range []string{"UnableToModifyDuringSystemPOST", "InvalidOperationForSystemState", "SYS518", "ServiceTemporarilyUnavailable"} {
		if strings.Contains(said, id) {
			return true
		}
	}
	return false
}

// explain says what kind of trouble it is, and what an operator may do about it.
func explain(err error) (kind node.Trouble, hint string) {
	var cert *tls.CertificateVerificationError
	var pin *pinError
	var dns *net.DNSError
	var task *taskError
	switch {
	case errors.As(err, &task):
		return node.TroubleTask, ""
	case errors.As(err, &pin):
		return node.TroublePin, "if the BMC has a new certificate, as after an update or a reset of its settings, set redfish_certificate_sha256 to that; if it has not, somebody stands in between"
	case errors.As(err, &cert):
		return node.TroubleCertificate, distrust(cert)
	case tooOld(err):
		return node.TroubleOldTLS, "the BMC speaks old TLS alone: update its firmware, or set redfish_old_tls to true, which makes it easier to read what is said"
	case plainThere(err):
		return node.TroubleScheme, "the BMC does not speak TLS there: begin redfish_address with http:// or name another port"
	case tlsThere(err):
		return node.TroubleScheme, "the BMC wants TLS there: begin redfish_address with https://"
	case errors.As(err, &dns):
		return node.TroubleName, "the name of the BMC cannot be resolved: check redfish_address and DNS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return node.TroubleRefused, "nothing listens there: check the port in redfish_address, and that Redfish is enabled on the BMC"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return node.TroubleRoute, "nothing leads to that address: check redfish_address, the BMC's network cable and the routes of this machine"
	case errors.Is(err, errNotRedfish), errors.Is(err, errNotJSON):
		return node.TroubleForeign, "something answers there that is not a Redfish service: check redfish_address, and that Redfish is enabled on the BMC"
	case errors.Is(err, errLogin), errors.Is(err, errStaysBusy):
		return node.TroubleBusy, "the BMC stayed busy, or all of its sessions are taken: try again in a while"
	case timeIsUp(err):
		return node.TroubleSilence, "check the BMC's address, its network cable and that it is powered"
	case lost(err):
		return node.TroubleCut, "the BMC closed the connection instead of answering: it may be starting, or be too busy"
	}
	return "", ""
}

// distrust says why a certificate is not trusted, and what to do about each.
func distrust(err *tls.CertificateVerificationError) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	why := "nobody whom we trust has signed the certificate: set redfish_verify_ca to the file of the CA that did"
	switch {
	case errors.As(err, &name):
		why = "the certificate is of another name: set redfish_address to a name that is in it"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		why = "the certificate has expired, or its time has not come: renew it at the BMC, or set the clocks"
	}
	if len(err.UnverifiedCertificates) > 0 {
		why += "; or compare its SHA-256, " + fingerprint(digest(err.UnverifiedCertificates[0])) + ", with what the BMC says itself and set redfish_certificate_sha256 to it"
	}
	return why + "; or set redfish_verify_ca to false"
}

// tooOld tells of handshakes without a version or a cipher suite that both sides take. These errors have no type.
func tooOld(err error) bool {
	for _, sign := range []string{
		"tls: protocol version not supported", "tls: server selected unsupported protocol version", "tls: handshake failure", "tls: insufficient security level",
		"tls: server chose an unconfigured cipher suite",
	} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// plainThere tells of an answer in plain HTTP to a greeting in TLS.
func plainThere(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// tlsThere tells of the reverse: a page that says so, or an alert of TLS where HTTP was expected.
func tlsThere(err error) bool {
	return errors.Is(err, errWantsTLS) || strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`)
}

func timeIsUp(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

// bare is an error without the URL that net/http puts around it: the address is said already.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
