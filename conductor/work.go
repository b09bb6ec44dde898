package conductor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cagenut/node"
)

// done is what Work returns for a job that is finished (store/jobs).
const done time.Duration = -1

// stepTime bounds what one step of a job may take of a BMC's or inspector's time; the queue ends it after 30 s.
const stepTime = 25 * time.Second

// Work does one step of a job. round counts the steps of it that came before.
func (c *Conductor) Work(ctx context.Context, j node.Job, round int) (time.Duration, error) {
	again, err := c.work(ctx, j, round)
	if errors.Is(err, node.ErrLost) {
		// Somebody else was first. The next step finds out what is still to be done.
		return 0, nil
	}
	if err != nil {
		c.Log.Error("job step failed, it is repeated", "job", j.Kind, "node", j.Node, "err", err)
		return done, err
	}
	return again, nil
}

func (c *Conductor) work(ctx context.Context, j node.Job, round int) (time.Duration, error) {
	switch j.Kind {
	case node.JobVerify:
		return c.workVerify(ctx, j)
	case node.JobStart:
		return c.workStart(ctx, j)
	case node.JobFinish:
		return c.workFinish(ctx, j)
	case node.JobCleanUp:
		return c.workCleanUp(ctx, j)
	case node.JobPower:
		return c.workPower(ctx, j, round)
	case node.JobMedium:
		return c.workMedium(ctx, j)
	case node.JobSettle:
		return c.workSettle(ctx, j)
	case node.JobReapply:
		return c.workReapply(ctx, j)
	case node.JobBulk:
		return c.workBulk(ctx, j)
	}
	return done, fmt.Errorf("unknown job %q", j.Kind)
}
