package hooks

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cagenut/inspect/inventory"
)

// PCIAlias gives devices a name that schedulers can ask for. Several devices may have the same.
type PCIAlias struct {
	Name                string
	VendorID, ProductID string // four hexadecimal digits, lower case
}

var aliasShape = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// ParsePCIAlias reads one of the form name=vendor:product, such as gpu=10de:1eb8.
func ParsePCIAlias(s string) (PCIAlias, error) {
	name, ids, _ := strings.Cut(s, "=")
	vendor, product, _ := strings.Cut(ids, ":")
	a := PCIAlias{Name: strings.TrimSpace(name), VendorID: inventory.PCIID(vendor), ProductID: inventory.PCIID(product)}
	if !aliasShape.MatchString(a.Name) || a.VendorID == "" || a.ProductID == "" {
		return PCIAlias{}, fmt.Errorf("%q is not of the form name=vendor:product, such as gpu=10de:1eb8", s)
	}
	return a, nil
}

// pciDevices counts the devices that have an alias and writes the capability alias:count. The capability of an alias that
// no device has any more is taken away.
type pciDevices struct {
	noPreprocess
	noNeeds
	aliases []PCIAlias
}

func (pciDevices) Name() string { return "pci-devices" }

func (h pciDevices) Main(w *work) error {
	if len(h.aliases) == 0 {
		return nil
	}
	devices, known := w.pciDevices()
	if !known {
		return nil
	}
	counts := map[string]int{}
	for _, d := range devices {
		for _, a := range h.aliases {
			if a.VendorID == d.VendorID && a.ProductID == d.ProductID {
				counts[a.Name]++
			}
		}
	}
	var all []capability
	for _, a := range h.aliases {
		value := ""
		if n := counts[a.Name]; n > 0 {
			value = strconv.Itoa(n)
		}
		all = append(all, capability{a.Name, value})
	}
	w.setCapabilities(h.Name(), all)
	return nil
}
