-- +goose Up
-- Since when a node's BMC has not answered, and what it was that went wrong; 0 and '' while it answers.
ALTER TABLE nodes ADD COLUMN bmc_unreachable_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN bmc_error TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE nodes DROP COLUMN bmc_error;
ALTER TABLE nodes DROP COLUMN bmc_unreachable_since;
