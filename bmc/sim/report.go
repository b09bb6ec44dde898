package sim

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The report as the Ironic Python Agent writes it (contract.md §6.2, §6.3). Pointers are values that may be null.
type (
	reportBody struct {
		Inventory     reportInventory     `json:"inventory"`
		RootDisk      *reportDisk         `json:"root_disk,omitempty"`
		BootInterface string              `json:"boot_interface"`
		Configuration reportConfiguration `json:"configuration"`
		PCIDevices    []reportPCI         `json:"pci_devices"`
		LLDPRaw       map[string][][2]any `json:"lldp_raw"`
		Logs          string              `json:"logs"`
		Error         *string             `json:"error"`
	}
	reportInventory struct {
		Interfaces   []reportInterface `json:"interfaces"`
		CPU          reportCPU         `json:"cpu"`
		Disks        []reportDisk      `json:"disks"`
		Memory       reportMemory      `json:"memory"`
		BMCAddress   string            `json:"bmc_address"`
		BMCv6Address string            `json:"bmc_v6address"`
		BMCMAC       string            `json:"bmc_mac"`
		SystemVendor reportVendor      `json:"system_vendor"`
		Boot         reportBoot        `json:"boot"`
		Hostname     string            `json:"hostname"`
	}
	reportInterface struct {
		Name        string  `json:"name"`
		MAC         string  `json:"mac_address"`
		IPv4        *string `json:"ipv4_address"`
		IPv6        *string `json:"ipv6_address"`
		HasCarrier  bool    `json:"has_carrier"`
		LLDP        []any   `json:"lldp"`
		Vendor      string  `json:"vendor"`
		Product     string  `json:"product"`
		ClientID    *string `json:"client_id"`
		BIOSDevName *string `json:"biosdevname"`
		SpeedMbps   *int    `json:"speed_mbps"`
		PCIAddress  string  `json:"pci_address"`
		Driver      string  `json:"driver"`
	}
	reportCPU struct {
		ModelName    string   `json:"model_name"`
		Frequency    string   `json:"frequency"`
		Count        int      `json:"count"`
		Architecture string   `json:"architecture"`
		Flags        []string `json:"flags"`
		SocketCount  int      `json:"socket_count"`
	}
	reportDisk struct {
		Name               string  `json:"name"`
		Model              string  `json:"model"`
		Size               int64   `json:"size"`
		Rotational         bool    `json:"rotational"`
		WWN                string  `json:"wwn"`
		Serial             string  `json:"serial"`
		Vendor             *string `json:"vendor"`
		WWNWithExtension   string  `json:"wwn_with_extension"`
		WWNVendorExtension *string `json:"wwn_vendor_extension"`
		HCTL               *string `json:"hctl"`
		ByPath             string  `json:"by_path"`
		LogicalSectors     int     `json:"logical_sectors"`
		PhysicalSectors    int     `json:"physical_sectors"`
		Tran               string  `json:"tran"`
	}
	reportMemory struct {
		Total      int64 `json:"total"`
		PhysicalMB int   `json:"physical_mb"`
	}
	reportVendor struct {
		ProductName  string         `json:"product_name"`
		SerialNumber string         `json:"serial_number"`
		Manufacturer string         `json:"manufacturer"`
		Firmware     reportFirmware `json:"firmware"`
	}
	reportFirmware struct {
		Vendor    string `json:"vendor"`
		Version   string `json:"version"`
		BuildDate string `json:"build_date"`
	}
	reportBoot struct {
		CurrentBootMode string `json:"current_boot_mode"`
		PXEInterface    string `json:"pxe_interface"`
	}
	reportConfiguration struct {
		Collectors []string        `json:"collectors"`
		Managers   []reportManager `json:"managers"`
	}
	reportManager struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	reportPCI struct {
		VendorID   string  `json:"vendor_id"`
		ProductID  string  `json:"product_id"`
		Class      string  `json:"class"`
		Revision   string  `json:"revision"`
		Bus        string  `json:"bus"`
		NUMANodeID *string `json:"numa_node_id"`
	}
)

// reportChanges are what a test or a demo wants different in a server's reports.
type reportChanges struct{ failure string }

// FailReports puts an error of the ramdisk's collectors into the server's reports from now on; "" ends that.
func (s *Server) FailReports(sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.failure = sentence
}

// Report is the JSON body that the server's ramdisk posts.
func (s *Server) Report() []byte {
	s.mu.Lock()
	changes := s.report
	s.mu.Unlock()
	body, err := json.Marshal(s.hardware.report(s.host, s.machine.override().Legacy, changes))
	if err != nil {
		panic(fmt.Sprintf("sim: a report of plain values does not marshal: %s", err))
	}
	return body
}

func (h hardware) report(bmcHost string, legacy bool, changes reportChanges) reportBody {
	mode := "uefi"
	if legacy {
		mode = "bios"
	}
	pxe := "01-" + strings.ReplaceAll(h.nics[0].mac, ":", "-")
	r := reportBody{
		Inventory: reportInventory{
			CPU: reportCPU{
				ModelName: h.model.cpu, Frequency: h.model.mhz, Count: h.threads(), Architecture: "x86_64",
				Flags: []string{"fpu", "vmx", "aes", "pse", "pdpe1gb", "avx2"}, SocketCount: h.sockets,
			},
			// What the kernel sees is a little less than what is plugged in.
			Memory:     reportMemory{Total: int64(h.memory)<<30 - int64(h.memory)<<22, PhysicalMB: h.memory << 10},
			BMCAddress: bmcHost, BMCv6Address: "::/0", BMCMAC: h.bmcMAC,
			SystemVendor: reportVendor{
				ProductName: h.model.product, SerialNumber: h.serial, Manufacturer: h.model.manufacturer,
				Firmware: reportFirmware{Vendor: "Example BIOS", Version: h.bios, BuildDate: "05/01/2026"},
			},
			Boot: reportBoot{CurrentBootMode: mode, PXEInterface: pxe}, Hostname: "localhost.localdomain",
		},
		BootInterface: pxe,
		Configuration: reportConfiguration{
			Collectors: []string{"default", "logs", "pci-devices", "lldp"}, Managers: []reportManager{{"generic_hardware_manager", "1.2"}},
		},
		LLDPRaw: map[string][][2]any{},
		Logs:    h.logs(),
	}
	h.reportNICs(&r)
	for _, d := range h.disks {
		r.Inventory.Disks = append(r.Inventory.Disks, d.report())
	}
	root := h.disks[0].report()
	r.RootDisk = &root
	if changes.failure != "" {
		text := "The following errors were encountered:\n* " + changes.failure
		r.Error = &text
	}
	return r
}

func (h hardware) reportNICs(r *reportBody) {
	for k, n := range h.nics {
		numa := "0"
		i := reportInterface{
			Name: n.name, MAC: n.mac, HasCarrier: n.carrier, Vendor: n.vendor, Product: n.product, PCIAddress: n.pci, Driver: n.driver,
		}
		if n.carrier {
			i.SpeedMbps = &n.mbps
		}
		if k == 0 {
			v4 := fmt.Sprintf("198.18.%d.%d", h.index>>7, 2+h.index&0x7f)
			v6 := fmt.Sprintf("fe80::5eff:fe%02x:%x%%%s", k, h.index, n.name)
			i.IPv4, i.IPv6 = &v4, &v6
		}
		r.Inventory.Interfaces = append(r.Inventory.Interfaces, i)
		r.PCIDevices = append(r.PCIDevices, reportPCI{
			VendorID: strings.TrimPrefix(n.vendor, "0x"), ProductID: strings.TrimPrefix(n.product, "0x"), Class: "020000", Revision: "01", Bus: n.pci, NUMANodeID: &numa,
		})
		r.LLDPRaw[n.name] = n.lldp
		if n.lldp == nil {
			r.LLDPRaw[n.name] = [][2]any{}
		}
	}
}

func (d disk) report() reportDisk {
	return reportDisk{
		Name: d.name, Model: d.model, Size: d.bytes, Rotational: d.rotational, WWN: d.wwn, Serial: d.serial, WWNWithExtension: d.wwn,
		ByPath: d.path, LogicalSectors: 512, PhysicalSectors: 512, Tran: d.tran,
	}
}

// logs is the base64 of a small tar.gz, as the agent's logs collector makes it; the same for the same server.
func (h hardware) logs() string {
	files := []struct{ name, content string }{
		{"journal", fmt.Sprintf("kernel: Command line: simulated ramdisk of %s\nironic-python-agent[612]: Inspection is in progress\n", h.serial)},
		{"lsblk", fmt.Sprintf("%d disks, root device %s\n", len(h.disks), h.disks[0].name)},
	}
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	t := tar.NewWriter(z)
	for _, f := range files {
		// Writes into memory do not fail; Close below would say so too.
		_ = t.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content)), ModTime: time.Unix(1777593600, 0)})
		_, _ = t.Write([]byte(f.content))
	}
	_ = t.Close()
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}
