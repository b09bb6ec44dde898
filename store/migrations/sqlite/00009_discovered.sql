-- +goose Up
-- Machines that report although no node is them. What is large stands apart, so that counting a report rewrites little.
CREATE TABLE discovered (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid      TEXT    NOT NULL UNIQUE,
	state     TEXT    NOT NULL,
	first_at  INTEGER NOT NULL,
	last_at   INTEGER NOT NULL,
	times     INTEGER NOT NULL,
	report_at INTEGER NOT NULL,
	size      INTEGER NOT NULL,
	address   TEXT    NOT NULL DEFAULT '',
	serial    TEXT    NOT NULL DEFAULT '',
	machine   TEXT    NOT NULL CHECK (json_valid(machine))
);
CREATE INDEX discovered_state ON discovered (state, last_at);
CREATE INDEX discovered_serial ON discovered (serial) WHERE serial <> '';

CREATE TABLE discovered_macs (
	uuid TEXT NOT NULL REFERENCES discovered (uuid) ON DELETE CASCADE,
	mac  TEXT NOT NULL,
	PRIMARY KEY (uuid, mac)
);
CREATE INDEX discovered_macs_mac ON discovered_macs (mac);

CREATE TABLE discovered_reports (
	uuid   TEXT NOT NULL PRIMARY KEY REFERENCES discovered (uuid) ON DELETE CASCADE,
	report BLOB NOT NULL,
	logs   BLOB
);

-- +goose Down
DROP TABLE discovered_reports;
DROP TABLE discovered_macs;
DROP TABLE discovered;
