-- +goose Up
-- How a server is, since when, and what of that the looks of the power sync see; '' while nobody knows.
ALTER TABLE nodes ADD COLUMN health TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN health_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN health_seen TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE nodes DROP COLUMN health_seen;
ALTER TABLE nodes DROP COLUMN health_at;
ALTER TABLE nodes DROP COLUMN health;
