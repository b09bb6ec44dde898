-- +goose Up
-- The audit is looked at by time, and its oldest lines are dropped.
CREATE INDEX audit_at ON audit (at);

-- +goose Down
DROP INDEX audit_at;
