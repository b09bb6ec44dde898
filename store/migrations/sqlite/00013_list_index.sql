-- +goose Up
-- What lists for people are filtered, sorted and counted by: a page of ten thousand nodes is chosen without reading any node.
CREATE INDEX nodes_list ON nodes (
	provision_state, driver, maintenance, health, rack, rack_unit, power_state, provision_updated_at, bmc_unreachable_since, name, bmc_address, serial, uuid
);

-- +goose Down
DROP INDEX nodes_list;
