package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

// sortable are the columns that lists may be ordered by, under the names of the wire.
var sortable = []string{
	"id", "uuid", "name", "created_at", "updated_at", "driver", "provision_state", "provision_updated_at", "power_state", "target_power_state",
	"last_error", "reservation", "inspection_started_at", "inspection_finished_at", "maintenance", "maintenance_reason", "fault", "protected",
	"protected_reason", "retired", "retired_reason", "console_enabled", "disable_power_off", "automated_clean", "instance_uuid", "instance_name",
	"chassis_uuid", "resource_class", "conductor_group", "description", "owner", "lessee", "shard", "parent_node", "conductor", "rack", "boot_mode", "secure_boot",
}

// nullable are those of sortable that may be unset.
var nullable = []string{"automated_clean", "secure_boot"}

// Nodes lists the nodes that the filter chooses.
func (s *Store) Nodes(ctx context.Context, f node.Filter) ([]node.Node, error) {
	db := s.read.WithContext(ctx)
	q, err := s.page(chosen(db, f), &nodeRow{}, "Node", f.Page, sortable)
	if err != nil {
		return nil, err
	}
	return s.nodes(q)
}

func (s *Store) nodes(q *gorm.DB) ([]node.Node, error) {
	var rows []nodeRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	out := make([]node.Node, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = s.node(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// chosen turns a filter into conditions.
func chosen(db *gorm.DB, f node.Filter) *gorm.DB {
	q := db.Model(&nodeRow{})
	text := func(column, value string) {
		if value != "" {
			q = q.Where(column+" = ?", value)
		}
	}
	flag := func(column string, value *bool) {
		if value != nil {
			q = q.Where(column+" = ?", *value)
		}
	}
	present := func(column string, value *bool) {
		if value != nil {
			q = q.Where("("+column+" <> '') = ?", *value)
		}
	}
	if f.UUIDs != nil {
		q = q.Where("uuid IN ?", f.UUIDs)
	}
	if f.ProvisionStates != nil {
		q = q.Where("provision_state IN ?", f.ProvisionStates)
	}
	if f.Shards != nil {
		q = q.Where("shard IN ?", f.Shards)
	}
	if f.ConductorGroup != nil {
		q = q.Where("conductor_group = ?", *f.ConductorGroup)
	}
	present("instance_uuid", f.Associated)
	present("shard", f.Sharded)
	flag("maintenance", f.Maintenance)
	flag("retired", f.Retired)
	text("instance_uuid", f.InstanceUUID)
	text("instance_name", f.InstanceName)
	text("chassis_uuid", f.ChassisUUID)
	text("driver", f.Driver)
	text("resource_class", f.ResourceClass)
	text("fault", f.Fault)
	text("conductor", f.Conductor)
	text("owner", f.Owner)
	text("lessee", f.Lessee)
	text("rack", f.Rack)
	if f.Project != "" {
		q = q.Where("owner = ? OR lessee = ?", f.Project, f.Project)
	}
	if f.DescriptionContains != "" {
		q = q.Where("description LIKE ? ESCAPE '\\'", like(f.DescriptionContains))
	}
	if f.Healths != nil {
		q = q.Where("health IN ?", f.Healths)
	}
	if f.Silent {
		q = q.Where("bmc_unreachable_since <> 0")
	}
	if f.Search != "" {
		q = found(q, f.Search)
	}
	switch {
	case f.ParentNode != "":
		q = q.Where("parent_node = ?", f.ParentNode)
	case !f.IncludeChildren:
		q = q.Where("parent_node = ''")
	}
	return q
}

// macPart is what may be part of a MAC, in any spelling.
var macPart = regexp.MustCompile(`^[0-9A-Fa-f:.-]+$`)

// found is a search for part of what people know a node by.
func found(q *gorm.DB, text string) *gorm.DB {
	p := like(text)
	where, args := `name LIKE ? ESCAPE '\' OR uuid LIKE ? ESCAPE '\' OR bmc_address LIKE ? ESCAPE '\' OR serial LIKE ? ESCAPE '\' OR rack LIKE ? ESCAPE '\'`, []any{p, p, p, p, p}
	if macPart.MatchString(text) {
		condition, pattern := macLike(text)
		where += ` OR uuid IN (SELECT node_uuid FROM ports WHERE ` + condition + `)`
		args = append(args, pattern)
	}
	return q.Where(where, args...)
}

// macDigits is a MAC, or part of one, that is written without colons: 525400aa0001, 00aa.0001. Shorter ones are more often
// something else, such as part of an IP address.
var macDigits = regexp.MustCompile(`^[0-9a-f]{4,}$|^[0-9a-f]{4}(\.[0-9a-f]{1,4}){1,2}$`)

// macLike is the condition for a MAC, or part of one, in whatever spelling: 52-54-00 too. The ports have them with colons.
func macLike(text string) (condition, pattern string) {
	text = strings.ToLower(text)
	if digits := strings.NewReplacer(":", "", ".", "", "-", "").Replace(text); len(digits) == 12 || macDigits.MatchString(text) {
		return `REPLACE(address, ':', '') LIKE ? ESCAPE '\'`, like(digits)
	}
	return `address LIKE ? ESCAPE '\'`, like(strings.ReplaceAll(text, "-", ":"))
}

func like(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part) + "%"
}

// page orders a query and cuts one page out of it: by a column and then by id, after the marker's own place.
func (s *Store) page(q *gorm.DB, model any, what string, p node.Page, sortable []string) (*gorm.DB, error) {
	key := p.SortKey
	if key == "" {
		key = "id"
	}
	if !slices.Contains(sortable, key) {
		return nil, node.Invalidf("The sort_key value %q is an invalid field for sorting", p.SortKey)
	}
	if slices.Contains(nullable, key) {
		// Nothing is greater than NULL: a page would end there.
		key = "COALESCE(" + key + ", -1)"
	}
	way, after := "ASC", ">"
	if p.Descending {
		way, after = "DESC", "<"
	}
	if p.Marker != "" {
		var at struct {
			ID  int64
			Key any
		}
		row := s.read.WithContext(q.Statement.Context).Model(model).Select("id, "+key+" AS key").Where("uuid = ?", p.Marker).Row()
		if err := row.Scan(&at.ID, &at.Key); err != nil {
			return nil, &node.NotFound{What: what, Ident: p.Marker}
		}
		if key == "id" {
			q = q.Where("id "+after+" ?", at.ID)
		} else {
			q = q.Where("("+key+" "+after+" ? OR ("+key+" = ? AND id "+after+" ?))", at.Key, at.Key, at.ID)
		}
	}
	q = q.Order(key + " " + way)
	if key != "id" {
		q = q.Order("id " + way)
	}
	if p.Limit > 0 {
		q = q.Limit(p.Limit)
	}
	return q, nil
}

// CountByState counts all nodes by provision state.
func (s *Store) CountByState(ctx context.Context) (map[node.State]int, error) {
	return countBy[node.State](s.read.WithContext(ctx), "provision_state")
}

// ShardCounts counts all nodes by shard; "" are those without one.
func (s *Store) ShardCounts(ctx context.Context) (map[string]int, error) {
	return countBy[string](s.read.WithContext(ctx), "shard")
}

func countBy[K ~string](db *gorm.DB, column string) (map[K]int, error) {
	var rows []struct {
		K string
		N int
	}
	if err := db.Model(&nodeRow{}).Select(column + " AS k, COUNT(*) AS n").Group(column).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("count nodes by %s: %w", column, err)
	}
	out := make(map[K]int, len(rows))
	for _, r := range rows {
		out[K(r.K)] = r.N
	}
	return out, nil
}

// WaitingSince lists the nodes whose wait for a ramdisk began before t, also those in maintenance.
func (s *Store) WaitingSince(ctx context.Context, t time.Time) ([]node.Node, error) {
	return s.nodes(s.read.WithContext(ctx).Where("provision_state = ? AND provision_updated_at < ?", node.InspectWait, micros(t)))
}

// Waiting lists all nodes in `inspect wait`.
func (s *Store) Waiting(ctx context.Context) ([]node.Node, error) {
	return s.nodes(s.read.WithContext(ctx).Where("provision_state = ?", node.InspectWait))
}

// LookupAddresses are the BMC addresses of the nodes in `inspect wait`, by UUID. Nothing else of the nodes is read: with
// two hundred of them waiting and reporting at once, reading them whole took seconds.
func (s *Store) LookupAddresses(ctx context.Context) (map[string][]string, error) {
	rows, err := s.read.WithContext(ctx).Model(&nodeRow{}).Select("uuid", "driver_internal_info").Where("provision_state = ?", node.InspectWait).Rows()
	if err != nil {
		return nil, fmt.Errorf("read the lookup addresses: %w", err)
	}
	defer rows.Close()
	out := map[string][]string{}
	for rows.Next() {
		var (
			uuid, doc string
			internal  struct {
				Addresses []string `json:"lookup_bmc_addresses"`
			}
		)
		if err := errors.Join(rows.Scan(&uuid, &doc), json.Unmarshal([]byte(doc), &internal)); err != nil {
			return nil, fmt.Errorf("read the lookup addresses: %w", err)
		}
		out[uuid] = internal.Addresses
	}
	return out, rows.Err()
}

// Interrupted lists the nodes that a worker had reserved. With SQLite there is one appliance, so all of them were its own,
// whatever it was called then.
func (s *Store) Interrupted(ctx context.Context) ([]node.Node, error) {
	return s.nodes(s.read.WithContext(ctx).Where("reservation_id <> ''"))
}
