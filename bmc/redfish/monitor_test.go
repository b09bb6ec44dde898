package redfish_test

import (
	"reflect"
	"testing"

	"cagenut/node"
)

func TestSensorsOfOldBMCs(t *testing.T) { // the handbook's G2, G3
	for name, c := range map[string]struct {
		thermal, power string
		want           []node.Sensor
	}{
		"Power has no PowerControl, a sensor number is a text (G2, G3)": {
			`{"Temperatures":[{"Name":"Inlet","SensorNumber":"0x09","ReadingCelsius":21,"UpperThresholdCritical":"42","Status":{"Health":"OK","State":"Enabled"}}]}`,
			`{"Voltages":[{"Name":"12V","ReadingVolts":12.1}],"PowerSupplies":[{"MemberId":"0","Name":"PSU","LineInputVoltage":230,"PowerInputWatts":100,"LastPowerOutputWatts":90}]}`,
			[]node.Sensor{
				{Name: "Inlet", Kind: "temperature", Unit: "Cel", Reading: ptr(21), UpperCritical: ptr(42), Health: "OK"},
				{Name: "12V", Kind: "voltage", Unit: "V", Reading: ptr(12.1)},
				{Name: "PSU 0 input voltage", Kind: "voltage", Unit: "V", Reading: ptr(230)},
				{Name: "PSU 0 input power", Kind: "power", Unit: "W", Reading: ptr(100)},
				{Name: "PSU 0 output power", Kind: "power", Unit: "W", Reading: ptr(90)},
			},
		},
		"empty slots are left out, what is switched off has no reading": {
			`{"Temperatures":[{"Name":"A","ReadingCelsius":0,"Status":{"State":"Absent"}},{"Name":"B","ReadingCelsius":0,"Status":{"State":"Disabled"}},null,5,{"Name":"C"}]}`, `[]`,
			[]node.Sensor{{Name: "B", Kind: "temperature", Unit: "Cel", State: "Disabled"}},
		},
		"fans in percent and in turns": {
			`{"Fans":[{"FanName":"Fan 1","Reading":26,"ReadingUnits":"Percent"},{"Name":"Fan 2","ReadingRPM":5200,"LowerThresholdCritical":500}]}`, `{}`,
			[]node.Sensor{{Name: "Fan 1", Kind: "fan", Unit: "%", Reading: ptr(26)}, {Name: "Fan 2", Kind: "fan", Unit: "RPM", Reading: ptr(5200), LowerCritical: ptr(500)}},
		},
		"power consumption without a name": {
			`{}`, `{"PowerControl":[{"PowerConsumedWatts":"150"},{"Name":"nothing"}]}`,
			[]node.Sensor{{Name: "Power consumption", Kind: "power", Unit: "W", Reading: ptr(150)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer("", "", to("Thermal", "/T")+","+to("Power", "/P"))
			p.docs["/T"], p.docs["/P"] = c.thermal, c.power
			if got, err := p.client(t, patient()).Sensors(t.Context()); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestSensorsOfNewBMCs(t *testing.T) {
	subsystems := to("ThermalSubsystem", "/TS") + "," + to("PowerSubsystem", "/PS") + "," + to("EnvironmentMetrics", "/EM")
	docs := map[string]string{
		"/S": links("/S/1", "/S/2", "/S/3", "/S/4", "/S/5"),
		"/S/1": `{"Name":"CPU","ReadingType":"Temperature","ReadingUnits":"C","Reading":40,"Status":{"Health":"Warning"},` +
			`"Thresholds":{"UpperCaution":{"Reading":38},"UpperCritical":{"Reading":null},"LowerCritical":{"Reading":3}}}`,
		"/S/2":    `{"Name":"Fan","ReadingType":"Rotational","ReadingUnits":"{rev}/min","Reading":4000}`,
		"/S/3":    `{"Name":"Too hot","ReadingType":"Temperature","ReadingUnits":"","Reading":0}`,
		"/S/4":    `{"Id":"PSU1","ReadingType":"Power","ReadingUnits":"W","Reading":"N/A","Status":{"State":"UnavailableOffline"}}`,
		"/S/5":    `{"Name":"VBAT"}`,
		"/TS":     `{` + to("ThermalMetrics", "/TM") + "," + to("Fans", "/F") + `}`,
		"/TM":     `{"TemperatureReadingsCelsius":[{"DeviceName":"Intake","Reading":25}]}`,
		"/F":      links("/F/1", "/F/2"),
		"/F/1":    `{"Name":"Fan 1","SpeedPercent":{"Reading":30,"SpeedRPM":4000}}`,
		"/F/2":    `{"Name":"Fan 2","SpeedPercent":{"Reading":31}}`,
		"/PS":     `{` + to("PowerSupplies", "/PS/P") + `}`,
		"/PS/P":   links("/PS/P/1"),
		"/PS/P/1": `{"Id":"1","Name":"PSU1",` + to("Metrics", "/PS/P/1/M") + `}`, "/PS/P/1/M": `{"InputPowerWatts":{"Reading":200}}`,
		"/EM": `{"PowerWatts":{"Reading":190}}`,
	}
	for name, c := range map[string]struct {
		chassis string
		want    []node.Sensor
	}{
		"they have Sensors": {
			to("Sensors", "/S") + "," + subsystems,
			[]node.Sensor{
				{Name: "CPU", Kind: "temperature", Unit: "Cel", Reading: ptr(40), LowerCritical: ptr(3), UpperWarning: ptr(38), Health: "Warning"},
				{Name: "Fan", Kind: "fan", Unit: "RPM", Reading: ptr(4000)},
				{Name: "Too hot", Kind: "other", Reading: ptr(0)},
				{Name: "PSU1", Kind: "power", Unit: "W", State: "UnavailableOffline"},
			},
		},
		"they have the subsystems alone": {
			subsystems,
			[]node.Sensor{
				{Name: "Intake", Kind: "temperature", Unit: "Cel", Reading: ptr(25)}, {Name: "Fan 1", Kind: "fan", Unit: "RPM", Reading: ptr(4000)},
				{Name: "Fan 2", Kind: "fan", Unit: "%", Reading: ptr(31)}, {Name: "PSU1 input power", Kind: "power", Unit: "W", Reading: ptr(200)},
				{Name: "Power consumption", Kind: "power", Unit: "W", Reading: ptr(190)},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer("", "", c.chassis)
			for path, doc := range docs {
				p.docs[path] = doc
			}
			if got, err := p.client(t, patient()).Sensors(t.Context()); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestTheFailingPartIsNamed(t *testing.T) {
	memory := to("Memory", "/Memory") + `,"MemorySummary":{"Status":{"HealthRollup":"Critical"}}`
	for name, c := range map[string]struct {
		system, chassis string
		docs            map[string]string
		want            node.HealthReport
		unread          string // a collection that need not be read
	}{
		"all is well, and the parts are not asked one by one": {
			`"Status":{"Health":"OK","HealthRollup":"OK"},` + to("Memory", "/Memory") + `,"MemorySummary":{"Status":{"HealthRollup":"OK"}}`, `"Status":{"Health":"OK"}`, nil,
			node.HealthReport{Overall: "OK"}, "/Memory",
		},
		"a module, with the BMC's reason": {
			`"Status":{"HealthRollup":"Critical"},` + memory, "", map[string]string{
				"/Memory/2": `{"DeviceLocator":"DIMM A3","CapacityMiB":1,"Status":{"Health":"Critical","Conditions":[{"Message":"Uncorrectable error."}]}}`},
			node.HealthReport{Overall: "Critical", Parts: []node.PartHealth{{Part: "DIMM A3", Health: "Critical", Message: "Uncorrectable error."}}}, "",
		},
		"nobody knows which part": {
			`"Status":{"Health":"Warning","Conditions":[{"Message":"Something."}]}`, "", nil,
			node.HealthReport{Overall: "Warning", Parts: []node.PartHealth{{Part: "System", Health: "Warning", Message: "Something."}}}, "",
		},
		"the worst is first; what is off or absent is not ill": {
			`"Status":{"Health":"OK"}`, `"Status":{"Health":"OK"},` + to("Thermal", "/T") + "," + to("Power", "/P"), map[string]string{
				"/T": `{"Fans":[{"Name":"Fan 1","Status":{"Health":"Warning","State":"Enabled"}}],"Temperatures":[{"Name":"Inlet","ReadingCelsius":55,"UpperThresholdCritical":42,"Status":{"Health":"Critical"}}]}`,
				"/P": `{"PowerSupplies":[{"Name":"PSU1","Status":{"Health":"Critical","State":"Absent"}},{"Name":"PSU2","Status":{"Health":"Critical","State":"UnavailableOffline"}}],"PowerControl":[{"Status":{"Health":"Critical","State":"Disabled"}}]}`},
			node.HealthReport{Overall: "Critical", Parts: []node.PartHealth{
				{Part: "Inlet", Health: "Critical", Message: "55 °C, beyond the upper critical threshold of 42 °C."},
				{Part: "PSU2", Health: "Critical", Message: "UnavailableOffline"}, {Part: "Fan 1", Health: "Warning"}}}, "",
		},
		"a drive behind a storage that is not well": {
			`"Status":{"Health":"OK"},` + to("Storage", "/S"), "", map[string]string{
				"/S": links("/S/1"), "/S/1": `{"Name":"RAID","Status":{"HealthRollup":"Warning"},"Drives":[{"@odata.id":"/redfish/v1/D/1"},{"@odata.id":"/redfish/v1/D/2"}]}`,
				"/D/1": `{"Name":"Bay 1","Status":{"Health":"OK"}}`, "/D/2": `{"Name":"Bay 2","FailurePredicted":true,"Status":{"Health":"Warning"}}`},
			node.HealthReport{Overall: "Warning", Parts: []node.PartHealth{{Part: "Bay 2", Health: "Warning", Message: "The drive predicts its failure."}}}, "",
		},
		"a card, where no other part explains it": {
			`"Status":{"HealthRollup":"Warning"},"PCIeDevices":[{"@odata.id":"/redfish/v1/C/1"}]`, to("PCIeDevices", "/C"), map[string]string{
				"/C": links("/C/1", "/C/2"), "/C/1": `{"@odata.id":"/redfish/v1/C/1","Name":"NIC in slot 1","Status":{"Health":"Warning","State":"Enabled"}}`, "/C/2": `{"Name":"GPU","Status":{"Health":"OK"}}`},
			node.HealthReport{Overall: "Warning", Parts: []node.PartHealth{{Part: "NIC in slot 1", Health: "Warning"}}}, "",
		},
		"a fan of a new BMC": {
			"", to("ThermalSubsystem", "/TS"), map[string]string{
				"/TS": `{"Status":{"Health":"Warning"},` + to("Fans", "/F") + `}`, "/F": links("/F/1"), "/F/1": `{"Name":"Fan 1","Status":{"Health":"Warning","State":"Degraded"}}`},
			node.HealthReport{Overall: "Warning", Parts: []node.PartHealth{{Part: "Fan 1", Health: "Warning", Message: "Degraded"}}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := withMemory()
			fresh := newPeer(c.system, "", c.chassis)
			for path, doc := range fresh.docs {
				p.docs[path] = doc
			}
			for path, doc := range c.docs {
				p.docs[path] = doc
			}
			if got, err := p.client(t, patient()).Health(t.Context()); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
			if c.unread != "" && p.readsOf(c.unread) > 0 {
				t.Errorf("%s was read", c.unread)
			}
		})
	}
}
