package sim_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	ipmichassis "github.com/bougou/go-ipmi/pkg/command/chassis"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// all are the members of a collection.
func all(t *testing.T, s *sim.Server, path string) []map[string]any {
	t.Helper()
	var docs []map[string]any
	for _, m := range shown(t, s, path)["Members"].([]any) {
		docs = append(docs, shown(t, s, at(m, "@odata.id").(string)))
	}
	return docs
}

func TestRedfishAndTheRamdiskSeeTheSameMachine(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 6, Seed: 5}).Servers() {
		report, sys := reportOf(t, s).Inventory, shown(t, s, system)
		var modules int
		for _, m := range all(t, s, system+"/Memory") {
			modules += int(m["CapacityMiB"].(float64))
		}
		var drives []string
		for _, controller := range all(t, s, system+"/Storage") {
			for _, d := range controller["Drives"].([]any) {
				drives = append(drives, shown(t, s, at(d, "@odata.id").(string))["SerialNumber"].(string))
			}
		}
		var disks []string
		for _, d := range report.Disks {
			disks = append(disks, d.Serial)
		}
		var ports []string
		for _, adapter := range all(t, s, adapters) {
			for _, p := range all(t, s, at(adapter, "Ports", "@odata.id").(string)) {
				ports = append(ports, at(p, "Ethernet", "AssociatedMACAddresses", 0).(string))
			}
		}
		var reported []string
		for _, i := range report.Interfaces {
			reported = append(reported, i.MAC)
		}
		if modules != report.Memory.PhysicalMB || !slices.Equal(drives, disks) || !slices.Equal(ports, reported) ||
			sys["SerialNumber"] != report.SystemVendor.SerialNumber || len(all(t, s, system+"/Processors")) != report.CPU.SocketCount {
			t.Errorf("%s: memory %d, drives %v, ports %v; the ramdisk says %+v", s.Name, modules, drives, ports, report)
		}
	}
}

func TestPortsHearTheNeighbourThatTheRamdiskHears(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	heard := at(shown(t, s, adapters+"/NIC1/Ports/1"), "Ethernet", "LLDPReceive")
	var report struct {
		LLDP map[string][][2]any `json:"lldp_raw"`
	}
	if err := json.Unmarshal(s.Report(), &report); err != nil {
		t.Fatal(err)
	}
	for _, tlv := range report.LLDP["eno1"] {
		value, err := hex.DecodeString(tlv[1].(string))
		if err != nil {
			t.Fatal(err)
		}
		switch tlv[0] {
		case 2.0:
			if at(heard, "PortId") != string(value[1:]) {
				t.Errorf("port %q, Redfish says %v", value[1:], heard)
			}
		case 5.0:
			if at(heard, "SystemName") != string(value) {
				t.Errorf("switch %q, Redfish says %v", value, heard)
			}
		}
	}
	if at(heard, "ChassisId") != "02:00:5e:e0:01:00" {
		t.Errorf("%v", heard)
	}
}

func TestFirmwareAndSetUpAreShown(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	versions := map[any]any{}
	for _, f := range all(t, s, "/redfish/v1/UpdateService/FirmwareInventory") {
		versions[f["Name"]] = f["Version"]
	}
	if versions["BIOS"] != shown(t, s, system)["BiosVersion"] || versions["BMC"] != shown(t, s, "/redfish/v1/Managers/1")["FirmwareVersion"] {
		t.Errorf("%v", versions)
	}
	attributes := func() map[string]any { return shown(t, s, system+"/Bios")["Attributes"].(map[string]any) }
	uefi, secure := attributes()["BootMode"], shown(t, s, system+"/SecureBoot")["SecureBootEnable"]
	patchBoot(t, s, mode, "Legacy")
	if legacy := attributes()["BootMode"]; uefi != "Uefi" || legacy != "LegacyBios" || secure != true || shown(t, s, system+"/SecureBoot")["SecureBootEnable"] != false {
		t.Errorf("%v, %v, secure boot %v", uefi, legacy, secure)
	}
}

// seen is a sensor as one of the protocols shows it.
type seen struct{ value, upperCritical float64 }

func TestSensorsAgreeInBothProtocols(t *testing.T) {
	servers := startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers()
	byIPMI := map[string]bool{}
	for _, s := range servers {
		s.SetPower(node.PowerOn)
		got := map[string]seen{}
		if s.Driver == node.DriverIPMI {
			list, err := mustDial(t, s).GetSensors(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range list {
				byIPMI[one.Name] = true
				if one.HasAnalogReading {
					got[one.Name] = seen{one.Value, one.Threshold.UCR}
				} else if !one.Discrete.ActiveStates.State_0 {
					t.Errorf("%s: %+v", one.Name, one.Discrete.ActiveStates)
				}
			}
		} else {
			for _, one := range all(t, s, "/redfish/v1/Chassis/1/Sensors") {
				critical, _ := at(one, "Thresholds", "UpperCritical", "Reading").(float64)
				got[one["Name"].(string)] = seen{one["Reading"].(float64), critical}
			}
		}
		for name, bounds := range map[string][2]float64{"Inlet Temp": {15, 30}, "CPU1 Temp": {35, 70}, "Fan 1": {5000, 9000}, "12V": {11.9, 12.3}, "Input Voltage": {220, 240}, "System Power": {200, 450}} {
			if v, there := got[name]; !there || v.value < bounds[0] || v.value > bounds[1] {
				t.Errorf("%s over %s: %+v, %t", name, s.Driver, v, there)
			}
		}
		if got["Inlet Temp"].upperCritical != 47 || math.Abs(got["12V"].upperCritical-13.2) > 1e-9 {
			t.Errorf("over %s: %+v", s.Driver, got)
		}
	}
	for _, name := range []string{"PSU1 Status", "PSU2 Status"} {
		if !byIPMI[name] {
			t.Errorf("IPMI shows no %q, but %v", name, byIPMI)
		}
	}
}

func TestPartsWithoutPowerHaveNoReading(t *testing.T) {
	servers := startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers()
	for _, s := range servers {
		if s.Driver == node.DriverRedfish {
			fan := at(shown(t, s, "/redfish/v1/Chassis/1/Thermal"), "Fans", 0)
			if reading, there := fan.(map[string]any)["Reading"]; reading != nil || !there {
				t.Errorf("%v", fan)
			}
			continue
		}
		if one := sensorNamed(t, mustDial(t, s), "Fan 1"); one.ReadingAvailable {
			t.Errorf("%+v", one)
		}
	}
}

func TestIPMIDescribesTheServer(t *testing.T) {
	s := startIPMI(t, sim.Options{})
	c, ctx := mustDial(t, s), context.Background()
	vendor := reportOf(t, s).Inventory.SystemVendor
	fru, err := c.GetFRU(ctx, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if p := fru.ProductInfoArea; string(p.Manufacturer) != vendor.Manufacturer || string(p.Name) != vendor.ProductName || string(p.SerialNumber) != vendor.SerialNumber {
		t.Errorf("%+v, want %+v", p, vendor)
	}
	id, err := c.GetDeviceID(ctx)
	if err != nil || id.MajorIPMIVersion != 2 || id.MajorFirmwareRevision != 1 || id.MinorFirmwareRevision != 2 {
		t.Errorf("%v, %+v", err, id)
	}
	ip, mac := &types.LanConfigParam_IP{}, &types.LanConfigParam_MAC{}
	if err := c.GetLanConfigParamsFor(ctx, 1, &types.LanConfigParams{IP: ip, MAC: mac}); err != nil || ip.IP.String() != s.Address || mac.MAC.String() != reportOf(t, s).Inventory.BMCMAC {
		t.Errorf("%v, %s, %s", err, ip.IP, mac.MAC)
	}
	guid, err := c.GetSystemGUID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := types.ParseGUID(guid.GUID[:], types.GUIDModeSMBIOS); err != nil || len(u) != 16 || strings.HasPrefix(u.String(), "00000000") {
		t.Errorf("%v, %s", err, u)
	}
}

func TestLogTellsWhatHappenedAndIsCleared(t *testing.T) {
	servers := startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers()
	for _, s := range servers {
		s.SetPower(node.PowerOn)
		s.SetPower(node.PowerOff)
	}
	for _, s := range servers {
		if s.Driver == node.DriverIPMI {
			c, ctx := mustDial(t, s), context.Background()
			list, err := c.GetSELEntries(ctx, 0)
			if err != nil || len(list) != 3 || list[1].Standard.SensorType != 0x22 || list[2].Standard.EventData.EventData1 != 5 {
				t.Fatalf("%v, %v", err, list)
			}
			if _, err := c.ClearSEL(ctx, 99); code(err) != types.CodeReservationCanceled {
				t.Errorf("without a reservation: %v", err)
			}
			r, err := c.ReserveSEL(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.ClearSEL(ctx, r.ReservationID); err != nil {
				t.Errorf("clear: %v", err)
			}
			if info, err := c.GetSELInfo(ctx); err != nil || info.Entries != 1 {
				t.Errorf("%v, %+v", err, info)
			}
			continue
		}
		for _, log := range []string{system + "/LogServices/SEL", "/redfish/v1/Managers/1/LogServices/Log"} {
			if list := shown(t, s, log+"/Entries")["Members"].([]any); len(list) != 3 || !strings.Contains(at(list, 2, "Message").(string), "off") {
				t.Errorf("%s: %v", log, list)
			}
		}
		clearTarget := at(shown(t, s, system+"/LogServices/SEL"), "Actions", "#LogService.ClearLog", "target").(string)
		expect(t, "clear", []int{status(t, s, http.MethodPost, clearTarget, "{}")}, []int{204})
		if list := shown(t, s, "/redfish/v1/Managers/1/LogServices/Log/Entries")["Members"].([]any); len(list) != 1 {
			t.Errorf("%v", list)
		}
	}
}

func TestLightIsTheSameEverywhere(t *testing.T) {
	servers := startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers()
	for _, s := range servers {
		if s.Driver == node.DriverIPMI {
			c, ctx := mustDial(t, s), context.Background()
			for seconds, want := range map[uint8]node.Indicator{20: node.IndicatorBlinking, 0: node.IndicatorOff} {
				if _, err := c.ChassisIdentify(ctx, seconds, false); err != nil || s.Indicator() != want {
					t.Errorf("%d s: %v, %s", seconds, err, s.Indicator())
				}
			}
			if _, err := c.ChassisIdentify(ctx, 0, true); err != nil || s.Indicator() != node.IndicatorOn {
				t.Errorf("forced: %v, %s", err, s.Indicator())
			}
			continue
		}
		for _, step := range []struct {
			path, body string
			want       int
			led        string
			light      node.Indicator
		}{
			{system, `{"IndicatorLED":"Lit"}`, 204, "Lit", node.IndicatorOn},
			{"/redfish/v1/Chassis/1", `{"IndicatorLED":"Blinking"}`, 204, "Blinking", node.IndicatorBlinking},
			{system, `{"IndicatorLED":"Purple"}`, 400, "Blinking", node.IndicatorBlinking},
			{"/redfish/v1/Chassis/1", `{"LocationIndicatorActive":false}`, 204, "Off", node.IndicatorOff},
			{system, `{"LocationIndicatorActive":true}`, 204, "Blinking", node.IndicatorBlinking},
		} {
			got := status(t, s, http.MethodPatch, step.path, step.body)
			if led := shown(t, s, system)["IndicatorLED"]; got != step.want || led != step.led || s.Indicator() != step.light {
				t.Errorf("%s %s: %d, %v, %s", step.path, step.body, got, led, s.Indicator())
			}
		}
	}
}

func TestInterruptReachesARunningServerAlone(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers() {
		interrupt := func() bool {
			if s.Driver == node.DriverIPMI {
				_, err := mustDial(t, s).ChassisControl(context.Background(), ipmichassis.ChassisControlDiagnosticInterrupt)
				return err == nil
			}
			return resetStatus(t, s, "Nmi") == 204
		}
		off := interrupt()
		s.SetPower(node.PowerOn)
		if on := interrupt(); off || !on || s.Interrupts() != 1 || s.Power() != node.PowerOn {
			t.Errorf("%s: off %t, on %t, %d interrupts, %s", s.Driver, off, on, s.Interrupts(), s.Power())
		}
	}
}

func TestExpandPutsTheMembersIn(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	for i, m := range shown(t, s, nics+"?$expand=.($levels=1)")["Members"].([]any) {
		if at(m, "MACAddress") != at(all(t, s, nics)[i], "MACAddress") || at(m, "MACAddress") == nil {
			t.Errorf("%v", m)
		}
	}
}
