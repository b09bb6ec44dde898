package redfish

import (
	"context"
	"errors"

	"cagenut/node"
)

// light is the resource that has the light, and how it is.
type light struct {
	path   string
	led    string // IndicatorLED, the older property; "" where it is not there
	active *bool  // LocationIndicatorActive, the newer one; nil where it is not there
}

// Indicator reads the light of the system, else that of its chassis.
func (c *client) Indicator(ctx context.Context) (node.Indicator, error) {
	l, err := c.light(ctx, "get_indicator_state")
	switch {
	case err != nil:
		return "", err
	case l.led == "Blinking":
		return node.IndicatorBlinking, nil
	case l.led == "Lit" || (l.active != nil && *l.active):
		return node.IndicatorOn, nil
	case l.led == "Off" || l.active != nil:
		return node.IndicatorOff, nil
	}
	return node.IndicatorUnknown, nil
}

func (c *client) light(ctx context.Context, ability string) (l light, err error) {
	err = c.walk(ctx, "read the indicator", func(w *walk, s system) error {
		all := append([]member{{path: s.path, resource: s.all}}, w.chassis(s)...)
		for _, m := range all {
			l = light{path: m.path, led: text(m.resource["IndicatorLED"]), active: boolean(m.resource["LocationIndicatorActive"])}
			if l.led != "" || l.active != nil {
				return nil
			}
		}
		if w.failed != nil {
			return w.failed
		}
		return c.unsupported(ability)
	})
	return l, err
}

// SetIndicator switches the light by the property that the BMC has. The older one says what is meant; the newer one knows no
// blinking, and some BMCs blink for its "on".
func (c *client) SetIndicator(ctx context.Context, to node.Indicator) error {
	words := map[node.Indicator]string{node.IndicatorOff: "Off", node.IndicatorOn: "Lit", node.IndicatorBlinking: "Blinking"}
	word, ok := words[to]
	if !ok {
		return node.Invalidf("The indicator can be off, on or blinking, not \"%s\".", printable(string(to)))
	}
	l, err := c.light(ctx, "set_indicator_state")
	if err != nil {
		return err
	}
	var bodies []map[string]any
	if l.led != "" {
		bodies = append(bodies, map[string]any{"IndicatorLED": word})
	}
	if l.active != nil && to != node.IndicatorBlinking {
		bodies = append(bodies, map[string]any{"LocationIndicatorActive": to == node.IndicatorOn})
	}
	if len(bodies) == 0 {
		return c.unsupported("set_indicator_state") // of blinking
	}
	return c.changing(ctx, "switch the indicator", func(ch *change) error {
		var errs []error
		for _, body := range bodies {
			err := ch.patch(l.path, body)
			if err == nil {
				return nil
			}
			errs = append(errs, err)
			if !refused(err) {
				break
			}
		}
		return errors.Join(errs...)
	})
}
