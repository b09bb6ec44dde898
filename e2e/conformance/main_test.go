package conformance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"cagenut/e2e/process"
)

// binary is our own program; "" where the suite is pointed elsewhere.
var binary string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	if setting("URL", "") != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "cagenut-conformance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binary, err = process.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func setting(name, otherwise string) string {
	if v := os.Getenv("CAGENUT_CONFORMANCE_" + name); v != "" {
		return v
	}
	return otherwise
}

// The whole suite, against what the settings say, else against our own binary, once without and once with BMCs.
func TestConformance(t *testing.T) {
	drivers := []string{setting("DRIVER", "fake-hardware")}
	service := pointedAt(t)
	if service == nil {
		service = ownService(t)
		drivers = []string{"fake-hardware", "redfish"}
	}
	service.discover(t)
	t.Logf("result: conformance: the eight contract tests run against %s, newest version 1.%d, with %s", service, service.minor, strings.Join(drivers, " and "))
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, service, driver)
			s.prepare(t, 7)
			for _, test := range []struct {
				name string
				run  func(*testing.T, *site)
			}{
				{"1 abort in inspect wait", abortInInspectWait},
				{"2 versions, states and unknown things", versionsAndStates},
				{"3 an interface without abort", interfaceWithoutAbort},
				{"4 locks and crowds", locksAndCrowds},
				{"5 reports that come too late", lateReports},
				{"7 views of older versions", viewsOfOlderVersions},
				{"8 the sequence of Metal3's operator", metal3Sequence},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, s) })
			}
		})
	}
}
