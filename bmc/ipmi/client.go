package ipmi

import (
	"context"
	"errors"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc"
	"cagenut/node"
)

// client is one node's view of a BMC. Every method logs in, does its few commands and logs out.
type client struct {
	bmc.Lacks // virtual media and the set-up of the firmware, of which IPMI has nothing
	settings
	driver *Driver
	name   string // of the driver, for messages
}

var (
	_ bmc.Client    = (*client)(nil)
	_ bmc.Abilities = (*client)(nil)
	_ bmc.Glancer   = (*client)(nil)
)

// within does a few commands in a session, in bounded time. A busy BMC is asked again; a session that breaks is repeated once,
// if repeating is safe.
func (c *client) within(ctx context.Context, doing string, repeatable bool, do func(context.Context, *session) error) error {
	return c.bounded(ctx, c.driver.options.Operation, doing, repeatable, do)
}

// errTired asks for a fresh session in which to go on.
var errTired = errors.New("the session is old enough")

// walk reads what may take many commands. do keeps how far it came: it is called again, in a fresh session, after errTired and
// after refusals that pass.
func (c *client) walk(ctx context.Context, doing string, do func(context.Context, *session) error) error {
	return c.bounded(ctx, c.driver.options.Walk, doing, true, do)
}

func (c *client) bounded(ctx context.Context, bound time.Duration, doing string, repeatable bool, do func(context.Context, *session) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for try := 1; ; try++ {
		err := c.once(ctx, do)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errTired) && ctx.Err() == nil:
			try = 0
		case (busy(err) || repeatable && notNow(err)) && try < c.driver.options.BusyTries && sleep(ctx, c.driver.options.BusyPause) == nil:
		case repeatable && try == 1 && broken(err) && ctx.Err() == nil:
			if timedOut(err) {
				c.driver.slower(c.address()) // quick at logging in, slow at this
			}
		default:
			return c.fail(ctx, doing, err)
		}
	}
}

func (c *client) once(ctx context.Context, do func(context.Context, *session) error) error {
	s, err := c.connect(ctx)
	if err != nil {
		return &loginError{err}
	}
	defer s.end(ctx)
	return do(ctx, s)
}

// loginError is an error of the way into a session; the ladder has repeated it enough.
type loginError struct{ err error }

func (e *loginError) Error() string { return e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

// code is the completion code of a BMC's refusal.
func code(err error) (types.CompletionCode, bool) {
	var e *types.ResponseError
	if errors.As(err, &e) {
		return e.CompletionCode(), true
	}
	return 0, false
}

// busy tells of refusals that end by themselves.
func busy(err error) bool {
	c, ok := code(err)
	return ok && (c == types.CodeNodeBusy || c == types.CodeProcessTimeout || c == types.CodeCannotExecuteDuplicatedRequest ||
		c == types.CodeCannotProvideResponseBMCInitialize)
}

// notNow tells of refusals because of the state that the server or the BMC is in (G34, G64).
func notNow(err error) bool {
	c, ok := code(err)
	return ok && c == types.CodeNotSupported
}

// broken tells that a session ended without an answer.
func broken(err error) bool {
	var login *loginError
	if errors.As(err, &login) || unsupported(err) {
		return false
	}
	_, answered := code(err)
	return !answered
}

// refused tells that the BMC answered, and will say the same the next time. Answers that are cut short count: some BMCs send
// them for what they do not have.
func refused(err error) bool {
	_, answered := code(err)
	return answered && !busy(err) || errors.Is(err, types.ErrUnpackedDataTooShort)
}

// unsupported tells that the BMC, or we, cannot do this at all.
func unsupported(err error) bool {
	var u *node.Unsupported
	if errors.As(err, &u) {
		return true
	}
	switch c, _ := code(err); c {
	case types.CodeInvalidCommand, types.CodeParameterNotSupported, types.CodeParameterOutOfRange, types.CodeRequestDataFieldInvalid:
		return true
	}
	return false
}

// refusedLength tells that the BMC wants the command, or its answer, in another length.
func refusedLength(err error) bool {
	c, _ := code(err)
	return c == types.CodeRequestDataLengthInvalid || c == types.CodeRequestDataTruncated ||
		c == types.CodeRequestDataLengthLimitExceeded || c == types.CodeCannotReturnRequestedDataBytes
}
