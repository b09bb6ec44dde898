package ui

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cagenut/node"
	"cagenut/templates"
)

// sameTime is how far two clocks may differ and still be called the same.
const sameTime = 30 * time.Second

func (p *Pages) identity(ctx context.Context, a asked) (told, error) {
	id, err := p.o.Conductor.Identity(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	var all []templates.Fact
	add := func(name, value string, mono bool) {
		if value != "" {
			all = append(all, templates.Fact{Name: name, Value: value, Mono: mono})
		}
	}
	add(templates.T(ctx, "bmc.manufacturer"), id.Manufacturer, false)
	add(templates.T(ctx, "bmc.model"), id.Model, false)
	add(templates.T(ctx, "bmc.firmware"), id.Firmware, true)
	add(templates.T(ctx, "bmc.protocol"), id.Protocol, false)
	add(templates.T(ctx, "bmc.serial"), id.Serial, true)
	add(templates.T(ctx, "bmc.uuid"), id.UUID, true)
	add(templates.T(ctx, "bmc.address"), bmcAddress(a.node), true)
	add(templates.T(ctx, "bmc.clock"), p.clockWords(ctx, id.Time), false)
	return told{body: templates.FactsOf(all)}, nil
}

// clockWords is a BMC's clock beside ours: the times in its log are as right as it is.
func (p *Pages) clockWords(ctx context.Context, is time.Time) string {
	if is.IsZero() {
		return ""
	}
	text, apart := is.UTC().Format("2006-01-02 15:04:05 UTC"), is.Sub(p.o.Now())
	if apart.Abs() > sameTime {
		text += ", " + templates.ClockOff(ctx, words(apart.Abs()), apart > 0)
	}
	return text
}

func (p *Pages) firmware(ctx context.Context, a asked) (told, error) {
	found, err := p.o.Conductor.Firmware(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	if len(found) == 0 {
		return told{none: nothingRead(ctx, a.node, "firmware")}, nil
	}
	var all []templates.FirmwareLine
	for _, f := range found {
		l := templates.FirmwareLine{Component: f.Component, Version: f.Version, Released: strings.TrimSuffix(f.Released, "T00:00:00Z")}
		if l.Component == "" {
			l.Component = f.ID
		}
		if f.Updateable != nil {
			l.Updateable = map[bool]string{true: templates.T(ctx, "firmware.yes"), false: templates.T(ctx, "firmware.no")}[*f.Updateable]
		}
		all = append(all, l)
	}
	return told{body: templates.FirmwareOf(all)}, nil
}

func (p *Pages) settings(ctx context.Context, a asked) (told, error) {
	found, err := p.o.Conductor.BIOS(ctx, a.node.UUID)
	if err != nil {
		return told{}, err
	}
	if len(found) == 0 {
		return told{none: nothingRead(ctx, a.node, "bios")}, nil
	}
	var all []templates.Fact
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, templates.Fact{Name: name, Value: settingText(found[name]), Mono: true})
	}
	return told{body: templates.SettingsOf(templates.N(ctx, "bios.count", len(all)), all)}, nil
}

// nothingRead is why nothing was read: the node's interface reads nothing, or its BMC has nothing to tell.
func nothingRead(ctx context.Context, n node.Node, key string) string {
	if chosen := n.Interfaces.Get(key); chosen != node.DriverRedfish {
		return templates.NotRead(ctx, key, chosen)
	}
	return templates.Lacking(ctx, key)
}

// settingText is the value of a setting: a text as it is, anything else as in JSON.
func settingText(v any) string {
	if s, ok := v.(string); ok || v == nil {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
