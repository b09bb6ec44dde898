package sim

import (
	"fmt"
	"strings"
)

// distort changes a document as those faults have it that are oddities of what a BMC shows.
func (s *Server) distort(path string, doc map[string]any, expanded bool) {
	switch path {
	case rootPath:
		if s.has(FaultMissingLinks) {
			delete(doc, "Managers")
		}
	case systemPath:
		s.distortSystem(doc)
	case chassisPath:
		if s.has(FaultMissingLinks) {
			delete(doc, "Links")
		}
	}
	if s.has(FaultWrongTypes) {
		wrongTypes(doc)
	}
	if s.has(FaultTextNumbers) {
		textNumbers(doc)
	}
	if _, list := doc["Members"]; expanded && !list && s.has(FaultExpandNulls) {
		for key, value := range doc {
			if _, isText := value.(string); isText && !strings.HasPrefix(key, "@odata") && key != "Id" {
				doc[key] = nil
			}
		}
	}
}

func (s *Server) distortSystem(doc map[string]any) {
	if s.has(FaultMissingLinks) {
		delete(doc, "LogServices")
		doc["Links"] = map[string]any{}
	}
	if s.has(FaultPowerUnknown) {
		doc["PowerState"] = nil
	}
	if s.has(FaultNoResetList) {
		doc["Actions"] = map[string]any{"#ComputerSystem.Reset": map[string]any{"target": resetPath}}
	}
	if s.has(FaultUnknownSummaries) {
		doc["MemorySummary"] = map[string]any{"TotalSystemMemoryGiB": nil}
		doc["ProcessorSummary"] = map[string]any{"Count": nil, "Model": nil}
	}
	if s.has(FaultSummariesCountGPU) {
		summary := doc["ProcessorSummary"].(map[string]any)
		summary["Count"], summary["Model"] = s.hardware.sockets+1, "Example Accelerator"
	}
	if s.has(FaultSmartStorage) {
		doc["Oem"] = map[string]any{"Hpe": map[string]any{"Links": map[string]any{"SmartStorage": ref(smartStoragePath)}}}
	}
	if s.has(FaultBootPending) {
		doc["Boot"].(map[string]any)["BootSourceOverrideMode"] = nil
	}
}

// wrongTypes gives some fields types that the standard does not allow.
func wrongTypes(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			wrongTypes(e)
		}
	case map[string]any:
		for key, value := range v {
			switch key {
			case "TotalSystemMemoryGiB":
				v[key] = fmt.Sprintf("%v GiB", value)
			case "SensorNumber", "MaxSpeedMHz", "CapacityMiB", "CapacityBytes", "LowerBound":
				v[key] = fmt.Sprint(value)
			case "SpeedMbps":
				v[key] = fmt.Sprintf("%v Mbps", value)
			case "Updateable", "FailurePredicted":
				v[key] = fmt.Sprint(value)
			case "SKU":
				v[key] = 4711
			default:
				wrongTypes(value)
			}
		}
	}
}

// textNumbers makes texts of all numbers, and "N/A" of what is not known.
func textNumbers(doc map[string]any) {
	for key, value := range doc {
		if !strings.Contains(key, "@odata") {
			doc[key] = textNumber(value)
		}
	}
}

func textNumber(v any) any {
	switch v := v.(type) {
	case int, int64, uint8, float64:
		return fmt.Sprint(v)
	case []any:
		for i, e := range v {
			v[i] = textNumber(e)
		}
	case map[string]any:
		for key, value := range v {
			if value == nil && (strings.HasPrefix(key, "Reading") || strings.Contains(key, "Threshold")) {
				v[key] = "N/A"
				continue
			}
			v[key] = textNumber(value)
		}
	}
	return v
}
