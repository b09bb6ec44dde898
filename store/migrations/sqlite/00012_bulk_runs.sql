-- +goose Up
-- One action on many nodes, and what came of each.
CREATE TABLE bulk_runs (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid          TEXT    NOT NULL UNIQUE,
	action        TEXT    NOT NULL,
	actor         TEXT    NOT NULL CHECK (json_valid(actor)),
	reason        TEXT    NOT NULL DEFAULT '',
	keep_power_on INTEGER NOT NULL DEFAULT 0,
	retry_of      TEXT    NOT NULL DEFAULT '',
	started_at    INTEGER NOT NULL,
	ended_at      INTEGER NOT NULL DEFAULT 0,
	pending       INTEGER NOT NULL,
	done          INTEGER NOT NULL DEFAULT 0,
	refused       INTEGER NOT NULL DEFAULT 0
);

-- The nodes may be gone by the time that somebody reads this, so their names are here.
CREATE TABLE bulk_results (
	run_id     INTEGER NOT NULL REFERENCES bulk_runs (id) ON DELETE CASCADE,
	position   INTEGER NOT NULL,
	node_uuid  TEXT    NOT NULL DEFAULT '',
	name       TEXT    NOT NULL DEFAULT '',
	place      TEXT    NOT NULL DEFAULT '',
	attempt_id TEXT    NOT NULL DEFAULT '',
	state      TEXT    NOT NULL,
	refusal    TEXT    NOT NULL DEFAULT '',
	why        TEXT    NOT NULL DEFAULT '',
	at         INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE INDEX bulk_results_state ON bulk_results (run_id, state, position);

-- +goose Down
DROP TABLE bulk_results;
DROP TABLE bulk_runs;
