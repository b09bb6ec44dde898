package ui

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// personOf is for whom something is kept between two pages.
func personOf(c *fiber.Ctx) string {
	name, _ := web.User(c)
	return name
}

// toldTest is what a BMC said that took the settings.
func (e *enrolPages) toldTest(ctx context.Context, p conductor.Probed) templates.EnrolTest {
	t := templates.EnrolTest{Headline: templates.T(ctx, "enrol.test.ok"), Look: "good"}
	add := func(key, value string, mono bool) {
		if value = strings.TrimSpace(value); value != "" {
			t.Facts = append(t.Facts, templates.Fact{Name: templates.T(ctx, "enrol.fact."+key), Value: value, Mono: mono})
		}
	}
	add("server", p.System.Manufacturer+" "+p.System.Model, false)
	add("serial", p.System.Serial, true)
	add("power", powerWord(ctx, p.Power), false)
	add("protocol", p.BMC.Protocol, false)
	add("bmc", p.BMC.Manufacturer+" "+p.BMC.Model, false)
	add("firmware", p.BMC.Firmware, true)
	add("uuid", p.System.UUID, true)
	if node.Known(p.System.Serial) == "" {
		t.Text = templates.T(ctx, "enrol.test.noserial")
	}
	t.Twins = twinViews(ctx, p.Twins)
	return t
}

func powerWord(ctx context.Context, p node.PowerState) string {
	switch p {
	case node.PowerOn:
		return templates.T(ctx, "enrol.power.on")
	case node.PowerOff:
		return templates.T(ctx, "enrol.power.off")
	}
	return templates.T(ctx, "enrol.power.unknown")
}

func twinViews(ctx context.Context, twins []conductor.Twin) (out []templates.EnrolTwin) {
	for _, t := range twins {
		out = append(out, templates.EnrolTwin{Text: templates.T(ctx, "enrol.twin."+string(t.Kind)), Link: templates.Link{Href: nodeURL(t.UUID), Text: t.Name}})
	}
	return out
}

// failedTest says why a BMC did not take the settings; known is false for errors that are not for readers.
func failedTest(ctx context.Context, err error) (t templates.EnrolTest, known bool) {
	var (
		unreachable *node.Unreachable
		invalid     *node.Invalid
		unsupported *node.Unsupported
	)
	t.Look = "failed"
	switch {
	case errors.Is(err, node.ErrCredentials):
		t.Headline, t.Text = templates.T(ctx, "enrol.test.credentials"), templates.T(ctx, "enrol.test.credentials.next")
	case errors.As(err, &unreachable):
		t.Headline, t.Text = templates.T(ctx, "enrol.trouble."+troubleKey(unreachable)), ended(unreachable.Error())
		if c, ok := conductor.Untrusted(err); ok {
			t.Certificate = &templates.EnrolCertificate{Fingerprint: spelt(c.Fingerprint), Subject: c.Subject, Issuer: c.Issuer, Until: c.NotAfter.UTC().Format("2006-01-02")}
		}
	case errors.As(err, &invalid):
		t.Headline, t.Text = templates.T(ctx, "enrol.test.form"), ended(invalid.Error())
	case errors.As(err, &unsupported):
		t.Headline, t.Text = templates.T(ctx, "enrol.test.unsupported"), ended(unsupported.Error())
	case errors.Is(err, context.DeadlineExceeded):
		t.Headline, t.Text = templates.T(ctx, "enrol.trouble.silence"), templates.T(ctx, "enrol.test.late")
	default:
		return t, false
	}
	return t, true
}

// troubleKey is the headline for a kind of trouble.
func troubleKey(u *node.Unreachable) string {
	switch u.Trouble {
	case node.TroubleName, node.TroubleRoute, node.TroubleRefused, node.TroubleSilence, node.TroubleCertificate, node.TroublePin, node.TroubleScheme, node.TroubleForeign, node.TroubleBusy:
		return string(u.Trouble)
	case node.TroubleOldTLS:
		return "old-tls"
	}
	if u.Timeout {
		return "silence"
	}
	return "other"
}

// spelt is a fingerprint as BMCs and browsers show it, so that it can be compared by eye.
func spelt(digest string) string {
	var pairs []string
	for i := 0; i+2 <= len(digest); i += 2 {
		pairs = append(pairs, strings.ToUpper(digest[i:i+2]))
	}
	return strings.Join(pairs, ":")
}
