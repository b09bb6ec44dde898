package sim

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"github.com/google/uuid"
)

// hardware is what a server is made of. The vendors are invented, the addresses locally administered.
type hardware struct {
	index   int
	uuid    string
	serial  string
	model   model
	sockets int
	memory  int // GiB
	nics    []nic
	disks   []disk
	bmcMAC  string
	bios    string
	pulse   float64 // 0 to 1: where in its spread this server's timing lies
}

type model struct {
	manufacturer, product, cpu, mhz string
	cores                           int // of one socket, two threads each
}

type nic struct {
	name, mac, pci, driver, vendor, product string
	mbps                                    int
	carrier                                 bool
	lldp                                    [][2]any // nil: the peer says nothing
}

type disk struct {
	name, model, serial, wwn, tran, path string
	bytes                                int64
	rotational                           bool
}

var models = []model{
	{"Example Corp", "EdgeBox 100", "Example Edge CPU 4310 @ 2.10GHz", "3300.0000", 12},
	{"Example Corp", "EdgeBox 220", "Example Edge CPU 6338 @ 2.00GHz", "3200.0000", 32},
	{"Sample Systems", "RackLine R1", "Sample Scale 7443 24-Core Processor", "2850.0000", 24},
	{"Sample Systems", "RackLine R2 Storage", "Sample Scale 7313 16-Core Processor", "3000.0000", 16},
}

// newHardware makes the i-th server of a seed; the same both make the same server.
func newHardware(seed uint64, i int) hardware {
	rnd := rand.New(rand.NewPCG(seed, uint64(i)+1))
	h := hardware{
		index: i, model: models[rnd.IntN(len(models))], sockets: 1 + rnd.IntN(2),
		memory: []int{64, 128, 256, 512}[rnd.IntN(4)],
		serial: fmt.Sprintf("SIM%02d-%06X", i/serversPerRack+1, rnd.IntN(1<<24)),
		bmcMAC: fmt.Sprintf("02:00:5e:b0:%02x:%02x", i>>8, i&0xff),
		bios:   fmt.Sprintf("%d.%d.%d", 1+rnd.IntN(3), rnd.IntN(10), rnd.IntN(10)),
		pulse:  rnd.Float64(),
	}
	h.uuid = uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.serial)).String()
	h.addNICs(2 + 2*rnd.IntN(2))
	h.addDisks(rnd)
	return h
}

func (h *hardware) addNICs(n int) {
	for k := range n {
		c := nic{
			name: fmt.Sprintf("eno%d", k+1), mac: fmt.Sprintf("02:00:5e:%02x:%02x:%02x", k, h.index>>8, h.index&0xff),
			pci: fmt.Sprintf("0000:3b:00.%d", k), driver: "ixgbe", vendor: "0x8086", product: "0x1563", mbps: 10000, carrier: k < 2,
		}
		if c.carrier {
			c.lldp = h.neighbour(k)
		}
		h.nics = append(h.nics, c)
	}
}

// neighbour is what the switch at the other end of a cable says: LLDP's TLVs as type and hexadecimal value.
func (h *hardware) neighbour(port int) [][2]any {
	text := func(s string) string { return hex.EncodeToString([]byte(s)) }
	rack, unit := h.index/serversPerRack+1, h.index%serversPerRack+1
	fabric := string(rune('a' + port))
	return [][2]any{
		{1, fmt.Sprintf("0402005ee0%02x%02x", rack, port)},
		{2, "05" + text(fmt.Sprintf("Ethernet1/%d", unit))},
		{3, "0078"},
		{4, text(fmt.Sprintf("r%d-u%02d eno%d", rack, unit, port+1))},
		{5, text(fmt.Sprintf("sw-r%d-%s", rack, fabric))},
		{6, text("Example Switch OS 4.2")},
		{7, "00140014"},
		{127, "0080c201" + fmt.Sprintf("%04x", 100+rack)},
		{0, ""},
	}
}

func (h *hardware) addDisks(rnd *rand.Rand) {
	nvme := 1 + rnd.IntN(2)
	for k := range nvme {
		serial := fmt.Sprintf("SIMNV%08X", rnd.Uint32())
		h.disks = append(h.disks, disk{
			name: fmt.Sprintf("/dev/nvme%dn1", k), model: "EXAMPLE NVME 960", serial: serial, tran: "nvme", bytes: 960197124096,
			wwn: fmt.Sprintf("eui.%016x", 0x0025380000000000|uint64(rnd.Uint32())), path: fmt.Sprintf("/dev/disk/by-path/pci-0000:%02x:00.0-nvme-1", 0x5e+k),
		})
	}
	sata := rnd.IntN(5)
	for k := range sata {
		h.disks = append(h.disks, disk{
			name: "/dev/sd" + string(rune('a'+k)), model: "EXAMPLE HDD 4T", serial: fmt.Sprintf("SIMHD%08X", rnd.Uint32()), tran: "sata",
			bytes: 4000787030016, rotational: true, wwn: fmt.Sprintf("0x5000c5%010x", rnd.Uint32()),
			path: fmt.Sprintf("/dev/disk/by-path/pci-0000:00:17.0-ata-%d", k+1),
		})
	}
}

// threads are the logical CPUs.
func (h hardware) threads() int { return h.sockets * h.model.cores * 2 }

// modules is how many memory modules of the same size make up the memory.
func (h hardware) modules() int {
	if h.memory <= 64 {
		return 4
	}
	return 8
}

// asset is what somebody put on the server as a label.
func (h hardware) asset() string { return fmt.Sprintf("A-%05d", h.index+1) }
