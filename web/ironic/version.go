package ironic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
)

const (
	headerVersion = "X-OpenStack-Ironic-API-Version"
	headerMin     = "X-OpenStack-Ironic-API-Minimum-Version"
	headerMax     = "X-OpenStack-Ironic-API-Maximum-Version"
	headerGeneric = "OpenStack-API-Version"
)

// newest is the highest microversion that this package knows, 1.96 (design.md §7).
const newest = 96

type local int

const localMinor local = iota

// minor is the caller's microversion 1.N.
func minor(c *fiber.Ctx) int {
	n, _ := c.Locals(localMinor).(int)
	return n
}

// negotiate reads the caller's version and sets the version headers (contract.md §1.3 and §1.4).
func (a *api) negotiate(c *fiber.Ctx) error {
	asked := strings.ToLower(strings.TrimSpace(askedVersion(c)))
	if asked == "" {
		asked = "1.1"
	}
	if asked == "latest" {
		asked = "1." + strconv.Itoa(a.MaxMinor)
	}
	left, right, ok := strings.Cut(asked, ".")
	major, err1 := strconv.ParseUint(left, 10, 31)
	n, err2 := strconv.ParseUint(right, 10, 31)
	if !ok || err1 != nil || err2 != nil {
		return &routed{status: fiber.StatusNotAcceptable, text: "Invalid value for " + headerVersion + " header"}
	}
	c.Set(headerMin, "1.1")
	c.Set(headerMax, "1."+strconv.Itoa(a.MaxMinor))
	served := fmt.Sprintf("The supported version range is: [1.1, 1.%d].", a.MaxMinor)
	if major != 1 {
		return &routed{status: fiber.StatusNotAcceptable, text: fmt.Sprintf("Mutually exclusive versions requested. Version %s requested but not supported by this service. %s", asked, served)}
	}
	if n < 1 || n > uint64(a.MaxMinor) {
		return &routed{status: fiber.StatusNotAcceptable, text: fmt.Sprintf("Version %s was requested but the minor version is not supported by this service. %s", asked, served)}
	}
	c.Set(headerVersion, fmt.Sprintf("1.%d", n))
	c.Locals(localMinor, int(n))
	return nil
}

// askedVersion is what the headers ask for; the generic one wins where it speaks of this service.
func askedVersion(c *fiber.Ctx) string {
	for _, part := range strings.Split(c.Get(headerGeneric), ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "baremetal "); ok {
			return v
		}
	}
	return c.Get(headerVersion)
}
