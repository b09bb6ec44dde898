-- +goose Up
-- Conditions and actions are sealed as a whole: among what a rule sets are passwords, and nothing marks them.
CREATE TABLE inspection_rules (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	uuid        TEXT    NOT NULL UNIQUE,
	description TEXT    NOT NULL DEFAULT '',
	priority    INTEGER NOT NULL DEFAULT 0,
	phase       TEXT    NOT NULL,
	sensitive   BOOLEAN NOT NULL DEFAULT FALSE,
	conditions  TEXT    NOT NULL,
	actions     TEXT    NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL DEFAULT 0,
	version     INTEGER NOT NULL DEFAULT 0
);

-- +goose Down
DROP TABLE inspection_rules;
