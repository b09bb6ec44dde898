-- +goose Up
-- Login sessions at BMCs, so that the next run uses or ends what this one leaves open. The secret is sealed.
CREATE TABLE bmc_sessions (
    id         TEXT PRIMARY KEY,
    address    TEXT NOT NULL,
    secret     TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

-- +goose Down
DROP TABLE bmc_sessions;
