package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"cagenut/node"
)

// Lists for people. What they are filtered, sorted and counted by stands in the index nodes_list, so that choosing a page of
// ten thousand nodes reads no document; only the nodes of the page are read themselves, and of those not whole.

// summaryRow is what is read of a node for a list.
type summaryRow struct {
	ID                  int64
	UUID                string
	Name                string
	Driver              string
	ProvisionState      string
	ProvisionUpdatedAt  int64
	PowerState          string
	TargetPowerState    string
	PowerCheckedAt      int64
	BMCUnreachableSince int64
	BMCError            string
	Health              string
	HealthAt            int64
	LastError           string
	Reservation         string
	ReservationID       string
	AttemptID           string
	Maintenance         bool
	MaintenanceReason   string
	DisablePowerOff     bool
	Rack                string
	RackUnit            int
	BMCAddress          string
	Serial              string
}

func (r summaryRow) summary() node.Summary {
	extra := map[string]any{}
	if r.Rack != "" {
		extra["rack"] = r.Rack
	}
	if r.RackUnit != 0 {
		extra["rack_unit"] = r.RackUnit
	}
	return node.Summary{BMCAddress: r.BMCAddress, Serial: r.Serial, Node: node.Node{
		ID: r.ID, UUID: r.UUID, Name: r.Name, Driver: r.Driver, ProvisionState: node.State(r.ProvisionState), ProvisionUpdatedAt: fromMicros(r.ProvisionUpdatedAt),
		PowerState: node.PowerState(r.PowerState), TargetPowerState: node.PowerState(r.TargetPowerState), PowerCheckedAt: fromMicros(r.PowerCheckedAt),
		BMCUnreachableSince: fromMicros(r.BMCUnreachableSince), BMCError: r.BMCError, Health: node.Health(r.Health), HealthAt: fromMicros(r.HealthAt),
		LastError: r.LastError, Reservation: r.Reservation, ReservationID: r.ReservationID, AttemptID: r.AttemptID,
		Maintenance: r.Maintenance, MaintenanceReason: r.MaintenanceReason, DisablePowerOff: r.DisablePowerOff, Extra: extra,
	}}
}

// listKey is one of the values that a list is sorted by.
type listKey struct {
	expr   string
	args   []any
	number bool
}

// listKeys are an order's, the number of the node at last.
func listKeys(l node.List) ([]listKey, error) {
	name, id := listKey{expr: "name"}, listKey{expr: "id", number: true}
	switch l.Order {
	case node.ByAttention:
		return []listKey{rankKey(l.Ranks), name, id}, nil
	case node.ByName:
		return []listKey{name, id}, nil
	case node.ByPlace:
		return []listKey{{expr: "rack = ''", number: true}, {expr: "rack"}, {expr: "rack_unit", number: true}, id}, nil
	case node.ByState:
		return []listKey{{expr: "provision_state"}, name, id}, nil
	case node.BySince:
		return []listKey{{expr: "provision_updated_at", number: true}, id}, nil
	case node.ByPower:
		return []listKey{{expr: "power_state"}, name, id}, nil
	case node.ByHealth:
		return []listKey{{expr: "CASE WHEN health = 'Critical' THEN 0 WHEN health = 'Warning' THEN 1 WHEN bmc_unreachable_since <> 0 THEN 2 WHEN health = '' THEN 3 ELSE 4 END", number: true}, name, id}, nil
	case node.ByDriver:
		return []listKey{{expr: "driver"}, name, id}, nil
	}
	return nil, node.Invalidf("The list cannot be sorted by %q.", l.Order)
}

// rankKey is a state's place among the ranks.
func rankKey(ranks [][]node.State) listKey {
	k := listKey{expr: strconv.Itoa(len(ranks)), number: true}
	if len(ranks) == 0 {
		return k
	}
	expr := "CASE"
	for i, states := range ranks {
		expr += " WHEN provision_state IN ? THEN " + strconv.Itoa(i)
		k.args = append(k.args, states)
	}
	k.expr = expr + " ELSE " + k.expr + " END"
	return k
}

// Summaries lists one page.
func (s *Store) Summaries(ctx context.Context, l node.List) (node.Summaries, error) {
	places, err := s.listPlaces(ctx, l)
	if err != nil {
		return node.Summaries{}, err
	}
	var out node.Summaries
	more := l.Limit > 0 && len(places) > l.Limit
	if more {
		places = places[:l.Limit]
	}
	out.Earlier, out.Later = l.At != nil && !l.Before, more
	if l.Before {
		slices.Reverse(places)
		out.Earlier, out.Later = more, true
	}
	if out.All, err = s.summariesAt(ctx, places); err != nil || l.Limit == 0 {
		return out, err
	}
	if err := s.markTwins(ctx, out.All); err != nil {
		return node.Summaries{}, err
	}
	return out, s.addAttempts(ctx, &out)
}

// listPlaces are the places of a page's nodes in the list and of one more, from At on.
func (s *Store) listPlaces(ctx context.Context, l node.List) ([]node.Cursor, error) {
	keys, err := listKeys(l)
	if err != nil {
		return nil, err
	}
	var exprs []string
	var args []any
	for _, k := range keys {
		exprs, args = append(exprs, k.expr), append(args, k.args...)
	}
	// Before At, the list is read backwards; sorted the other way round, it is too.
	way, beyond := "", ">"
	if l.Before != l.Descending {
		way, beyond = " DESC", "<"
	}
	q := chosen(s.read.WithContext(ctx), l.Filter).Select(strings.Join(exprs, ", "), args...)
	if l.At != nil {
		at, err := at(l.At, keys)
		if err != nil {
			return nil, err
		}
		// In brackets, a list of places is no list of alternatives to gorm.
		q = q.Where("(("+strings.Join(exprs, ", ")+") "+beyond+" ?)", append(slices.Clone(args), at)...)
	}
	for i := range keys {
		q = q.Order(strconv.Itoa(i+1) + way)
	}
	if l.Limit > 0 {
		q = q.Limit(l.Limit + 1)
	}
	return scanPlaces(q, len(keys))
}

// at is a cursor as the database compares it.
func at(c node.Cursor, keys []listKey) ([]any, error) {
	if len(c) != len(keys) {
		return nil, node.Invalidf("The place in the list is none of this list.")
	}
	out := make([]any, len(c))
	for i, k := range keys {
		out[i] = c[i]
		if !k.number {
			continue
		}
		n, err := strconv.ParseInt(c[i], 10, 64)
		if err != nil {
			return nil, node.Invalidf("The place in the list is none of this list.")
		}
		out[i] = n
	}
	return out, nil
}

func scanPlaces(q *gorm.DB, keys int) ([]node.Cursor, error) {
	rows, err := q.Rows()
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	defer rows.Close()
	var out []node.Cursor
	for rows.Next() {
		c := make(node.Cursor, keys)
		into := make([]any, keys)
		for i := range c {
			into[i] = &c[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// summariesAt reads the nodes of a page.
func (s *Store) summariesAt(ctx context.Context, places []node.Cursor) ([]node.Summary, error) {
	if len(places) == 0 {
		return nil, nil
	}
	order := make(map[string]int, len(places))
	ids := make([]string, len(places))
	for i, c := range places {
		ids[i] = c[len(c)-1]
		order[ids[i]] = i
	}
	all := make([]node.Summary, 0, len(places))
	for part := range slices.Chunk(ids, 500) {
		var rows []summaryRow
		if err := s.read.WithContext(ctx).Model(&nodeRow{}).Where("id IN ?", part).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		for _, r := range rows {
			n := r.summary()
			n.Cursor = places[order[strconv.FormatInt(r.ID, 10)]]
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b node.Summary) int {
		return order[a.Cursor[len(a.Cursor)-1]] - order[b.Cursor[len(b.Cursor)-1]]
	})
	return all, nil
}

// markTwins counts for each node the others that claim its serial number or its place. What a vendor left as it found it is
// no serial number (G52).
func (s *Store) markTwins(ctx context.Context, all []node.Summary) error {
	var serials []string
	var places [][]any
	for _, n := range all {
		if node.Known(n.Serial) != "" {
			serials = append(serials, n.Serial)
		}
		if l := n.Location(); l.Rack != "" && l.Unit != 0 {
			places = append(places, []any{l.Rack, l.Unit})
		}
	}
	var sameSerial []struct {
		Serial string
		N      int
	}
	var samePlace []struct {
		Rack        string
		RackUnit, N int
	}
	db := s.read.WithContext(ctx).Model(&nodeRow{})
	if len(serials) > 0 {
		if err := db.Session(&gorm.Session{}).Select("serial, COUNT(*) AS n").Where("serial IN ?", serials).Group("serial").Having("COUNT(*) > 1").Find(&sameSerial).Error; err != nil {
			return fmt.Errorf("look for doubled serial numbers: %w", err)
		}
	}
	if len(places) > 0 {
		if err := db.Session(&gorm.Session{}).Select("rack, rack_unit, COUNT(*) AS n").Where("(rack, rack_unit) IN ?", places).Group("rack, rack_unit").Having("COUNT(*) > 1").Find(&samePlace).Error; err != nil {
			return fmt.Errorf("look for doubled places: %w", err)
		}
	}
	for i := range all {
		n := &all[i]
		for _, same := range sameSerial {
			if same.Serial == n.Serial {
				n.SerialTwins = same.N - 1
			}
		}
		for _, same := range samePlace {
			if l := n.Location(); same.Rack == l.Rack && same.RackUnit == l.Unit {
				n.PlaceTwins = same.N - 1
			}
		}
	}
	return nil
}

// addAttempts adds the latest attempts of a page's nodes, as far as lists need them, and the signs of those that run.
func (s *Store) addAttempts(ctx context.Context, out *node.Summaries) error {
	var ids []string
	for _, n := range out.All {
		if n.AttemptID != "" {
			ids = append(ids, n.AttemptID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []attemptRow
	err := s.read.WithContext(ctx).Select("id", "node_uuid", "interface", "state", "step", "started_at", "waiting_at", "report_at", "ended_at", "ended_user", "ended_source",
		"outcome", "keep_power_on", "clean_up", "clean_up_error", "divergence").Where("id IN ?", ids).Find(&rows).Error
	if err != nil {
		return fmt.Errorf("list the latest attempts: %w", err)
	}
	out.Attempts, ids = make(map[string]node.Attempt, len(rows)), nil
	for _, r := range rows {
		out.Attempts[r.ID] = node.Attempt{
			ID: r.ID, NodeUUID: r.NodeUUID, Interface: r.Interface, State: node.RunState(r.State), Step: r.Step, StartedAt: fromMicros(r.StartedAt),
			WaitingAt: fromMicros(r.WaitingAt), ReportAt: fromMicros(r.ReportAt), EndedAt: fromMicros(r.EndedAt),
			Ended: node.Actor{User: r.EndedUser, Source: node.Source(r.EndedSource)}, Outcome: node.Outcome(r.Outcome), KeepPowerOn: r.KeepPowerOn,
			CleanUp: node.CleanUpState(r.CleanUp), CleanUpError: r.CleanUpError, Divergence: r.Divergence,
		}
		if r.EndedAt == 0 {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var signs []signRow
	if err := s.read.WithContext(ctx).Where("attempt_id IN ?", ids).Order("first_at").Find(&signs).Error; err != nil {
		return fmt.Errorf("list the signs of the latest attempts: %w", err)
	}
	out.Signs = map[string][]node.Sign{}
	for _, r := range signs {
		out.Signs[r.AttemptID] = append(out.Signs[r.AttemptID], r.sign())
	}
	return nil
}

// Tallies counts the nodes that a filter chooses by what lists are filtered by, but for their racks.
func (s *Store) Tallies(ctx context.Context, f node.Filter) ([]node.Tally, error) {
	var rows []struct {
		ProvisionState string
		Driver         string
		Maintenance    bool
		Health         string
		Silent         int
		N              int
	}
	alike := "provision_state, driver, maintenance, health"
	if err := chosen(s.read.WithContext(ctx), f).Select(alike + ", SUM(bmc_unreachable_since <> 0) AS silent, COUNT(*) AS n").Group(alike).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("count nodes: %w", err)
	}
	out := make([]node.Tally, len(rows))
	for i, r := range rows {
		out[i] = node.Tally{State: node.State(r.ProvisionState), Driver: r.Driver, Maintenance: r.Maintenance, Health: node.Health(r.Health), N: r.N, Silent: r.Silent}
	}
	return out, nil
}

// RackTallies counts the nodes that a filter chooses by rack; "" are those without one.
func (s *Store) RackTallies(ctx context.Context, f node.Filter) (map[string]int, error) {
	var rows []struct {
		K string
		N int
	}
	// Where there are conditions, the plus keeps the database from reading the nodes themselves along the index of places.
	rack := "+rack"
	if reflect.DeepEqual(f, node.Filter{IncludeChildren: true}) {
		rack = "rack"
	}
	if err := chosen(s.read.WithContext(ctx), f).Select(rack + " AS k, COUNT(*) AS n").Group("k").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("count nodes by rack: %w", err)
	}
	out := make(map[string]int, len(rows))
	for _, r := range rows {
		out[r.K] = r.N
	}
	return out, nil
}
