-- +goose Up
-- Who is signed in at the dashboard. The id is the hash of what the browser's cookie holds; the proof is a digest of the
-- user's password hash and role at the time of signing in: a session counts only while it is still the same.
CREATE TABLE ui_sessions (
	id         TEXT    NOT NULL PRIMARY KEY,
	user_name  TEXT    NOT NULL,
	proof      TEXT    NOT NULL,
	address    TEXT    NOT NULL DEFAULT '',
	agent      TEXT    NOT NULL DEFAULT '',
	created_at INTEGER NOT NULL,
	used_at    INTEGER NOT NULL
);
CREATE INDEX ui_sessions_user ON ui_sessions (user_name, created_at);
ALTER TABLE users ADD COLUMN signed_in_at INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE users DROP COLUMN signed_in_at;
DROP TABLE ui_sessions;
