package redfish

import (
	"context"
	"strings"

	"cagenut/node"
)

// mostSensorReads is how many members of Sensors are asked for one by one where the older resources have told of sensors
// already: those are the same ones, and some BMCs have hundreds.
const mostSensorReads = 64

// Sensors are the readings of the chassis: Thermal and Power of older BMCs, Sensors of newer ones, and both merged where a BMC
// has both. Where there are no Sensors, the subsystems' own readings take their place.
func (c *client) Sensors(ctx context.Context) (list []node.Sensor, err error) {
	err = c.walk(ctx, "read the sensors", func(w *walk, s system) error {
		list = sensors(w, w.chassis(s))
		if len(list) == 0 && w.failed != nil {
			return w.failed
		}
		if len(list) == 0 {
			return c.unsupported("sensors")
		}
		return nil
	})
	return list, err
}

func sensors(w *walk, chassis []member) []node.Sensor {
	var all sensorList
	for _, ch := range chassis {
		var here sensorList
		thermal(w.follow(ch.resource, "Thermal"), &here)
		power(w.follow(ch.resource, "Power"), &here)
		old := here.readings()
		sensorCollection(w, link(ch.resource["Sensors"]), old, &here)
		if here.readings() == 0 {
			thermalSubsystem(w, w.follow(ch.resource, "ThermalSubsystem"), &here)
			powerSubsystem(w, w.follow(ch.resource, "PowerSubsystem"), &here)
			environment(w.follow(ch.resource, "EnvironmentMetrics"), &here)
		}
		for _, one := range here.sensors {
			all.add(one)
		}
	}
	return all.sensors
}

func sensorCollection(w *walk, path string, others int, all *sensorList) {
	members := w.list(path)
	reads := 0
	for _, raw := range members {
		if object(raw).first("Reading", "Name") == nil {
			reads++
		}
	}
	if others > 0 && reads > mostSensorReads {
		return
	}
	for _, raw := range members {
		if m := w.member(raw, []string{"Reading", "Name"}); m.resource != nil && !m.state().absent() {
			all.add(newSensor(m.resource))
		}
	}
}

// newSensor reads a Sensor.
func newSensor(r resource) node.Sensor {
	s := node.Sensor{
		Name: r.word("Name", "Id"), Unit: unit(r.word("ReadingUnits")), Reading: r.number("Reading"), Health: r.state().worst(),
	}
	s.Kind = kindOf(r.word("ReadingType"), s.Unit, r.word("PhysicalContext"))
	if s.Reading == nil {
		s.State = r.state().state
	}
	limits := object(r["Thresholds"])
	limit := func(key string) *float64 { return object(limits[key]).number("Reading") }
	s.LowerCritical, s.LowerWarning = limit("LowerCritical"), limit("LowerCaution")
	s.UpperWarning, s.UpperCritical = limit("UpperCaution"), limit("UpperCritical")
	return s
}

// kindOf goes by the type, as far as the unit agrees: some BMCs call it a temperature when they mean "too hot or not".
func kindOf(kind, unit, context string) node.SensorKind {
	switch {
	case kind == "Temperature" && unit == "Cel":
		return node.SensorTemperature
	case kind == "Rotational" || unit == "RPM" || (kind == "Percent" && context == "Fan"):
		return node.SensorFan
	case kind == "Voltage" && unit == "V":
		return node.SensorVoltage
	case kind == "Current" && unit == "A":
		return node.SensorCurrent
	case kind == "Power" && unit == "W":
		return node.SensorPower
	}
	return node.SensorOther
}

var units = map[string]string{
	"c": "Cel", "cel": "Cel", "celsius": "Cel", "degrees c": "Cel", "rpm": "RPM", "{rev}/min": "RPM", "percent": "%", "volts": "V", "amps": "A", "watts": "W",
}

func unit(s string) string {
	if u := units[strings.ToLower(s)]; u != "" {
		return u
	}
	return s
}

// thermal reads the Thermal resource.
func thermal(r resource, all *sensorList) {
	for _, raw := range items(r["Temperatures"]) {
		t := object(raw)
		all.old(t, t.word("Name"), node.SensorTemperature, "Cel", "ReadingCelsius")
	}
	for _, raw := range items(r["Fans"]) {
		f := object(raw)
		u := unit(f.word("ReadingUnits"))
		if u == "" {
			u = "RPM"
		}
		all.old(f, f.word("Name", "FanName"), node.SensorFan, u, "Reading", "ReadingRPM")
	}
}

// power reads the Power resource, which may lack any of its parts (the handbook's G2).
func power(r resource, all *sensorList) {
	for _, raw := range items(r["Voltages"]) {
		v := object(raw)
		all.old(v, v.word("Name"), node.SensorVoltage, "V", "ReadingVolts")
	}
	for _, raw := range items(r["PowerControl"]) {
		p := object(raw)
		name := p.word("Name")
		if name == "" {
			name = "Power consumption"
		}
		if p.number("PowerConsumedWatts") != nil {
			all.old(p, name, node.SensorPower, "W", "PowerConsumedWatts")
		}
	}
	for _, raw := range items(r["PowerSupplies"]) {
		p := object(raw)
		for _, reading := range []struct {
			name, unit string
			kind       node.SensorKind
			keys       []string
		}{
			{"input voltage", "V", node.SensorVoltage, []string{"LineInputVoltage"}},
			{"input power", "W", node.SensorPower, []string{"PowerInputWatts"}},
			{"output power", "W", node.SensorPower, []string{"PowerOutputWatts", "LastPowerOutputWatts"}},
		} {
			if p.number(reading.keys...) != nil {
				all.old(p, supplyName(p)+" "+reading.name, reading.kind, reading.unit, reading.keys...)
			}
		}
	}
}

// supplyName tells power supplies apart: some BMCs give all of them one name.
func supplyName(p resource) string {
	name, id := p.word("Name"), p.word("MemberId", "Id")
	switch {
	case name == "":
		return "Power supply " + id
	case strings.ContainsAny(name, "0123456789"):
		return name
	}
	return name + " " + id
}

func thermalSubsystem(w *walk, r resource, all *sensorList) {
	for _, raw := range items(w.follow(r, "ThermalMetrics")["TemperatureReadingsCelsius"]) {
		t := object(raw)
		all.excerpt(t, t.word("DeviceName"), node.SensorTemperature, "Cel")
	}
	for _, f := range w.collection(link(r["Fans"]), "Name", "SpeedPercent") {
		speed := object(f.resource["SpeedPercent"])
		if rpm := speed.number("SpeedRPM"); rpm != nil {
			all.add(node.Sensor{Name: f.word("Name", "Id"), Kind: node.SensorFan, Unit: "RPM", Reading: rpm, Health: f.state().worst()})
			continue
		}
		all.excerpt(speed, f.word("Name", "Id"), node.SensorFan, "%")
	}
}

func powerSubsystem(w *walk, r resource, all *sensorList) {
	for _, p := range w.collection(link(r["PowerSupplies"]), "Name", "Metrics") {
		metrics := w.follow(p.resource, "Metrics")
		name := supplyName(p.resource)
		all.excerpt(object(metrics["InputVoltage"]), name+" input voltage", node.SensorVoltage, "V")
		all.excerpt(object(metrics["InputPowerWatts"]), name+" input power", node.SensorPower, "W")
		all.excerpt(object(metrics["OutputPowerWatts"]), name+" output power", node.SensorPower, "W")
		all.excerpt(object(metrics["TemperatureCelsius"]), name+" temperature", node.SensorTemperature, "Cel")
	}
}

func environment(r resource, all *sensorList) {
	all.excerpt(object(r["PowerWatts"]), "Power consumption", node.SensorPower, "W")
	all.excerpt(object(r["TemperatureCelsius"]), "Temperature", node.SensorTemperature, "Cel")
}

// sensorList merges what several resources tell of one sensor.
type sensorList struct {
	sensors []node.Sensor
	index   map[string]int
}

func (l *sensorList) readings() int {
	n := 0
	for _, s := range l.sensors {
		if s.Reading != nil {
			n++
		}
	}
	return n
}

func (l *sensorList) add(s node.Sensor) {
	if s.Name == "" || (s.Reading == nil && s.State == "" && s.Health == "") {
		return
	}
	key := strings.ToLower(s.Name) + "\x00" + s.Unit
	if l.index == nil {
		l.index = map[string]int{}
	}
	i, ok := l.index[key]
	if !ok {
		l.index[key] = len(l.sensors)
		l.sensors = append(l.sensors, s)
		return
	}
	known := &l.sensors[i]
	orElse(&known.Reading, s.Reading)
	orElse(&known.LowerCritical, s.LowerCritical)
	orElse(&known.LowerWarning, s.LowerWarning)
	orElse(&known.UpperWarning, s.UpperWarning)
	orElse(&known.UpperCritical, s.UpperCritical)
	known.Health = known.Health.Worse(s.Health)
}

// old adds an entry of Thermal or Power. A part that is not there, or is switched off, has no reading whatever it shows.
func (l *sensorList) old(r resource, name string, kind node.SensorKind, unit string, keys ...string) {
	st := r.state()
	if st.absent() {
		return
	}
	s := node.Sensor{
		Name: name, Kind: kind, Unit: unit, Reading: r.number(keys...), Health: st.worst(),
		LowerCritical: r.number("LowerThresholdCritical"), LowerWarning: r.number("LowerThresholdNonCritical"),
		UpperWarning: r.number("UpperThresholdNonCritical"), UpperCritical: r.number("UpperThresholdCritical"),
	}
	if st.state == "Disabled" && kind != node.SensorPower {
		s.Reading = nil
	}
	if s.Reading == nil {
		s.State = st.state
	}
	l.add(s)
}

// excerpt adds a reading inside another resource.
func (l *sensorList) excerpt(r resource, name string, kind node.SensorKind, unit string) {
	if reading := r.number("Reading"); reading != nil {
		l.add(node.Sensor{Name: name, Kind: kind, Unit: unit, Reading: reading})
	}
}
