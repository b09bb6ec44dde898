package ipmi

import (
	"context"

	"github.com/bougou/go-ipmi/pkg/command/chassis"

	"cagenut/node"
)

// longestIdentify is how long, in seconds, the light stays on where a BMC cannot leave it on.
const longestIdentify = 255

// Indicator reads the chassis identify state. A BMC need not tell it: then it is unknown.
func (c *client) Indicator(ctx context.Context) (i node.Indicator, err error) {
	i = node.IndicatorUnknown
	err = c.within(ctx, "get_indicator_state", true, func(ctx context.Context, s *session) error {
		st, err := s.GetChassisStatus(ctx)
		switch {
		case err != nil || !st.ChassisIdentifySupported:
			return err
		case st.ChassisIdentifyState == chassis.ChassisIdentifyStateOff:
			i = node.IndicatorOff
		case st.ChassisIdentifyState == chassis.ChassisIdentifyStateTemporaryOn, st.ChassisIdentifyState == chassis.ChassisIdentifyStateIndefiniteOn:
			i = node.IndicatorOn
		}
		return nil
	})
	return i, err
}

// SetIndicator identifies the chassis until told otherwise, or ends it. A BMC that knows only identifying for a while does so
// for as long as it can, 255 s. IPMI has one kind of light: on and blinking are not told apart, and blinking is refused.
func (c *client) SetIndicator(ctx context.Context, to node.Indicator) error {
	if to != node.IndicatorOn && to != node.IndicatorOff {
		return &node.Unsupported{Driver: c.name, Extension: "indicator state " + string(to)}
	}
	return c.within(ctx, "set_indicator_state", true, func(ctx context.Context, s *session) error {
		if to == node.IndicatorOff {
			_, err := s.ChassisIdentify(ctx, 0, false)
			return err
		}
		_, err := s.ChassisIdentify(ctx, 0, true)
		if unsupported(err) || refusedLength(err) {
			_, err = s.ChassisIdentify(ctx, longestIdentify, false)
		}
		return err
	})
}

// InjectNMI pulses the diagnostic interrupt. It is sent once: a late answer must not become a second interrupt.
func (c *client) InjectNMI(ctx context.Context) error {
	return c.within(ctx, "inject_nmi", false, func(ctx context.Context, s *session) error {
		s.WithRetry(0)
		_, err := s.ChassisControl(ctx, chassis.ChassisControlDiagnosticInterrupt)
		return err
	})
}
