package ipmi

import (
	"context"
	"strings"

	"github.com/bougou/go-ipmi/pkg/command/chassis"

	"cagenut/node"
)

// Power reads the chassis status.
func (c *client) Power(ctx context.Context) (node.PowerState, error) {
	seen, err := c.Glance(ctx)
	return seen.Power, err
}

// Glance reads the chassis status, in which the faults stand beside the power.
func (c *client) Glance(ctx context.Context) (seen node.Glance, err error) {
	err = c.within(ctx, "read the power state", true, func(ctx context.Context, s *session) error {
		seen, err = glance(ctx, s)
		return err
	})
	return seen, err
}

func glance(ctx context.Context, s *session) (node.Glance, error) {
	st, err := s.GetChassisStatus(ctx)
	if err != nil {
		return node.Glance{}, err
	}
	seen := node.Glance{Power: node.PowerOff, Health: node.HealthOK}
	if st.PowerIsOn {
		seen.Power = node.PowerOn
	}
	var why []string
	for _, p := range faults(st) {
		seen.Health = seen.Health.Worse(p.Health)
		why = append(why, p.Part+": "+p.Message)
	}
	seen.Why = strings.Join(why, "; ")
	return seen, nil
}

func power(ctx context.Context, s *session) (node.PowerState, error) {
	seen, err := glance(ctx, s)
	return seen.Power, err
}

// controls are the chassis controls of an action, the second where a BMC lacks the first.
var controls = map[node.PowerAction][]chassis.ChassisControl{
	node.ActionOn:      {chassis.ChassisControlPowerUp},
	node.ActionOff:     {chassis.ChassisControlPowerDown},
	node.ActionSoftOff: {chassis.ChassisControlSoftShutdown},
	node.ActionReboot:  {chassis.ChassisControlHardReset, chassis.ChassisControlPowerCycle},
}

// SetPower sends the chassis control, unless the goal is reached already. IPMI has no soft reboot: that is a soft shutdown, the
// wait for it, and a start.
func (c *client) SetPower(ctx context.Context, action node.PowerAction) error {
	if action != node.ActionSoftReboot {
		return c.control(ctx, action)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*c.driver.options.Operation)
	defer cancel()
	now, err := c.Power(ctx)
	if err == nil && now == node.PowerOn {
		err = c.control(ctx, node.ActionSoftOff)
	}
	for err == nil {
		if now, err = c.Power(ctx); err != nil || now == node.PowerOff {
			break
		}
		if err = sleep(ctx, c.driver.options.Poll); err != nil {
			return c.fail(ctx, string(action), err)
		}
	}
	if err != nil {
		return err
	}
	return c.control(ctx, node.ActionOn)
}

func (c *client) control(ctx context.Context, action node.PowerAction) error {
	if len(controls[action]) == 0 {
		return &node.Unsupported{Driver: c.name, Extension: string(action)}
	}
	for try := 1; ; try++ {
		sent := false
		err := c.within(ctx, string(action), false, func(ctx context.Context, s *session) error {
			now, err := power(ctx, s)
			if err != nil {
				return err
			}
			sent = true
			return send(ctx, s, action, now)
		})
		if err == nil || !sent {
			return err
		}
		// The command may have arrived although its answer did not, and a refusal may mean "already so" (G34).
		if now, readErr := c.Power(ctx); readErr == nil && now == action.Result() && action != node.ActionReboot {
			return nil
		}
		if !notNow(err) || try == c.driver.options.BusyTries || sleep(ctx, c.driver.options.BusyPause) != nil {
			return err
		}
	}
}

// send sends an action to a server whose state is now.
func send(ctx context.Context, s *session, action node.PowerAction, now node.PowerState) error {
	if action == node.ActionReboot && now == node.PowerOff {
		action = node.ActionOn // a server that is off cannot be rebooted, only started
	}
	if action != node.ActionReboot && now == action.Result() {
		return nil
	}
	s.WithRetry(0) // the library would send a power command again when its answer is late
	var err error
	for _, control := range controls[action] {
		if _, err = s.ChassisControl(ctx, control); err == nil || !unsupported(err) {
			break
		}
	}
	return err
}
