-- +goose Up
-- Since when a node's BMC has not answered, and what it was that went wrong; 0 and '' while it answers.
ALTER TABLE nodes ADD COLUMN bmc_unreachable_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN bmc_error TEXT NOT NULL DEFAULT '';
-- By these a power state that somebody changed at the machine is told from one that the appliance changed.
ALTER TABLE nodes ADD COLUMN moved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN power_asked TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN power_asked_at INTEGER NOT NULL DEFAULT 0;

-- A node's turn in the power sync. Multiples of the golden section spread any run of ids evenly over the interval.
DROP INDEX nodes_power_checked;
CREATE INDEX nodes_turn ON nodes ((id * 40503) & 65535);

-- Beside changes of the provision state ('state'), those of the power ('power') and of whether the BMC answers ('bmc').
ALTER TABLE changes ADD COLUMN kind TEXT NOT NULL DEFAULT 'state';
ALTER TABLE changes ADD COLUMN error TEXT NOT NULL DEFAULT '';

-- +goose Down
DELETE FROM changes WHERE kind <> 'state';
ALTER TABLE changes DROP COLUMN error;
ALTER TABLE changes DROP COLUMN kind;
DROP INDEX nodes_turn;
CREATE INDEX nodes_power_checked ON nodes (power_checked_at);
ALTER TABLE nodes DROP COLUMN power_asked_at;
ALTER TABLE nodes DROP COLUMN power_asked;
ALTER TABLE nodes DROP COLUMN moved;
ALTER TABLE nodes DROP COLUMN bmc_error;
ALTER TABLE nodes DROP COLUMN bmc_unreachable_since;
