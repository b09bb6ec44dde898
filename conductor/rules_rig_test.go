package conductor_test

import (
	"context"

	"cagenut/conductor"
	"cagenut/inspect/rules"
	"cagenut/node"
)

// ruleEngine carries out inspection rules, joined as cmd joins it.
type ruleEngine struct{ *rules.Engine }

func (e ruleEngine) Apply(ctx context.Context, in conductor.RuleInput) (conductor.Ruled, error) {
	res, err := e.Engine.Apply(ctx, rules.Input(in))
	return conductor.Ruled(res), err
}

// Try is conductor.RuleEngine's.
func (e ruleEngine) Try(ctx context.Context, in conductor.RuleInput) node.RulesTrial {
	return e.Engine.Try(ctx, rules.Input(in))
}

// busy is a rule engine while whose work something else happens.
type busy struct {
	conductor.RuleEngine
	meanwhile func()
}

func (e busy) Apply(ctx context.Context, in conductor.RuleInput) (conductor.Ruled, error) {
	e.meanwhile()
	return e.RuleEngine.Apply(ctx, in)
}
