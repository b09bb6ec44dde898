package inventory_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

func TestAMachineIsItsReportInShort(t *testing.T) {
	r, err := inventory.Parse(shared(t, "08-infiniband-ipv6-bmc-prefix.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := r.Machine()
	if diff := cmp.Diff([]string{"192.0.2.200", "2001:db8:1234:1234:1234:1234:1234:1234"}, m.BMCAddresses); diff != "" {
		t.Error(diff)
	}
	// What is no Ethernet (G14) is listed, and is no MAC to know the machine by.
	if len(m.NICs) != len(r.Interfaces) || len(m.MACs) != 4 || len(m.Disks) != 2 || m.MemoryMB != 12288 || m.CPUs != 4 {
		t.Errorf("%+v", m)
	}
}

// G26, G52: bounded, in one line, and without what a vendor left as it found it.
func TestWhatAMachineSaysIsBoundedAndPlain(t *testing.T) {
	long := strings.Repeat("x", 5000)
	disks := make([]string, 200)
	for i := range disks {
		disks[i] = fmt.Sprintf(`{"name":"/dev/sd%d","size":1,"model":%q,"serial":5}`, i, long)
	}
	body := `{"inventory":{"interfaces":[{"name":"a\u0000b\n\u001b[31mc","mac_address":"02:00:5e:00:00:01"}],"disks":[` + strings.Join(disks, ",") +
		`],"system_vendor":{"manufacturer":"A\u202emca  B","product_name":"` + long + `","serial_number":"Not Specified"}}}`
	r, err := inventory.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	m := r.Machine()
	want := node.MachineNIC{Name: "a b [31mc", MAC: "02:00:5e:00:00:01"}
	if m.Serial != "" || m.Manufacturer != "A mca B" || utf8.RuneCountInString(m.Product) > 81 || m.NICs[0] != want {
		t.Errorf("manufacturer %q, serial %q, %d characters, NIC %+v", m.Manufacturer, m.Serial, utf8.RuneCountInString(m.Product), m.NICs[0])
	}
	if len(m.Disks) != 32 || utf8.RuneCountInString(m.Disks[0].Model) > 81 || m.Disks[0].Serial != "" {
		t.Errorf("%d disks, the first %+v", len(m.Disks), m.Disks[0])
	}
}
