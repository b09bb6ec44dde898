-- +goose Up
-- Who else has the serial numbers of a page of nodes.
CREATE INDEX nodes_serial ON nodes (serial);

-- +goose Down
DROP INDEX nodes_serial;
