-- +goose Up
-- How many units a node takes; and what pictures of racks are drawn from, which is read without touching the rows.
ALTER TABLE nodes ADD COLUMN rack_units INTEGER NOT NULL DEFAULT 1;
DROP INDEX nodes_rack;
CREATE INDEX nodes_place ON nodes (rack, rack_unit, rack_units, provision_state, uuid);

-- Places are read more generously than before: numbers name racks, and digits in quotes are numbers.
UPDATE nodes SET rack = json_extract(extra, '$.rack')
WHERE json_type(extra, '$.rack') IN ('integer', 'real');
UPDATE nodes SET rack_unit = CAST(trim(json_extract(extra, '$.rack_unit')) AS INTEGER)
WHERE json_type(extra, '$.rack_unit') = 'text' AND trim(json_extract(extra, '$.rack_unit')) NOT GLOB '*[^0-9]*'
	AND CAST(trim(json_extract(extra, '$.rack_unit')) AS INTEGER) BETWEEN 1 AND 2147483647;
UPDATE nodes SET rack_unit = 0 WHERE rack_unit > 2147483647;
UPDATE nodes SET rack_units = CAST(trim(json_extract(extra, '$.rack_units')) AS INTEGER)
WHERE json_type(extra, '$.rack_units') IN ('integer', 'text') AND trim(json_extract(extra, '$.rack_units')) NOT GLOB '*[^0-9]*'
	AND CAST(trim(json_extract(extra, '$.rack_units')) AS INTEGER) BETWEEN 1 AND 2147483647;
UPDATE nodes SET rack_units = CAST(json_extract(extra, '$.rack_units') AS INTEGER)
WHERE json_type(extra, '$.rack_units') = 'real' AND json_extract(extra, '$.rack_units') BETWEEN 1 AND 2147483647
	AND json_extract(extra, '$.rack_units') = CAST(json_extract(extra, '$.rack_units') AS INTEGER);

-- +goose Down
DROP INDEX nodes_place;
ALTER TABLE nodes DROP COLUMN rack_units;
CREATE INDEX nodes_rack ON nodes (rack, rack_unit);
