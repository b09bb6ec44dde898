package ui

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// lightStates are what the light of a node can be set to: IPMI has no blinking.
func lightStates(n node.Node) []node.Indicator {
	if n.Driver == node.DriverIPMI {
		return []node.Indicator{node.IndicatorOn, node.IndicatorOff}
	}
	return []node.Indicator{node.IndicatorOn, node.IndicatorBlinking, node.IndicatorOff}
}

func (p *Pages) light(ctx context.Context, a asked) (told, error) {
	is, err := p.o.Conductor.Indicator(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	l := templates.Light{State: templates.State{Name: templates.LightWord(ctx, is), Look: "idle", Icon: "○"}, Sentence: templates.LightSentence(ctx, is)}
	if is == node.IndicatorOn || is == node.IndicatorBlinking {
		l.Look, l.Icon = "working", "●"
	}
	t := told{body: templates.LightOf(l)}
	if !a.act {
		return t, nil
	}
	for _, to := range lightStates(a.node) {
		t.actions = append(t.actions, templates.Action{
			ID: "light-" + string(to), Label: templates.LightLabel(ctx, to), Names: a.node.Label(), Field: "state", Value: string(to),
			Post: nodeURL(a.node.UUID) + "/light", Back: a.back(), Pressed: to == is,
		})
	}
	return t, nil
}

func (p *Pages) setLight(c *fiber.Ctx) error {
	to := node.Indicator(c.FormValue("state"))
	if !slices.Contains([]node.Indicator{node.IndicatorOn, node.IndicatorBlinking, node.IndicatorOff}, to) {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "form.light"))
	}
	return p.order(c, templates.LightLabel(c.UserContext(), to), "light-"+string(to), partNamed("light"), func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.SetIndicator(ctx, actor, n.UUID, to)
	})
}

func (p *Pages) confirmNMI(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	return p.asksBack(c, templates.Confirm{
		Question: templates.NMIQuestion(c.UserContext(), n.Label(), placeWords(c.UserContext(), n)), Consequence: templates.T(c.UserContext(), "nmi.effect"),
		Post: nodeURL(n.UUID) + "/nmi", Yes: templates.T(c.UserContext(), "nmi.label"), No: templates.T(c.UserContext(), "nmi.no"),
	}, nodeURL(n.Label()))
}

func (p *Pages) interrupt(c *fiber.Ctx) error {
	return p.order(c, templates.T(c.UserContext(), "nmi.label"), "nmi", part{}, func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.InjectNMI(ctx, actor, n.UUID)
	})
}
