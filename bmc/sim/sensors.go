package sim

import (
	"fmt"

	"cagenut/node"
)

// sensor is one sensor as both protocols show it: the byte that IPMI sends and what makes a number of it, so that they agree.
type sensor struct {
	number  uint8
	name    string
	kind    node.SensorKind
	unit    string  // UCUM
	scale   float64 // of one count of raw
	raw     uint8
	present bool // false: no reading at the moment
	// limits are lower critical, lower warning, upper warning, upper critical in counts; 0 is none.
	limits [4]uint8
	state  string // of one without a number
}

// value is the reading in the sensor's unit.
func (s sensor) value() float64 { return s.real(s.raw) }

func (s sensor) real(raw uint8) float64 {
	if s.scale < 1 {
		return float64(raw) / 10 // the one scale below 1; a product would be inexact
	}
	return float64(raw) * s.scale
}

// health follows from the limits.
func (s sensor) health() node.Health {
	if !s.present || s.kind == node.SensorOther {
		return node.HealthOK
	}
	over := func(limit uint8) bool { return limit != 0 && s.raw >= limit }
	under := func(limit uint8) bool { return limit != 0 && s.raw <= limit }
	switch {
	case over(s.limits[3]) || under(s.limits[0]):
		return node.HealthCritical
	case over(s.limits[2]) || under(s.limits[1]):
		return node.HealthWarning
	}
	return node.HealthOK
}

const (
	psuPresent = "Presence detected"
	psuFailed  = "Power Supply Failure detected"
	fans       = 4
	supplies   = 2
)

// sensors reads all sensors. Those of parts without power have no reading.
func (s *Server) sensors() []sensor {
	on, _ := s.machine.power()
	spread := func(from, width int) uint8 { return uint8(from + int(s.hardware.pulse*float64(width))) }
	inlet := spread(19, 6)
	if s.has(FaultHotInlet) {
		inlet = 44
	}
	all := []sensor{{name: "Inlet Temp", kind: node.SensorTemperature, unit: "Cel", scale: 1, raw: inlet, present: true, limits: [4]uint8{2, 5, 42, 47}}}
	for k := range s.hardware.sockets {
		all = append(all, sensor{name: fmt.Sprintf("CPU%d Temp", k+1), kind: node.SensorTemperature, unit: "Cel", scale: 1, raw: spread(41+2*k, 15), present: on, limits: [4]uint8{0, 0, 85, 95}})
	}
	for k := range fans {
		all = append(all, sensor{name: fmt.Sprintf("Fan %d", k+1), kind: node.SensorFan, unit: "RPM", scale: 100, raw: spread(60+k, 20), present: on, limits: [4]uint8{10, 20, 0, 0}})
	}
	watts := uint8(4)
	if on {
		watts = spread(45, 40)
	}
	all = append(all,
		sensor{name: "12V", kind: node.SensorVoltage, unit: "V", scale: .1, raw: 121, present: on, limits: [4]uint8{108, 112, 128, 132}},
		sensor{name: "Input Voltage", kind: node.SensorVoltage, unit: "V", scale: 1, raw: spread(227, 6), present: true, limits: [4]uint8{180, 190, 0, 0}},
		sensor{name: "Input Current", kind: node.SensorCurrent, unit: "A", scale: .1, raw: watts / 5, present: true},
		sensor{name: "System Power", kind: node.SensorPower, unit: "W", scale: 5, raw: watts, present: true},
	)
	for k := range supplies {
		state := psuPresent
		if s.psuFailed(k) {
			state = psuFailed
		}
		all = append(all, sensor{name: fmt.Sprintf("PSU%d Status", k+1), kind: node.SensorOther, present: true, state: state})
	}
	for k := range all {
		all[k].number = uint8(k + 1)
	}
	return all
}

// psuFailed tells of the power supply with an index from 0.
func (s *Server) psuFailed(k int) bool { return k == 1 && s.has(FaultFailedPSU) }

// driveFailing tells of the drive with an index from 0.
func (s *Server) driveFailing(k int) bool {
	return k == len(s.hardware.disks)-1 && s.has(FaultFailedDrive)
}

// health is the server's as a whole.
func (s *Server) health() node.Health {
	h := node.HealthOK
	for _, one := range s.sensors() {
		h = h.Worse(one.health())
	}
	if s.has(FaultFailedDrive) {
		h = h.Worse(node.HealthWarning)
	}
	if s.has(FaultFailedPSU) {
		h = h.Worse(node.HealthCritical)
	}
	return h
}
