package ipmi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// fail turns what went wrong while doing something into one of node's kinds.
func (c *client) fail(ctx context.Context, doing string, err error) error {
	var u *node.Unsupported
	why := loginRefused(err)
	cc, answered := code(err)
	switch {
	case errors.As(err, &u):
		return err
	case why != "" && len(c.password) > oldMaxPassword:
		return fmt.Errorf("ipmi: %s at %s: %s (some BMCs keep only %d bytes of a password, and this one is longer): %w", doing, c.address(), why, oldMaxPassword, node.ErrCredentials)
	case why != "":
		return fmt.Errorf("ipmi: %s at %s: %s: %w", doing, c.address(), why, node.ErrCredentials)
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("ipmi: %s at %s: %w", doing, c.address(), ctx.Err())
	case answered && cc == types.CodeInsufficientPrivilege:
		return fmt.Errorf("ipmi: %s at %s: the user may not do this: %w", doing, c.address(), node.ErrCredentials)
	case answered && unsupported(err):
		return &node.Unsupported{Driver: c.name, Extension: doing}
	}
	trouble := explain(ctx, err)
	trouble.What, trouble.Err = "BMC "+c.address(), fmt.Errorf("%s: %w", doing, trouble.Err)
	return trouble
}

// explain says what kind of trouble it is, and what an operator may do about it.
func explain(ctx context.Context, err error) *node.Unreachable {
	var dns *net.DNSError
	var wire *net.OpError
	line := errors.New(oneLine(err))
	_, answered := code(err)
	switch {
	case busy(err):
		return &node.Unreachable{Trouble: node.TroubleBusy, Answered: true, Hint: "the BMC stayed busy: try again in a while", Err: fmt.Errorf("refused: %w", err)}
	case notNow(err):
		return &node.Unreachable{Trouble: node.TroubleBusy, Answered: true, Hint: "the BMC cannot do this in the state that the server is in now", Err: fmt.Errorf("refused: %w", err)}
	case answered:
		return &node.Unreachable{Answered: true, Err: fmt.Errorf("refused: %w", err)}
	case errors.As(err, &dns):
		return &node.Unreachable{Trouble: node.TroubleName, Hint: "the name of the BMC cannot be resolved: check ipmi_address and DNS", Err: err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &node.Unreachable{Trouble: node.TroubleRefused, Hint: "nothing listens there: check ipmi_port, and that IPMI over LAN is enabled on the BMC", Err: syscall.ECONNREFUSED}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return &node.Unreachable{Trouble: node.TroubleRoute, Hint: "nothing leads to that address: check ipmi_address, the BMC's network cable and the routes of this machine", Err: line}
	case isForeign(err):
		return &node.Unreachable{Trouble: node.TroubleForeign, Answered: true, Hint: "check ipmi_address and ipmi_port", Err: errForeign}
	case isDoubtful(err):
		return &node.Unreachable{Trouble: node.TroubleSilence, Timeout: true, Hint: "the BMC answers too slowly to log in: check its load and the network to it", Err: line}
	case ctx.Err() != nil || silent(err) || timedOut(err):
		return &node.Unreachable{
			Trouble: node.TroubleSilence, Timeout: true, Hint: "check the BMC's address, its network cable and that it is powered",
			Err: fmt.Errorf("no answer: %w", context.DeadlineExceeded),
		}
	}
	return &node.Unreachable{Answered: !errors.As(err, &wire), Err: line}
}

// errForeign says that datagrams came which are none of IPMI's.
var errForeign = errors.New("something answers there that does not speak IPMI")

// isForeign tells of them.
func isForeign(err error) bool { return errors.Is(err, errForeign) }

// timedOut reads the library's texts, which do not carry the time-out as an error value.
func timedOut(err error) bool {
	s := err.Error()
	return strings.Contains(s, "i/o timeout") || strings.Contains(s, "no datagram matched") || strings.Contains(s, "timed out")
}

// oneLine is the library's text, which may run over many lines.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	return s[:min(len(s), 300)]
}
