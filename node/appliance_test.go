package node_test

import (
	"slices"
	"testing"
	"time"

	"cagenut/node"
)

func TestDefectsOfTheAppliance(t *testing.T) {
	now := time.Date(2026, 11, 30, 14, 2, 11, 0, time.UTC)
	const gib = 1 << 30
	for name, tc := range map[string]struct {
		a    node.Appliance
		want []string // graver ones with "!"
	}{
		"none": {node.Appliance{At: now, Database: node.DatabaseLoad{DiskFree: gib, DiskSize: 20 * gib}, BMCs: node.BMCLoad{Answering: 400, Silent: 12},
			Jobs: node.JobLoad{Late: node.JobPower, LateFrom: now.Add(-time.Minute)}, Streams: node.StreamLoad{Open: 400, Limit: 512}, Inspector: node.InspectorContact{External: true, Answered: now}}, nil},
		"a small disk that is nearly empty":     {node.Appliance{Database: node.DatabaseLoad{DiskFree: 400 << 20, DiskSize: gib}}, nil},
		"a disk that is nearly full":            {node.Appliance{Database: node.DatabaseLoad{DiskFree: 400 << 20, DiskSize: 20 * gib}}, []string{"disk"}},
		"a disk that is full":                   {node.Appliance{Database: node.DatabaseLoad{DiskFree: 1 << 20, DiskSize: 20 * gib}}, []string{"disk!"}},
		"a disk of which nobody knows anything": {node.Appliance{}, nil},
		"a database that takes nothing":         {node.Appliance{Database: node.DatabaseLoad{Unwritten: "read-only"}}, []string{"database!"}},
		"an inspector that does not answer":     {node.Appliance{Inspector: node.InspectorContact{External: true, Failed: now, Error: "refused"}}, []string{"inspector!"}},
		"two nodes, both silent":                {node.Appliance{BMCs: node.BMCLoad{Silent: 2}}, nil},
		"most BMCs are silent":                  {node.Appliance{BMCs: node.BMCLoad{Silent: 30, Answering: 2}}, []string{"bmcs!"}},
		"a job that does not begin":             {node.Appliance{At: now, Jobs: node.JobLoad{Late: node.JobPower, LateFrom: now.Add(-time.Hour)}}, []string{"jobs!"}},
		"no ramdisk URL, and so no boot files":  {node.Appliance{NoRamdiskURL: true, MissingBoot: []string{"ipa.kernel"}}, []string{"ramdisk"}},
		"two boot files are missing":            {node.Appliance{MissingBoot: []string{"ipa.kernel", "ipa.initramfs"}}, []string{"bootfile", "bootfile"}},
		"as many streams as allowed":            {node.Appliance{Streams: node.StreamLoad{Open: 512, Limit: 512}}, []string{"streams"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, defect := range tc.a.Defects() {
				word := defect.Kind
				if defect.Grave {
					word += "!"
				}
				got = append(got, word)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
