package redfish

import (
	"context"
	"crypto/tls"
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
	u.Timeout, u.Hint = explain(err)
	u.Answered = !u.Timeout && !severed(err)
	return u
}

// refused is an answer that is not success.
func (c *connection) refused(doing string, e *schemas.Error) error {
	said := says(e)
	switch {
	case e.HTTPReturnedStatusCode == http.StatusUnauthorized:
		return fmt.Errorf("redfish: %s at %s: %w", doing, c.base, node.ErrCredentials)
	case e.HTTPReturnedStatusCode == http.StatusForbidden && strings.Contains(strings.ToLower(said), "licen"):
		return &node.Unreachable{What: "BMC " + c.base, Answered: true, Hint: "the BMC lacks a licence for this", Err: fmt.Errorf("%s: %s", doing, said)}
	case e.HTTPReturnedStatusCode == http.StatusForbidden:
		return fmt.Errorf("redfish: %s at %s: the user may not do this: %w", doing, c.base, node.ErrCredentials)
	}
	return &node.Unreachable{What: "BMC " + c.base, Answered: true, Err: fmt.Errorf("%s: HTTP status %s", doing, said)}
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
	var record tls.RecordHeaderError
	return lost(err) || errors.As(err, &wire) || errors.As(err, &dns) || errors.As(err, &cert) || errors.As(err, &record) ||
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

// explain says whether time ran out, and what an operator may look at.
func explain(err error) (timeout bool, hint string) {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	var netErr net.Error
	switch {
	case errors.As(err, &cert):
		return false, "set redfish_verify_ca to the file of the CA that signed the BMC's certificate, or to false"
	case errors.As(err, &record):
		return false, "the BMC does not speak TLS there: begin redfish_address with http:// or name another port"
	case errors.As(err, &dns):
		return false, "the name of the BMC cannot be resolved: check redfish_address and DNS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return false, "nothing listens there: check the port in redfish_address, and that Redfish is enabled on the BMC"
	case errors.Is(err, errNotJSON):
		return false, "check that redfish_address is a BMC's"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return true, "check the BMC's address, its network cable and that it is powered"
	}
	return false, ""
}

// bare is an error without the URL that net/http puts around it: the address is said already.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
