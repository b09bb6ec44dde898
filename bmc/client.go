package bmc

import (
	"context"

	"cagenut/node"
)

// Client is one server's BMC, as long as the caller has it to itself. It is for one goroutine. Every method touches the
// network, honours the context and has a bound of its own besides.
//
// Errors: node.ErrCredentials (wrapped with the address) where the BMC refuses user or password, *node.Unreachable where it does
// not answer or answers badly, *node.Unsupported where it cannot do what was asked, *node.Invalid where driver_info is wrong.
// An error of the caller's own cancelled context stays context.Canceled.
type Client interface {
	// Power is the state as the BMC says now. A server on its way counts as what it still is; "" is "the BMC does not know".
	Power(ctx context.Context) (node.PowerState, error)
	// SetPower returns when the BMC has accepted; the caller waits for the state. nil at once if it is already so.
	SetPower(ctx context.Context, action node.PowerAction) error
	// Boot is the boot override that the BMC would apply at the next boot.
	Boot(ctx context.Context) (node.Boot, error)
	// SetBoot sets the override; node.BootNone removes it. Repeating it is harmless.
	SetBoot(ctx context.Context, b node.Boot) error
	// SupportedBoot lists the devices that SetBoot can take.
	SupportedBoot(ctx context.Context) ([]node.BootDevice, error)
}

// Driver makes clients of one protocol. It is safe for concurrent use.
type Driver interface {
	// Validate checks driver_info without the network; the error is *node.Invalid and names the keys.
	Validate(n node.Node) error
	// Address says which BMC the node's is, for queueing and look-up. It fails as Validate does.
	Address(n node.Node) (Address, error)
	// Open makes a client. It reads driver_info anew each time and does not touch the network.
	Open(n node.Node) (Client, error)
	// Forget ends what is kept of the node's BMC between clients, such as a login session.
	Forget(ctx context.Context, n node.Node)
	// Close ends everything that is kept, for all BMCs. No client is in use any more.
	Close(ctx context.Context) error
}

// Address is where a BMC is.
type Address struct {
	// Queue identifies the BMC: nodes with the same Queue take turns.
	Queue string
	// Host is the host name or IP address alone, lower case, without brackets, zone kept; "" where there is none.
	Host string
}
