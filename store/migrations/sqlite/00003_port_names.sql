-- +goose Up
-- Ports are found by name. Of those that had the same before it had to be the only one, the oldest keeps it.
UPDATE ports SET name = '' WHERE name <> '' AND id NOT IN (SELECT MIN(id) FROM ports GROUP BY name);
CREATE UNIQUE INDEX ports_name ON ports (name) WHERE name <> '';

-- +goose Down
DROP INDEX ports_name;
