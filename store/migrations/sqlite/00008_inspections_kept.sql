-- +goose Up
-- What inspections leave is kept for several attempts of a node. Documents are compressed with gzip; those of before are not.
CREATE TABLE kept_reports (
	attempt_id TEXT    NOT NULL PRIMARY KEY REFERENCES attempts (id) ON DELETE CASCADE,
	node_uuid  TEXT    NOT NULL,
	body       BLOB    NOT NULL,
	at         INTEGER NOT NULL
);
INSERT INTO kept_reports SELECT r.attempt_id, a.node_uuid, r.body, r.at FROM reports r JOIN attempts a ON a.id = r.attempt_id;
DROP TABLE reports;
ALTER TABLE kept_reports RENAME TO reports;
CREATE INDEX reports_node ON reports (node_uuid, at);

CREATE TABLE kept_inventories (
	attempt_id  TEXT    NOT NULL PRIMARY KEY,
	node_uuid   TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
	inventory   BLOB    NOT NULL,
	plugin_data BLOB    NOT NULL,
	created_at  INTEGER NOT NULL
);
INSERT INTO kept_inventories SELECT attempt_id, node_uuid, inventory, plugin_data, created_at FROM inventories;
DROP TABLE inventories;
ALTER TABLE kept_inventories RENAME TO inventories;
CREATE INDEX inventories_node ON inventories (node_uuid, created_at);

CREATE TABLE ramdisk_logs (
	attempt_id TEXT    NOT NULL PRIMARY KEY REFERENCES attempts (id) ON DELETE CASCADE,
	node_uuid  TEXT    NOT NULL,
	archive    BLOB    NOT NULL,
	at         INTEGER NOT NULL
);
CREATE INDEX ramdisk_logs_node ON ramdisk_logs (node_uuid, at);

-- Signs of life of an attempt's server; one row of each kind.
CREATE TABLE signs (
	attempt_id TEXT    NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
	kind       TEXT    NOT NULL,
	first_at   INTEGER NOT NULL,
	last_at    INTEGER NOT NULL,
	times      INTEGER NOT NULL DEFAULT 1,
	detail     TEXT    NOT NULL DEFAULT '',
	PRIMARY KEY (attempt_id, kind)
);

-- +goose Down
DROP TABLE signs;
DROP TABLE ramdisk_logs;
DROP INDEX reports_node;
ALTER TABLE reports DROP COLUMN node_uuid;
CREATE TABLE last_inventories (
	node_uuid   TEXT    NOT NULL PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
	attempt_id  TEXT    NOT NULL,
	inventory   BLOB    NOT NULL,
	plugin_data BLOB    NOT NULL,
	created_at  INTEGER NOT NULL
);
INSERT OR REPLACE INTO last_inventories SELECT node_uuid, attempt_id, inventory, plugin_data, created_at FROM inventories ORDER BY created_at;
DROP TABLE inventories;
ALTER TABLE last_inventories RENAME TO inventories;
