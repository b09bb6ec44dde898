package ipmi

import (
	"context"
	"fmt"
	"strings"

	goipmi "github.com/bougou/go-ipmi/pkg/client"
	"github.com/bougou/go-ipmi/pkg/command/sensor"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// mostSensors bounds how many sensors are read.
const mostSensors = 1024

// Sensors reads the sensors that the repository lists, in its order. Those whose device is not in the machine are left out;
// those that do not measure at the moment, or that another controller owns, have neither reading nor state.
func (c *client) Sensors(ctx context.Context) ([]node.Sensor, error) {
	w := &sensorWalk{}
	err := c.walk(ctx, "sensors", func(ctx context.Context, s *session) error { return w.run(ctx, c, s) })
	return w.found, err
}

// sensorWalk reads all sensors, over several sessions if need be.
type sensorWalk struct {
	repository repositoryWalk
	at         int
	found      []node.Sensor
}

func (w *sensorWalk) run(ctx context.Context, c *client, s *session) error {
	if err := w.repository.run(ctx, c, s); err != nil {
		return err
	}
	for all := w.repository.done.sensors; w.at < min(len(all), mostSensors); {
		one, there, err := measure(ctx, s, all[w.at])
		if err != nil {
			return err
		}
		if there {
			w.found = append(w.found, one)
		}
		w.at++
		if err := s.tired(); err != nil {
			return err
		}
	}
	return nil
}

// measure reads one sensor; there is false where its device is not in the machine.
func measure(ctx context.Context, s *session, r sensorRecord) (n node.Sensor, there bool, err error) {
	n = node.Sensor{Name: r.name, Kind: r.sort(), Unit: r.unit}
	if r.owner != bmcAddress {
		return n, true, nil // to ask it would take a bridge
	}
	ctx = goipmi.WithCommandContext(ctx, (&goipmi.CommandContext{}).WithResponderLUN(r.lun))
	q := &sensor.GetSensorReadingRequest{SensorNumber: r.number}
	a := &sensor.GetSensorReadingResponse{}
	err = s.Exchange(ctx, q, a)
	switch cc, _ := code(err); {
	case cc == types.CodeRequestedDataNotPresent:
		return n, false, nil
	case refused(err):
		return n, true, nil
	case err != nil:
		return n, false, err
	}
	if !r.reading.IsThreshold() {
		if !a.SensorScanningDisabled && !a.ReadingUnavailable {
			n.State, n.Health = states(r, a)
		}
		n.Unit = ""
		return n, true, nil
	}
	err = r.thresholds(ctx, s, &n)
	if err == nil && !a.SensorScanningDisabled && !a.ReadingUnavailable {
		n.Health = crossed(a)
		n.Reading, err = r.convert(ctx, s, a.Reading)
	}
	return n, true, err
}

// crossed is the health by the thresholds that the BMC says are crossed.
func crossed(a *sensor.GetSensorReadingResponse) node.Health {
	switch {
	case a.Above_UNR || a.Below_LNR || a.Above_UCR || a.Below_LCR:
		return node.HealthCritical
	case a.Above_UNC || a.Below_LNC:
		return node.HealthWarning
	}
	return node.HealthOK
}

// convert is a raw reading as a number; nil where the record does not say how. Sensors that are not linear tell their factors
// for each reading.
func (r sensorRecord) convert(ctx context.Context, s *session, raw byte) (*float64, error) {
	if !r.analog {
		return nil, nil
	}
	how := r.scale
	if how.linear.IsNonLinear() {
		f, err := s.GetSensorReadingFactors(ctx, r.number, raw)
		if refused(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		how.ReadingFactors = f.ReadingFactors
	}
	return how.value(raw), nil
}

// Access to thresholds, §43.1.
const (
	accessReadable = 1
	accessSettable = 2
	accessFixed    = 3
)

// thresholds fills in the thresholds that the sensor has. Non-recoverable ones stand in where there are no critical ones.
func (r sensorRecord) thresholds(ctx context.Context, s *session, n *node.Sensor) error {
	l := limits{}
	switch {
	case !r.analog:
	case r.access == accessFixed:
		l = r.fixed
	case r.access == accessReadable, r.access == accessSettable:
		a, err := s.GetSensorThresholds(ctx, r.number)
		if err != nil && !refused(err) {
			return err
		}
		if err == nil {
			l = readLimits(a)
		}
	}
	for _, t := range []struct {
		has byte
		raw byte
		to  **float64
	}{
		{hasLowerFatal, l.lowerFatal, &n.LowerCritical}, {hasLowerCritical, l.lowerCritical, &n.LowerCritical}, {hasLowerWarning, l.lowerWarning, &n.LowerWarning},
		{hasUpperFatal, l.upperFatal, &n.UpperCritical}, {hasUpperCritical, l.upperCritical, &n.UpperCritical}, {hasUpperWarning, l.upperWarning, &n.UpperWarning},
	} {
		if l.mask&t.has == 0 {
			continue
		}
		v, err := r.convert(ctx, s, t.raw)
		if err != nil {
			return err
		}
		*t.to = v
	}
	return nil
}

func readLimits(a *sensor.GetSensorThresholdsResponse) limits {
	l := limits{
		lowerWarning: a.LNC_Raw, lowerCritical: a.LCR_Raw, lowerFatal: a.LNR_Raw,
		upperWarning: a.UNC_Raw, upperCritical: a.UCR_Raw, upperFatal: a.UNR_Raw,
	}
	for bit, there := range map[byte]bool{
		hasLowerWarning: a.LNC_Readable, hasLowerCritical: a.LCR_Readable, hasLowerFatal: a.LNR_Readable,
		hasUpperWarning: a.UNC_Readable, hasUpperCritical: a.UCR_Readable, hasUpperFatal: a.UNR_Readable,
	} {
		if there {
			l.mask |= bit
		}
	}
	return l
}

// states names the states that a discrete sensor is in, and the worst of what they mean.
func states(r sensorRecord, a *sensor.GetSensorReadingResponse) (string, node.Health) {
	var names []string
	var worst node.Health
	bits := uint16(a.OptionalData2&0x7f)<<8 | uint16(a.OptionalData1)
	for offset := range uint8(15) {
		if bits>>offset&1 == 0 {
			continue
		}
		e := r.reading.EventForOffset(r.kind, offset)
		if e == nil {
			names = append(names, fmt.Sprintf("state %d", offset))
			continue
		}
		names = append(names, plain(e.EventName))
		worst = worst.Worse(meaning(r, e))
	}
	return strings.Join(names, ", "), worst
}

// meaning is how healthy a state is; "" where that depends on what the sensor is for: whether a bay is empty, a device switched
// off or a state asserted tells nothing by itself.
func meaning(r sensorRecord, e *types.Event) node.Health {
	switch r.reading {
	case types.EventReadingTypeSensorSpecific:
		return health(e.AssertionSeverity)
	case types.EventReadingTypePredictiveFailure, types.EventReadingTypeLimit, types.EventReadingTypePerformance,
		types.EventReadingTypeTransitionSeverity, types.EventReadingTypeRedundancy:
		if s, ok := e.AssertionSeverityMap[r.kind]; ok {
			return health(s)
		}
		return health(e.AssertionSeverityMap[types.SensorTypeReserved])
	}
	return ""
}

// health is a severity in our words.
func health(s types.EventSeverity) node.Health {
	switch s {
	case types.EventSeverityOK, types.EventSeverityInfo:
		return node.HealthOK
	case types.EventSeverityWarning, types.EventSeverityDegraded, types.EventSeverityNonFatal:
		return node.HealthWarning
	case types.EventSeverityCritical:
		return node.HealthCritical
	}
	return ""
}
