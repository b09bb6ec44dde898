-- +goose Up
-- Times are microseconds since 1970 in UTC, 0 for "never"; documents are JSON text. Absent strings are ''.
CREATE TABLE nodes (
	id                     INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid                   TEXT    NOT NULL UNIQUE,
	name                   TEXT    NOT NULL DEFAULT '',
	created_at             INTEGER NOT NULL,
	updated_at             INTEGER NOT NULL DEFAULT 0,
	version                INTEGER NOT NULL DEFAULT 0,
	driver                 TEXT    NOT NULL,
	interfaces             TEXT    NOT NULL CHECK (json_valid(interfaces)),
	provision_state        TEXT    NOT NULL,
	provision_updated_at   INTEGER NOT NULL DEFAULT 0,
	power_state            TEXT    NOT NULL DEFAULT '',
	target_power_state     TEXT    NOT NULL DEFAULT '',
	power_checked_at       INTEGER NOT NULL DEFAULT 0,
	last_error             TEXT    NOT NULL DEFAULT '',
	reservation            TEXT    NOT NULL DEFAULT '',
	reservation_id         TEXT    NOT NULL DEFAULT '',
	attempt_id             TEXT    NOT NULL DEFAULT '',
	inspection_started_at  INTEGER NOT NULL DEFAULT 0,
	inspection_finished_at INTEGER NOT NULL DEFAULT 0,
	maintenance            BOOLEAN NOT NULL DEFAULT FALSE,
	maintenance_reason     TEXT    NOT NULL DEFAULT '',
	fault                  TEXT    NOT NULL DEFAULT '',
	protected              BOOLEAN NOT NULL DEFAULT FALSE,
	protected_reason       TEXT    NOT NULL DEFAULT '',
	retired                BOOLEAN NOT NULL DEFAULT FALSE,
	retired_reason         TEXT    NOT NULL DEFAULT '',
	console_enabled        BOOLEAN NOT NULL DEFAULT FALSE,
	disable_power_off      BOOLEAN NOT NULL DEFAULT FALSE,
	automated_clean        BOOLEAN,
	secure_boot            BOOLEAN,
	boot_mode              TEXT    NOT NULL DEFAULT '',
	properties             TEXT    NOT NULL CHECK (json_valid(properties)),
	driver_info            TEXT    NOT NULL CHECK (json_valid(driver_info)),
	driver_internal_info   TEXT    NOT NULL CHECK (json_valid(driver_internal_info)),
	instance_info          TEXT    NOT NULL CHECK (json_valid(instance_info)),
	extra                  TEXT    NOT NULL CHECK (json_valid(extra)),
	documents              TEXT    NOT NULL CHECK (json_valid(documents)),
	traits                 TEXT    NOT NULL CHECK (json_valid(traits)),
	instance_uuid          TEXT    NOT NULL DEFAULT '',
	instance_name          TEXT    NOT NULL DEFAULT '',
	chassis_uuid           TEXT    NOT NULL DEFAULT '',
	resource_class         TEXT    NOT NULL DEFAULT '',
	conductor_group        TEXT    NOT NULL DEFAULT '',
	description            TEXT    NOT NULL DEFAULT '',
	owner                  TEXT    NOT NULL DEFAULT '',
	lessee                 TEXT    NOT NULL DEFAULT '',
	shard                  TEXT    NOT NULL DEFAULT '',
	parent_node            TEXT    NOT NULL DEFAULT '',
	conductor              TEXT    NOT NULL DEFAULT '',
	-- What lists filter by, taken from the documents whenever those are written.
	rack                   TEXT    NOT NULL DEFAULT '',
	rack_unit              INTEGER NOT NULL DEFAULT 0,
	bmc_address            TEXT    NOT NULL DEFAULT '',
	serial                 TEXT    NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX nodes_name ON nodes (name) WHERE name <> '';
CREATE UNIQUE INDEX nodes_instance ON nodes (instance_uuid) WHERE instance_uuid <> '';
CREATE INDEX nodes_state ON nodes (provision_state, provision_updated_at);
CREATE INDEX nodes_power_checked ON nodes (power_checked_at);
CREATE INDEX nodes_rack ON nodes (rack, rack_unit);
CREATE INDEX nodes_parent ON nodes (parent_node) WHERE parent_node <> '';

CREATE TABLE ports (
	id                    INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid                  TEXT    NOT NULL UNIQUE,
	node_uuid             TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
	address               TEXT    NOT NULL UNIQUE,
	name                  TEXT    NOT NULL DEFAULT '',
	created_at            INTEGER NOT NULL,
	updated_at            INTEGER NOT NULL DEFAULT 0,
	version               INTEGER NOT NULL DEFAULT 0,
	pxe_enabled           BOOLEAN NOT NULL DEFAULT TRUE,
	extra                 TEXT    NOT NULL CHECK (json_valid(extra)),
	internal_info         TEXT    NOT NULL CHECK (json_valid(internal_info)),
	local_link_connection TEXT    NOT NULL CHECK (json_valid(local_link_connection)),
	physical_network      TEXT    NOT NULL DEFAULT '',
	is_smartnic           BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX ports_node ON ports (node_uuid);

CREATE TABLE chassis (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid        TEXT    NOT NULL UNIQUE,
	description TEXT    NOT NULL DEFAULT '',
	extra       TEXT    NOT NULL CHECK (json_valid(extra)),
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE attempts (
	number           INTEGER PRIMARY KEY AUTOINCREMENT,
	id               TEXT    NOT NULL UNIQUE,
	node_uuid        TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
	interface        TEXT    NOT NULL,
	token            TEXT    NOT NULL,
	token_hash       TEXT    NOT NULL UNIQUE,
	state            TEXT    NOT NULL,
	started_user     TEXT    NOT NULL DEFAULT '',
	started_source   TEXT    NOT NULL DEFAULT '',
	started_at       INTEGER NOT NULL,
	waiting_at       INTEGER NOT NULL DEFAULT 0,
	report_at        INTEGER NOT NULL DEFAULT 0,
	ended_at         INTEGER NOT NULL DEFAULT 0,
	ended_user       TEXT    NOT NULL DEFAULT '',
	ended_source     TEXT    NOT NULL DEFAULT '',
	outcome          TEXT    NOT NULL DEFAULT '',
	error            TEXT    NOT NULL DEFAULT '',
	last_error       TEXT    NOT NULL DEFAULT '',
	reason           TEXT    NOT NULL DEFAULT '',
	proof            TEXT    NOT NULL DEFAULT '',
	notes            TEXT    NOT NULL CHECK (json_valid(notes)),
	step             TEXT    NOT NULL DEFAULT '',
	abort_asked      TEXT    NOT NULL DEFAULT 'null' CHECK (json_valid(abort_asked)),
	abort_asked_at   INTEGER NOT NULL DEFAULT 0,
	keep_power_on    BOOLEAN NOT NULL DEFAULT FALSE,
	clean_up         TEXT    NOT NULL DEFAULT '',
	clean_up_step    TEXT    NOT NULL DEFAULT '',
	clean_up_error   TEXT    NOT NULL DEFAULT '',
	clean_up_tries   INTEGER NOT NULL DEFAULT 0,
	divergence       TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX attempts_node ON attempts (node_uuid, number);
CREATE INDEX attempts_state ON attempts (state);

CREATE TABLE reports (
	attempt_id TEXT    NOT NULL PRIMARY KEY REFERENCES attempts (id) ON DELETE CASCADE,
	body       BLOB    NOT NULL,
	at         INTEGER NOT NULL
);

CREATE TABLE inventories (
	node_uuid   TEXT    NOT NULL PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
	attempt_id  TEXT    NOT NULL,
	inventory   BLOB    NOT NULL,
	plugin_data BLOB    NOT NULL,
	created_at  INTEGER NOT NULL
);

CREATE TABLE history (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid         TEXT    NOT NULL UNIQUE,
	node_uuid    TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
	attempt_id   TEXT    NOT NULL DEFAULT '',
	at           INTEGER NOT NULL,
	severity     TEXT    NOT NULL,
	type         TEXT    NOT NULL,
	event        TEXT    NOT NULL,
	actor        TEXT    NOT NULL CHECK (json_valid(actor)),
	reason       TEXT    NOT NULL DEFAULT '',
	state        TEXT    NOT NULL DEFAULT '',
	target_state TEXT    NOT NULL DEFAULT '',
	duration     INTEGER NOT NULL DEFAULT 0,
	final        BOOLEAN NOT NULL DEFAULT FALSE,
	key          TEXT    NOT NULL DEFAULT '',
	count        INTEGER NOT NULL DEFAULT 1,
	last_at      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX history_node ON history (node_uuid, id);
CREATE UNIQUE INDEX history_key ON history (node_uuid, key) WHERE key <> '';

-- The audit outlives the nodes it speaks of.
CREATE TABLE audit (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	at         INTEGER NOT NULL,
	actor      TEXT    NOT NULL CHECK (json_valid(actor)),
	action     TEXT    NOT NULL,
	node_uuid  TEXT    NOT NULL DEFAULT '',
	attempt_id TEXT    NOT NULL DEFAULT '',
	result     TEXT    NOT NULL DEFAULT '',
	reason     TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX audit_node ON audit (node_uuid, id);

-- What event streams tell and replay; ids are never used twice.
CREATE TABLE changes (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	node_uuid  TEXT    NOT NULL,
	from_state TEXT    NOT NULL,
	to_state   TEXT    NOT NULL,
	actor      TEXT    NOT NULL CHECK (json_valid(actor)),
	at         INTEGER NOT NULL,
	attempt_id TEXT    NOT NULL DEFAULT ''
);

CREATE TABLE users (
	name          TEXT    NOT NULL PRIMARY KEY,
	password_hash TEXT    NOT NULL,
	role          TEXT    NOT NULL,
	created_at    INTEGER NOT NULL
);

-- +goose Down
DROP TABLE users;
DROP TABLE changes;
DROP TABLE audit;
DROP TABLE history;
DROP TABLE inventories;
DROP TABLE reports;
DROP TABLE attempts;
DROP TABLE chassis;
DROP TABLE ports;
DROP TABLE nodes;
