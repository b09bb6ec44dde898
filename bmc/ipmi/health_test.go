package ipmi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

func TestHealthIsTheWorstOfChassisAndSensorsAndNamesTheParts(t *testing.T) {
	well := &repository{records: [][]byte{record(1, "CPU Temp", nil)}, readings: map[byte][]byte{1: {42, 0xc0, 0xc0}}}
	ill := &repository{
		records: [][]byte{
			record(1, "CPU Temp", nil), record(2, "Inlet", nil), record(3, "Off", nil),
			compact(4, "PSU 2", types.SensorTypePowerSupply, types.EventReadingTypeSensorSpecific, nil),
		},
		readings:   map[byte][]byte{1: {42, 0xc0, 0xc0}, 2: {45, 0xc0, 0xc8}, 3: {0, 0xe0, 0xff}, 4: {0, 0xc0, 0x03, 0x80}},
		thresholds: map[byte][]byte{2: {0x08, 0, 0, 0, 44, 0, 0}},
	}
	for name, c := range map[string]struct {
		status  []byte
		sensors *repository // nil: the BMC has none
		want    node.HealthReport
	}{
		"all well":                            {[]byte{0x01, 0, 0}, well, node.HealthReport{Overall: node.HealthOK}},
		"without sensors":                     {[]byte{0x01, 0, 0}, nil, node.HealthReport{Overall: node.HealthOK}},
		"a reason of the last power-off only": {[]byte{0x01, 0x1f, 0}, well, node.HealthReport{Overall: node.HealthOK}},
		"a fan and an open chassis, without sensors": {[]byte{0x01, 0, 0x09}, nil, node.HealthReport{Overall: node.HealthCritical, Parts: []node.PartHealth{
			{Part: "Cooling", Health: node.HealthCritical, Message: "cooling or fan fault"},
			{Part: "Chassis", Health: node.HealthWarning, Message: "the chassis is open"},
		}}},
		"sensors": {[]byte{0x01, 0, 0}, ill, node.HealthReport{Overall: node.HealthCritical, Parts: []node.PartHealth{
			{Part: "PSU 2", Health: node.HealthCritical, Message: "Presence detected, Power Supply Failure detected"},
			{Part: "Inlet", Health: node.HealthWarning, Message: "45 °C, upper warning threshold 44 °C"},
		}}},
		"everything at once": {[]byte{0x1e, 0, 0x04}, ill, node.HealthReport{Overall: node.HealthCritical, Parts: []node.PartHealth{
			{Part: "Main power", Health: node.HealthCritical, Message: "fault in the main power subsystem"},
			{Part: "Main power", Health: node.HealthCritical, Message: "shut down by a power overload"},
			{Part: "Drives", Health: node.HealthCritical, Message: "drive fault"},
			{Part: "PSU 2", Health: node.HealthCritical, Message: "Presence detected, Power Supply Failure detected"},
			{Part: "Power control", Health: node.HealthWarning, Message: "the server did not follow a power command"},
			{Part: "Chassis", Health: node.HealthWarning, Message: "shut down by the panel interlock"},
			{Part: "Inlet", Health: node.HealthWarning, Message: "45 °C, upper warning threshold 44 °C"},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[types.Command]answer{types.CommandGetSDRRepoInfo: refuse(types.CodeInvalidCommand)}
			if c.sensors != nil {
				answers = c.sensors.answers()
			}
			answers[types.CommandGetChassisStatus] = say(c.status...)
			b := (&standIn{answers: answers}).start(t)
			got, err := able(t, ipmi.New(quick()), b.node()).Health(t.Context())
			if err != nil || got.Overall != c.want.Overall || !slices.Equal(got.Parts, c.want.Parts) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestHealthOfABMCThatStopsAnsweringIsNotInvented(t *testing.T) {
	r := &repository{records: [][]byte{record(1, "CPU Temp", nil)}, readings: map[byte][]byte{1: {42, 0xc0, 0xc0}}}
	answers := r.answers()
	answers[types.CommandGetSensorReading] = refuse(types.CodeNodeBusy)
	answers[types.CommandGetChassisStatus] = say(1, 0, 0)
	b := (&standIn{answers: answers}).start(t)
	got, err := able(t, ipmi.New(quick()), b.node()).Health(t.Context())
	if !errors.As(err, new(*node.Unreachable)) || got.Overall != "" || got.Parts != nil {
		t.Errorf("%+v, %v; want nothing and *node.Unreachable", got, err)
	}
}
