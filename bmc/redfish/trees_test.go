package redfish_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cagenut/bmc"
	"cagenut/node"
)

// serveTree starts the recorded BMC and a client of it.
func serveTree(t *testing.T, m tree, expands bool) (*recorded, bmc.Abilities) {
	t.Helper()
	root := filepath.Join(sharedFolder(t), m.folder)
	if _, err := os.Stat(filepath.Join(root, "redfish", "v1")); err == nil {
		root = filepath.Join(root, "redfish", "v1")
	}
	r := &recorded{t: t, root: root, system: m.system, changes: map[string]any{}, drives: map[string]map[string]any{}, expands: expands}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": server.URL}}
	return r, abilities(t, open(t, newDriver(t, patient()), n))
}

func abilities(t *testing.T, c bmc.Client) bmc.Abilities {
	t.Helper()
	a, ok := c.(bmc.Abilities)
	if !ok {
		t.Fatalf("%T has no abilities beyond power and boot", c)
	}
	return a
}

// eachTree runs a test on every recorded BMC, with and without members in their collections, and counts.
func eachTree(t *testing.T, test func(t *testing.T, m tree, r *recorded, c bmc.Abilities)) {
	t.Helper()
	sharedFolder(t) // or the whole test is left out, and says so
	tested := 0
	for _, m := range trees() {
		for _, expands := range []bool{false, true} {
			name := m.folder
			if expands {
				name += " with members expanded"
			}
			t.Run(name, func(t *testing.T) {
				r, c := serveTree(t, m, expands)
				test(t, m, r, c)
			})
		}
		tested++
	}
	t.Logf("result: vendor trees: %d tested (%s)", tested, t.Name())
}

func TestTheHardwareOfRealMachinesIsFound(t *testing.T) { // quirks 44 to 51, 53, 54
	eachTree(t, func(t *testing.T, m tree, r *recorded, c bmc.Abilities) {
		h, err := c.Hardware(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if h.System.Model != m.model || h.System.Serial != m.serial || h.System.UUID == "" || h.System.Manufacturer == "" || h.System.BIOSVersion == "" {
			t.Errorf("system %+v", h.System)
		}
		one(t, "processor", h.Processors, m.cpu, m.cpus)
		if h.MemoryMiB != m.memoryMiB || len(h.Memory) != m.modules {
			t.Errorf("memory %d MiB in %d modules, want %d in %d", h.MemoryMiB, len(h.Memory), m.memoryMiB, m.modules)
		}
		one(t, "NIC", h.NICs, m.nic, m.nics)
		one(t, "drive", h.Drives, m.drive, m.drives)
		if len(h.Storage) != m.controllers || len(h.PCIe) != m.cards {
			t.Errorf("%d controllers, %d cards; want %d, %d: %+v", len(h.Storage), len(h.PCIe), m.controllers, m.cards, h.Storage)
		}
		if h.BootMode != m.mode || !reflect.DeepEqual(h.SecureBoot, m.secure) {
			t.Errorf("boot mode %q, secure boot %v", h.BootMode, h.SecureBoot)
		}
		most := m.mostRequests
		if r.expands {
			most = m.mostExpanded
		}
		if len(r.reads) > most {
			t.Errorf("%d requests, want at most %d", len(r.reads), most)
		}
	})
}

// one finds an item among what was found, and counts.
func one[T any](t *testing.T, what string, found []T, want T, count int) {
	t.Helper()
	if len(found) != count {
		t.Errorf("%d × %s, want %d", len(found), what, count)
	}
	for _, f := range found {
		if reflect.DeepEqual(f, want) {
			return
		}
	}
	t.Errorf("no %s like\n%+v among\n%+v", what, want, found)
}

func TestTheFirmwareOfRealMachinesIsListed(t *testing.T) {
	eachTree(t, func(t *testing.T, m tree, _ *recorded, c bmc.Abilities) {
		id, err := c.Identity(t.Context())
		if said := id.Manufacturer + " " + id.Model + " " + id.Firmware; err != nil || said != m.manager || !strings.HasPrefix(id.Protocol, "Redfish 1.") || id.Time.IsZero() || id.UUID == "" {
			t.Errorf("BMC %+v, %v; want %s", id, err, m.manager)
		}
		list, err := c.Firmware(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		one(t, "firmware", list, m.firmware, m.firmwares)
		attributes, err := c.BIOS(t.Context())
		if err != nil || attributes[m.bios] != m.biosValue {
			t.Errorf("BIOS: %v, %s is %v (%T)", err, m.bios, attributes[m.bios], attributes[m.bios])
		}
	})
}

func TestTheSensorsAndTheHealthOfRealMachinesAreRead(t *testing.T) {
	eachTree(t, func(t *testing.T, m tree, r *recorded, c bmc.Abilities) {
		list, err := c.Sensors(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found := map[node.SensorKind]int{}
		for _, s := range list {
			found[s.Kind]++
		}
		for kind, n := range m.sensors {
			if found[kind] < n || (found[kind] > n && !r.expands) { // some have more of them for those who take hundreds at once
				t.Errorf("%d sensors of %s, want %d", found[kind], kind, n)
			}
		}
		one(t, "sensor", list, m.sensor, len(list))
		if h, err := c.Health(t.Context()); err != nil || !reflect.DeepEqual(h, m.health) {
			t.Errorf("health %+v, %v; want %+v", h, err, m.health)
		}
	})
}

func TestTheLogOfRealMachinesIsReadNewestFirst(t *testing.T) {
	eachTree(t, func(t *testing.T, m tree, _ *recorded, c bmc.Abilities) {
		all, err := c.Events(t.Context(), 0)
		if err != nil || len(all) != m.events || !reflect.DeepEqual(all[0], m.newest) {
			t.Fatalf("%d entries, %v, the newest %+v; want %d, %+v", len(all), err, all[:min(1, len(all))], m.events, m.newest)
		}
		if !slices.IsSortedFunc(all, func(a, b node.LogEntry) int { return b.At.Compare(a.At) }) {
			t.Error("not the newest first")
		}
		if few, err := c.Events(t.Context(), 2); err != nil || !reflect.DeepEqual(few, all[:2]) {
			t.Errorf("two entries: %+v, %v", few, err)
		}
	})
}

func TestTheVirtualDrivesAndTheLightOfRealMachinesAreFound(t *testing.T) { // quirks 23, 28 to 30
	eachTree(t, func(t *testing.T, m tree, r *recorded, c bmc.Abilities) {
		if list, err := c.Drives(t.Context()); err != nil || !reflect.DeepEqual(list, m.media) {
			t.Errorf("drives %+v, %v", list, err)
		}
		if l, err := c.Indicator(t.Context()); err != nil || l != m.light {
			t.Errorf("light %q, %v; want %q", l, err, m.light)
		}
		err := c.InjectNMI(t.Context())
		switch {
		case m.nmi && (err != nil || !slices.Equal(r.resets, []string{"Nmi"})):
			t.Errorf("NMI: %v, sent %v", err, r.resets)
		case !m.nmi && (!errors.As(err, new(*node.Unsupported)) || len(r.resets) > 0):
			t.Errorf("NMI: %v, sent %v; want *node.Unsupported", err, r.resets)
		}
	})
}

func TestWhatIsWrittenToRealMachinesGoesToTheRightPlace(t *testing.T) { // quirks 23, 29, G35
	eachTree(t, func(t *testing.T, m tree, r *recorded, c bmc.Abilities) {
		if err := putIn(t.Context(), c, node.Medium{Kind: node.MediumCD, URL: "http://192.0.2.9/boot.iso"}); err != nil {
			t.Errorf("inserting: %v", err)
		}
		drives, err := c.Drives(t.Context())
		if i := slices.IndexFunc(drives, func(d node.VirtualDrive) bool { return d.Inserted && d.URL == "http://192.0.2.9/boot.iso" }); err != nil || i < 0 {
			t.Errorf("drives %+v, %v", drives, err)
		}
		if err := c.Eject(t.Context(), node.MediumCD); err != nil {
			t.Errorf("ejecting: %v", err)
		}
		if err := c.ClearLog(t.Context()); err != nil {
			t.Errorf("clearing the log: %v", err)
		}
		if err := c.SetIndicator(t.Context(), node.IndicatorOn); err != nil {
			t.Errorf("the light: %v", err)
		}
		if !slices.Equal(r.wrote, m.writes) {
			t.Errorf("written\n%q, want\n%q", r.wrote, m.writes)
		}
	})
}

func TestOddFieldsInRealAnswersLoseLittle(t *testing.T) { // quirk 50; the handbook's G3
	odd := []any{nil, 5, -1.5, "N/A", "", true, []any{}, map[string]any{}, []any{nil, 7, "x", []any{}}, map[string]any{"@odata.id": 3}, map[string]any{"@odata.id": "nowhere"}}
	eachTree(t, func(t *testing.T, m tree, r *recorded, c bmc.Abilities) {
		for seed := range uint64(2) {
			dice := rand.New(rand.NewPCG(seed, 1))
			var spoil func(any) any
			spoil = func(v any) any {
				switch v := v.(type) {
				case map[string]any:
					for _, key := range slices.Sorted(maps.Keys(v)) {
						if dice.IntN(40) == 0 && key != "Members" {
							v[key] = odd[dice.IntN(len(odd))]
							continue
						}
						v[key] = spoil(v[key])
					}
				case []any:
					for i := range v {
						v[i] = spoil(v[i])
					}
				}
				return v
			}
			r.spoil = spoil
			h, err := c.Hardware(t.Context())
			if err != nil || h.System.Model != m.model || len(h.Memory) < m.modules/2 || len(h.NICs) < m.nics/2 {
				t.Errorf("seed %d: %d modules, %d NICs, %v; want at least half", seed, len(h.Memory), len(h.NICs), err)
			}
			for what, call := range map[string]func() error{
				"sensors": func() error { _, err := c.Sensors(t.Context()); return err },
				"health":  func() error { _, err := c.Health(t.Context()); return err },
				"events":  func() error { _, err := c.Events(t.Context(), 0); return err },
				"drives":  func() error { _, err := c.Drives(t.Context()); return err },
				"BMC":     func() error { _, err := c.Identity(t.Context()); return err },
			} {
				if err := call(); err != nil && !errors.As(err, new(*node.Unsupported)) {
					t.Errorf("seed %d, %s: %v", seed, what, err)
				}
			}
		}
	})
}
