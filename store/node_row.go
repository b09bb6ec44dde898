package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"cagenut/node"
)

// nodeRow is a node as the database keeps it.
type nodeRow struct {
	ID                   int64 `gorm:"primaryKey"`
	UUID                 string
	Name                 string
	CreatedAt            int64 `gorm:"autoCreateTime:false"`
	UpdatedAt            int64 `gorm:"autoUpdateTime:false"`
	Version              int64
	Driver               string
	Interfaces           string
	ProvisionState       string
	ProvisionUpdatedAt   int64
	PowerState           string
	TargetPowerState     string
	PowerCheckedAt       int64
	BMCUnreachableSince  int64
	BMCError             string
	Health               string
	HealthAt             int64
	HealthSeen           string
	Moved                int64
	PowerAsked           string
	PowerAskedAt         int64
	LastError            string
	Reservation          string
	ReservationID        string
	AttemptID            string
	InspectionStartedAt  int64
	InspectionFinishedAt int64
	Maintenance          bool
	MaintenanceReason    string
	Fault                string
	Protected            bool
	ProtectedReason      string
	Retired              bool
	RetiredReason        string
	ConsoleEnabled       bool
	DisablePowerOff      bool
	AutomatedClean       *bool
	SecureBoot           *bool
	BootMode             string
	Properties           string
	DriverInfo           string
	DriverInternalInfo   string
	InstanceInfo         string
	Extra                string
	Documents            string // the documents that nothing ever looks into: network_data, the steps, the RAID configurations
	Traits               string
	InstanceUUID         string
	InstanceName         string
	ChassisUUID          string
	ResourceClass        string
	ConductorGroup       string
	Description          string
	Owner                string
	Lessee               string
	Shard                string
	ParentNode           string
	Conductor            string
	Rack                 string
	RackUnit             int
	RackUnits            int
	BMCAddress           string
	Serial               string
}

func (nodeRow) TableName() string { return "nodes" }

type otherDocuments struct {
	NetworkData      map[string]any `json:"network_data,omitempty"`
	CleanStep        map[string]any `json:"clean_step,omitempty"`
	DeployStep       map[string]any `json:"deploy_step,omitempty"`
	ServiceStep      map[string]any `json:"service_step,omitempty"`
	RAIDConfig       map[string]any `json:"raid_config,omitempty"`
	TargetRAIDConfig map[string]any `json:"target_raid_config,omitempty"`
}

func (s *Store) nodeRow(n node.Node) (nodeRow, error) {
	var errs []error
	text := func(b string, err error) string {
		errs = append(errs, err)
		return b
	}
	asJSON := func(v any) string {
		b, err := json.Marshal(v)
		return text(string(b), err)
	}
	sealed := func(column string, doc map[string]any) string {
		doc, err := s.seal.closeDocument(n.UUID+"/"+column, doc)
		errs = append(errs, err)
		return text(document(doc))
	}
	at := n.Location()
	r := nodeRow{
		ID: n.ID, UUID: n.UUID, Name: n.Name, CreatedAt: micros(n.CreatedAt), UpdatedAt: micros(n.UpdatedAt), Version: n.Version,
		Driver: n.Driver, Interfaces: asJSON(n.Interfaces),
		ProvisionState: string(n.ProvisionState), ProvisionUpdatedAt: micros(n.ProvisionUpdatedAt),
		PowerState: string(n.PowerState), TargetPowerState: string(n.TargetPowerState), PowerCheckedAt: micros(n.PowerCheckedAt),
		BMCUnreachableSince: micros(n.BMCUnreachableSince), BMCError: n.BMCError,
		Health: string(n.Health), HealthAt: micros(n.HealthAt), HealthSeen: string(n.HealthSeen),
		Moved: n.Moved, PowerAsked: string(n.PowerAsked), PowerAskedAt: micros(n.PowerAskedAt),
		LastError: n.LastError, Reservation: n.Reservation, ReservationID: n.ReservationID,
		AttemptID: n.AttemptID, InspectionStartedAt: micros(n.InspectionStartedAt), InspectionFinishedAt: micros(n.InspectionFinishedAt),
		Maintenance: n.Maintenance, MaintenanceReason: n.MaintenanceReason, Fault: n.Fault,
		Protected: n.Protected, ProtectedReason: n.ProtectedReason, Retired: n.Retired, RetiredReason: n.RetiredReason,
		ConsoleEnabled: n.ConsoleEnabled, DisablePowerOff: n.DisablePowerOff, AutomatedClean: n.AutomatedClean, SecureBoot: n.SecureBoot, BootMode: n.BootMode,
		Properties: text(document(n.Properties)), DriverInfo: sealed("driver_info", n.DriverInfo),
		DriverInternalInfo: sealed("driver_internal_info", n.DriverInternalInfo), InstanceInfo: sealed("instance_info", n.InstanceInfo),
		Extra:        text(document(n.Extra)),
		Documents:    asJSON(otherDocuments{n.NetworkData, n.CleanStep, n.DeployStep, n.ServiceStep, n.RAIDConfig, n.TargetRAIDConfig}),
		Traits:       asJSON(append([]string{}, n.Traits...)),
		InstanceUUID: n.InstanceUUID, InstanceName: n.InstanceName, ChassisUUID: n.ChassisUUID, ResourceClass: n.ResourceClass,
		ConductorGroup: n.ConductorGroup, Description: n.Description, Owner: n.Owner, Lessee: n.Lessee, Shard: n.Shard,
		ParentNode: n.ParentNode, Conductor: n.Conductor,
		Rack: at.Rack, RackUnit: at.Unit, RackUnits: at.Units, BMCAddress: bmcAddress(n.DriverInfo),
	}
	if err := errors.Join(errs...); err != nil {
		return nodeRow{}, fmt.Errorf("node %s: %w", n.UUID, err)
	}
	return r, nil
}

func (s *Store) node(r nodeRow) (node.Node, error) {
	var errs []error
	doc := func(text string) map[string]any {
		d, err := decodeDocument(text)
		errs = append(errs, err)
		return d
	}
	opened := func(column, text string) map[string]any {
		d, err := s.seal.openDocument(r.UUID+"/"+column, doc(text))
		errs = append(errs, err)
		return d
	}
	other := func(d any) map[string]any {
		m, _ := d.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		return m
	}
	others := doc(r.Documents)
	n := node.Node{
		ID: r.ID, UUID: r.UUID, Name: r.Name, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt), Version: r.Version,
		Driver:         r.Driver,
		ProvisionState: node.State(r.ProvisionState), ProvisionUpdatedAt: fromMicros(r.ProvisionUpdatedAt),
		PowerState: node.PowerState(r.PowerState), TargetPowerState: node.PowerState(r.TargetPowerState), PowerCheckedAt: fromMicros(r.PowerCheckedAt),
		BMCUnreachableSince: fromMicros(r.BMCUnreachableSince), BMCError: r.BMCError,
		Health: node.Health(r.Health), HealthAt: fromMicros(r.HealthAt), HealthSeen: node.Health(r.HealthSeen),
		Moved: r.Moved, PowerAsked: node.PowerAction(r.PowerAsked), PowerAskedAt: fromMicros(r.PowerAskedAt),
		LastError: r.LastError, Reservation: r.Reservation, ReservationID: r.ReservationID,
		AttemptID: r.AttemptID, InspectionStartedAt: fromMicros(r.InspectionStartedAt), InspectionFinishedAt: fromMicros(r.InspectionFinishedAt),
		Maintenance: r.Maintenance, MaintenanceReason: r.MaintenanceReason, Fault: r.Fault,
		Protected: r.Protected, ProtectedReason: r.ProtectedReason, Retired: r.Retired, RetiredReason: r.RetiredReason,
		ConsoleEnabled: r.ConsoleEnabled, DisablePowerOff: r.DisablePowerOff, AutomatedClean: r.AutomatedClean, SecureBoot: r.SecureBoot, BootMode: r.BootMode,
		Properties: doc(r.Properties), DriverInfo: opened("driver_info", r.DriverInfo),
		DriverInternalInfo: opened("driver_internal_info", r.DriverInternalInfo), InstanceInfo: opened("instance_info", r.InstanceInfo),
		Extra:       doc(r.Extra),
		NetworkData: other(others["network_data"]), CleanStep: other(others["clean_step"]), DeployStep: other(others["deploy_step"]),
		ServiceStep: other(others["service_step"]), RAIDConfig: other(others["raid_config"]), TargetRAIDConfig: other(others["target_raid_config"]),
		InstanceUUID: r.InstanceUUID, InstanceName: r.InstanceName, ChassisUUID: r.ChassisUUID, ResourceClass: r.ResourceClass,
		ConductorGroup: r.ConductorGroup, Description: r.Description, Owner: r.Owner, Lessee: r.Lessee, Shard: r.Shard,
		ParentNode: r.ParentNode, Conductor: r.Conductor,
	}
	errs = append(errs, json.Unmarshal([]byte(r.Interfaces), &n.Interfaces), json.Unmarshal([]byte(r.Traits), &n.Traits))
	if err := errors.Join(errs...); err != nil {
		return node.Node{}, fmt.Errorf("node %s: %w", r.UUID, err)
	}
	return n, nil
}

// bmcAddress is the host by which people know a node's BMC, an address in its usual spelling.
func bmcAddress(info map[string]any) string {
	for _, key := range []string{"redfish_address", "ipmi_address"} {
		s, _ := info[key].(string)
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if !strings.Contains(s, "://") {
			s = "//" + s
		}
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			if host, _, err := net.SplitHostPort(u.Host); err == nil {
				return usualSpelling(host)
			}
			return usualSpelling(strings.Trim(u.Host, "[]"))
		}
	}
	return ""
}

func usualSpelling(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return strings.ToLower(host)
}
