package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

// The waiting room: machines that report although no node is them.

// How much the waiting room holds unless [Options] say otherwise.
const (
	MaxDiscovered     = 1000
	MaxDiscoveredSize = 256 << 20
)

type discoveredRow struct {
	ID       int64 `gorm:"primaryKey"`
	UUID     string
	State    string
	FirstAt  int64
	LastAt   int64
	Times    int
	ReportAt int64
	Size     int64
	Address  string
	Serial   string
	Machine  string
}

func (discoveredRow) TableName() string { return "discovered" }

type discoveredMACRow struct {
	UUID string `gorm:"primaryKey"`
	MAC  string `gorm:"primaryKey"`
}

func (discoveredMACRow) TableName() string { return "discovered_macs" }

type discoveredReportRow struct {
	UUID   string `gorm:"primaryKey"`
	Report []byte
	Logs   []byte
}

func (discoveredReportRow) TableName() string { return "discovered_reports" }

func (r discoveredRow) discovered() (node.Discovered, error) {
	d := node.Discovered{
		UUID: r.UUID, State: node.DiscoveredState(r.State), FirstAt: fromMicros(r.FirstAt), LastAt: fromMicros(r.LastAt), Times: r.Times, Address: r.Address,
		ReportAt: fromMicros(r.ReportAt), Size: r.Size,
	}
	if err := json.Unmarshal([]byte(r.Machine), &d.Machine); err != nil {
		return node.Discovered{}, fmt.Errorf("read discovered machine %s: %w", r.UUID, err)
	}
	return d, nil
}

// Discover keeps the report of a machine that no node is, or only counts it for one that people have decided about. The
// answer is the machine as it is then. node.ErrLost says that a node has a port with one of the MACs by now,
// *node.Conflict that there is no room.
func (s *Store) Discover(ctx context.Context, d node.Discovery) (node.Discovered, error) {
	known, err := sameMachine(s.read.WithContext(ctx), d.Machine)
	if err != nil {
		return node.Discovered{}, err
	}
	var report discoveredReportRow
	var machine []byte
	if known == nil || known.State == string(node.DiscoveredNew) { // otherwise nothing of it is kept
		if report.Report, err = pack(d.Report); err == nil { // outside of the transaction: others want to write too
			machine, err = json.Marshal(d.Machine)
		}
		if err != nil {
			return node.Discovered{}, fmt.Errorf("keep the report of an unknown machine: %w", err)
		}
		report.Logs = d.Logs
	}
	var after discoveredRow
	err = s.inTurn(ctx, func(tx *transaction) error {
		after, err = tx.discover(d, report, string(machine))
		return err
	})
	if err != nil {
		return node.Discovered{}, err
	}
	return after.discovered()
}

func (tx *transaction) discover(d node.Discovery, report discoveredReportRow, machine string) (discoveredRow, error) {
	var ports int64
	if err := tx.Model(&portRow{}).Where("address IN ?", d.Machine.MACs).Count(&ports).Error; err != nil {
		return discoveredRow{}, fmt.Errorf("look for the ports of an unknown machine: %w", err)
	}
	if ports > 0 {
		return discoveredRow{}, node.ErrLost
	}
	known, err := sameMachine(tx.DB, d.Machine)
	if err != nil {
		return discoveredRow{}, err
	}
	r := discoveredRow{UUID: node.NewUUID(), State: string(node.DiscoveredNew), FirstAt: micros(d.At)}
	if known != nil {
		r = *known
	}
	r.Times, r.LastAt, r.Address = r.Times+1, micros(d.At), d.Address
	if report.Report != nil && r.State == string(node.DiscoveredNew) {
		r.ReportAt, r.Serial, r.Machine, r.Size = micros(d.At), d.Machine.Serial, machine, int64(len(report.Report)+len(report.Logs)+len(machine))
		if err := tx.makeRoom(r); err != nil {
			return discoveredRow{}, err
		}
	} else if known == nil {
		return discoveredRow{}, node.ErrLost // it was ignored or blocked a moment ago, and is forgotten now
	}
	if err := tx.Save(&r).Error; err != nil {
		return discoveredRow{}, fmt.Errorf("keep an unknown machine: %w", err)
	}
	tx.notice(node.Notice{NodeUUID: r.UUID})
	if r.ReportAt != micros(d.At) || report.Report == nil {
		return r, nil
	}
	return r, tx.keepDiscovered(r.UUID, d.Machine.MACs, report)
}

func (tx *transaction) keepDiscovered(uuid string, macs []string, report discoveredReportRow) error {
	if err := tx.Where("uuid = ?", uuid).Delete(&discoveredMACRow{}).Error; err != nil {
		return fmt.Errorf("keep the MACs of an unknown machine: %w", err)
	}
	rows := make([]discoveredMACRow, len(macs))
	for i, mac := range macs {
		rows[i] = discoveredMACRow{UUID: uuid, MAC: mac}
	}
	if err := tx.Create(&rows).Error; err != nil {
		return fmt.Errorf("keep the MACs of an unknown machine: %w", err)
	}
	report.UUID = uuid
	if err := tx.replace(&report); err != nil {
		return fmt.Errorf("keep the report of an unknown machine: %w", err)
	}
	return nil
}

// makeRoom lets machines that nobody has decided about give way to one that comes or grows.
func (tx *transaction) makeRoom(r discoveredRow) error {
	var others struct{ Machines, Size int64 }
	if err := tx.Model(&discoveredRow{}).Select("COUNT(*) AS machines, COALESCE(SUM(size), 0) AS size").Where("uuid <> ?", r.UUID).Find(&others).Error; err != nil {
		return fmt.Errorf("measure the waiting room: %w", err)
	}
	fits := func() bool {
		return others.Machines < tx.store.maxDiscovered && others.Size+r.Size <= tx.store.maxDiscoveredSize
	}
	if fits() {
		return nil
	}
	var oldest []discoveredRow
	err := tx.Select("id", "uuid", "size").Where("state = ? AND uuid <> ?", node.DiscoveredNew, r.UUID).Order("last_at, id").Find(&oldest).Error
	if err != nil {
		return fmt.Errorf("look for who gives way to an unknown machine: %w", err)
	}
	var gone []int64
	for _, o := range oldest {
		if fits() {
			break
		}
		others.Machines, others.Size, gone = others.Machines-1, others.Size-o.Size, append(gone, o.ID)
		tx.notice(node.Notice{NodeUUID: o.UUID})
	}
	if !fits() {
		return &node.Conflict{Text: "There is no room for another unknown machine, please retry later."}
	}
	if err := tx.Where("id IN ?", gone).Delete(&discoveredRow{}).Error; err != nil {
		return fmt.Errorf("make room for an unknown machine: %w", err)
	}
	return nil
}

// maxNamesakes is how many machines with one serial number are compared: strangers may claim any.
const maxNamesakes = 10

// sameMachine finds the machine among those that are known, by [node.Machine.Same]; nil for none. One that shares a MAC
// comes before one that shares the serial number.
func sameMachine(db *gorm.DB, m node.Machine) (*discoveredRow, error) {
	for _, by := range []*gorm.DB{
		db.Where("uuid IN (SELECT uuid FROM discovered_macs WHERE mac IN ?) AND (serial = '' OR ? = '' OR serial = ?)", m.MACs, m.Serial, m.Serial).Limit(1),
		db.Where("serial = ? AND serial <> ''", m.Serial).Limit(maxNamesakes),
	} {
		var rows []discoveredRow
		if err := by.Order("id").Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("look for an unknown machine: %w", err)
		}
		for _, r := range rows {
			d, err := r.discovered()
			if err != nil {
				return nil, err
			}
			if d.Machine.Same(m) {
				return &r, nil
			}
		}
	}
	return nil, nil
}

// DiscoveredMachines lists what is in the waiting room.
func (s *Store) DiscoveredMachines(ctx context.Context, f node.DiscoveredFilter) ([]node.Discovered, error) {
	q := s.read.WithContext(ctx).Order("id DESC")
	if f.States != nil {
		q = q.Where("state IN ?", f.States)
	}
	if f.Marker != "" {
		last, err := s.discoveredRow(s.read.WithContext(ctx), f.Marker)
		if err != nil {
			return nil, err
		}
		q = q.Where("id < ?", last.ID)
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	var rows []discoveredRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list discovered machines: %w", err)
	}
	out := make([]node.Discovered, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = r.discovered(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CountDiscovered counts the machines in the waiting room by state.
func (s *Store) CountDiscovered(ctx context.Context) (map[node.DiscoveredState]int, error) {
	var rows []struct {
		State string
		N     int
	}
	if err := s.read.WithContext(ctx).Model(&discoveredRow{}).Select("state, COUNT(*) AS n").Group("state").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("count discovered machines: %w", err)
	}
	out := map[node.DiscoveredState]int{}
	for _, r := range rows {
		out[node.DiscoveredState(r.State)] = r.N
	}
	return out, nil
}

// DiscoveredMachine is one of them; *node.NotFound without it.
func (s *Store) DiscoveredMachine(ctx context.Context, uuid string) (node.Discovered, error) {
	r, err := s.discoveredRow(s.read.WithContext(ctx), uuid)
	if err != nil {
		return node.Discovered{}, err
	}
	return r.discovered()
}

func (s *Store) discoveredRow(db *gorm.DB, uuid string) (discoveredRow, error) {
	var r discoveredRow
	err := db.Where("uuid = ?", uuid).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return r, noSuchMachine(uuid)
	}
	if err != nil {
		return r, fmt.Errorf("read discovered machine %s: %w", uuid, err)
	}
	return r, nil
}

func noSuchMachine(uuid string) error { return &node.NotFound{What: "Discovered machine", Ident: uuid} }

// DiscoveredReport is the report of a discovered machine that is kept; *node.NotFound without the machine.
func (s *Store) DiscoveredReport(ctx context.Context, uuid string) (node.DiscoveredReport, error) {
	var r discoveredReportRow
	err := s.read.WithContext(ctx).Where("uuid = ?", uuid).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.DiscoveredReport{}, noSuchMachine(uuid)
	}
	var body []byte
	if err == nil {
		body, err = unpack(r.Report)
	}
	if err != nil {
		return node.DiscoveredReport{}, fmt.Errorf("read the report of discovered machine %s: %w", uuid, err)
	}
	return node.DiscoveredReport{Report: body, Logs: r.Logs}, nil
}

// SetDiscoveredState keeps what somebody has decided about a machine; *node.NotFound without it.
func (s *Store) SetDiscoveredState(ctx context.Context, uuid string, state node.DiscoveredState, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		n, err := tx.cas(&discoveredRow{}, map[string]any{"state": string(state)}, "uuid = ?", uuid)
		if err != nil {
			return fmt.Errorf("decide about discovered machine %s: %w", uuid, err)
		}
		if n == 0 {
			return noSuchMachine(uuid)
		}
		tx.notice(node.Notice{NodeUUID: uuid})
		return tx.audit(a)
	})
}

// ForgetDiscovered removes a machine with all that is kept of it; *node.NotFound without it.
func (s *Store) ForgetDiscovered(ctx context.Context, uuid string, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		if err := tx.forgetDiscovered(uuid, noSuchMachine(uuid), "uuid = ?", uuid); err != nil {
			return err
		}
		return tx.audit(a)
	})
}

func (tx *transaction) forgetDiscovered(uuid string, none error, where string, args ...any) error {
	gone := tx.Where(where, args...).Delete(&discoveredRow{})
	if gone.Error != nil {
		return fmt.Errorf("forget discovered machine %s: %w", uuid, gone.Error)
	}
	if gone.RowsAffected == 0 {
		return none
	}
	tx.notice(node.Notice{NodeUUID: uuid})
	return nil
}

// AcceptDiscovered makes a node of a machine: *node.NotFound without it, node.ErrLost when it has reported again since or
// somebody has blocked it, *node.Exists when a name, MAC or the UUID is taken.
func (s *Store) AcceptDiscovered(ctx context.Context, a node.Acceptance) (node.Node, error) {
	n := a.Node
	n.CreatedAt = s.now().UTC()
	n.ProvisionUpdatedAt, n.AttemptID = n.CreatedAt, a.Attempt.ID
	r, err := s.nodeRow(n)
	if err != nil {
		return node.Node{}, err
	}
	r.Serial = serial(a.Inventory.Inventory)
	kept, err := packed(node.Move{Report: &a.Report, Inventory: &a.Inventory})
	if err != nil {
		return node.Node{}, fmt.Errorf("accept discovered machine %s: %w", n.UUID, err)
	}
	err = s.inTurn(ctx, func(tx *transaction) error { return tx.acceptDiscovered(a, n, r, kept) })
	if err != nil {
		return node.Node{}, err
	}
	return s.Node(ctx, n.UUID)
}

func (tx *transaction) acceptDiscovered(a node.Acceptance, n node.Node, r nodeRow, kept keptDocuments) error {
	if _, err := tx.store.discoveredRow(tx.DB, n.UUID); err != nil {
		return err
	}
	if err := tx.forgetDiscovered(n.UUID, node.ErrLost, "uuid = ? AND report_at = ? AND state <> ?", n.UUID, micros(a.Report.At), node.DiscoveredBlocked); err != nil {
		return err
	}
	if err := tx.refuseTaken(n); err != nil {
		return err
	}
	if err := tx.Create(&r).Error; err != nil {
		return fmt.Errorf("create node %s: %w", n.UUID, err)
	}
	for _, p := range a.Ports {
		if err := tx.createPort(p); err != nil {
			return err
		}
	}
	errs := []error{tx.createAttempt(a.Attempt), tx.keepReport(n.UUID, a.Report, kept), tx.keepInventory(a.Inventory, kept), tx.remember(a.History)}
	if a.Logs != nil {
		errs = append(errs, tx.replace(&ramdiskLogsRow{AttemptID: a.Attempt.ID, NodeUUID: n.UUID, Archive: a.Logs, At: micros(a.Report.At)}))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("accept discovered machine %s: %w", n.UUID, err)
	}
	return tx.audit(a.Audit)
}

// mostBehind is how many nodes one BMC may have that are told from each other: no chassis has as many blades.
const mostBehind = 1000

// NodesBehind lists the nodes whose BMC has one of the addresses, as driver_info spells them.
func (s *Store) NodesBehind(ctx context.Context, addresses []string) ([]node.Node, error) {
	if len(addresses) == 0 {
		return nil, nil
	}
	return s.nodes(s.read.WithContext(ctx).Where("bmc_address IN ?", addresses).Order("id").Limit(mostBehind))
}
