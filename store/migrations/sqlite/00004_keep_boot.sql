-- +goose Up
ALTER TABLE attempts ADD COLUMN keep_boot BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE attempts DROP COLUMN keep_boot;
