package ui

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

func (p *Pages) boot(ctx context.Context, a asked) (told, error) {
	is, err := p.o.Conductor.BootDevice(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	return told{body: templates.SentenceOf(templates.BootSentence(ctx, is))}, nil
}

func (p *Pages) media(ctx context.Context, a asked) (told, error) {
	drives, err := p.o.Conductor.VirtualMedia(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	var lines []templates.DriveLine
	full := 0
	for _, d := range drives {
		l := templates.DriveLine{Kinds: templates.DriveKinds(ctx, d.Kinds), Content: templates.T(ctx, "media.empty"), Full: d.Inserted}
		if d.Inserted {
			full++
			l.Content, l.Mono = d.URL, d.URL != ""
			if d.URL == "" {
				l.Content = templates.T(ctx, "media.unnamed")
			}
			if d.ReadOnly {
				l.Note = templates.T(ctx, "media.readonly")
			}
		}
		lines = append(lines, l)
	}
	t := told{body: templates.MediaOf(lines)}
	if a.act && full > 0 {
		label := templates.T(ctx, "media.eject")
		if full > 1 {
			label = templates.T(ctx, "media.eject.all")
		}
		t.actions = []templates.Action{{ID: "eject", Label: label, Names: a.node.Label(), Danger: true, Confirm: nodeURL(a.node.UUID) + "/media/eject?back=" + a.back()}}
	}
	return t, nil
}

func (p *Pages) confirmEject(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	return p.asksBack(c, templates.Confirm{
		Question: templates.EjectQuestion(c.UserContext(), n.Label(), placeWords(c.UserContext(), n)), Consequence: templates.T(c.UserContext(), "media.eject.effect"),
		Post: nodeURL(n.UUID) + "/media/eject", Yes: templates.T(c.UserContext(), "media.eject"), No: templates.T(c.UserContext(), "media.eject.no"),
	}, partURL(n, "media"))
}

func (p *Pages) eject(c *fiber.Ctx) error {
	return p.order(c, templates.T(c.UserContext(), "media.eject"), "ejected", partNamed("media"), func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.DetachVirtualMedia(ctx, actor, n.UUID, nil)
	})
}
