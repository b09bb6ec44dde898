package extension

import (
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// Attempt is one inspection. Null times have not come yet; durations are seconds.
type Attempt struct {
	ID        string        `json:"id"`
	Number    int64         `json:"number"` // grows from attempt to attempt, over all nodes
	Node      string        `json:"node"`
	Interface string        `json:"interface"`
	State     node.RunState `json:"state"`
	Step      *string       `json:"step"`
	Outcome   *node.Outcome `json:"outcome"` // succeeded, failed, aborted, timed out; null while it runs
	Started   Moment        `json:"started"`
	WaitingAt *string       `json:"waiting_at"`
	ReportAt  *string       `json:"report_at"`
	Ended     *Moment       `json:"ended"`
	Reason    *string       `json:"reason"`
	Error     *string       `json:"error"`
	Proof     *node.Proof   `json:"proof"` // proven, not proven; null before any report
	Notes     []string      `json:"notes"`
	CleanUp   *CleanUp      `json:"clean_up"`
	// Divergence is what a foreign inspector still does although the attempt is over.
	Divergence *string   `json:"divergence"`
	Durations  Durations `json:"durations"`
}

// Moment is when something was done, and by whom.
type Moment struct {
	At    *string `json:"at"`
	Actor Actor   `json:"actor"`
}

// CleanUp is what followed the end of an attempt.
type CleanUp struct {
	State       node.CleanUpState `json:"state"` // pending, done, given up, cancelled
	Tries       int               `json:"tries"`
	Error       *string           `json:"error"`
	KeepPowerOn bool              `json:"keep_power_on"`
}

// Durations are the lengths of an attempt's parts; null for a part that is not over.
type Durations struct {
	Start   *float64 `json:"start"`   // until it waited for the ramdisk
	Wait    *float64 `json:"wait"`    // until the report, or until the end without one
	Process *float64 `json:"process"` // from the report to the end
	Total   *float64 `json:"total"`
}

func attemptOf(a node.Attempt) Attempt {
	out := Attempt{
		ID: a.ID, Number: a.Number, Node: a.NodeUUID, Interface: a.Interface, State: a.State, Step: orNull(a.Step), Outcome: orNull(a.Outcome),
		Started: Moment{At: instant(a.StartedAt), Actor: actorOf(a.Started)}, WaitingAt: instant(a.WaitingAt), ReportAt: instant(a.ReportAt),
		Reason: orNull(a.Reason), Error: orNull(a.Error), Proof: orNull(a.Proof), Notes: a.Notes, Divergence: orNull(a.Divergence), Durations: durationsOf(a),
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	if !a.EndedAt.IsZero() {
		out.Ended = &Moment{At: instant(a.EndedAt), Actor: actorOf(a.Ended)}
	}
	if a.CleanUp != "" {
		out.CleanUp = &CleanUp{State: a.CleanUp, Tries: a.CleanUpTries, Error: orNull(a.CleanUpError), KeepPowerOn: a.KeepPowerOn}
	}
	return out
}

func durationsOf(a node.Attempt) Durations {
	waited := a.ReportAt
	if waited.IsZero() {
		waited = a.EndedAt
	}
	return Durations{Start: between(a.StartedAt, a.WaitingAt), Wait: between(a.WaitingAt, waited), Process: between(a.ReportAt, a.EndedAt), Total: between(a.StartedAt, a.EndedAt)}
}

func between(from, to time.Time) *float64 {
	if from.IsZero() || to.IsZero() {
		return nil
	}
	s := to.Sub(from).Round(time.Millisecond).Seconds()
	return &s
}

type attemptList struct {
	Attempts []Attempt `json:"attempts"`
	// Next is the address of the next page; absent on the last.
	Next string `json:"next,omitempty"`
}

const attemptsMost = 1000

// limitOf is how many a page of a list shows: ?limit=, which has been checked, 50 without it, and most at the most.
func limitOf(q url.Values, most int) int {
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil {
		limit = 50
	}
	return min(limit, most)
}

// attempts lists a node's inspections: ?limit= (50, at most 1000) and ?marker= (the last id of the page before).
func (a *api) attempts(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	q := web.Query(c)
	if err := attemptsOperation().CheckQuery(q, 0, nil); err != nil {
		return err
	}
	limit := limitOf(q, attemptsMost)
	n, err := a.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	found, err := a.o.Store.Attempts(c.UserContext(), node.RunFilter{NodeUUID: n.UUID, Marker: q.Get("marker"), Limit: limit + 1})
	if err != nil {
		return err
	}
	out := attemptList{Attempts: []Attempt{}}
	if len(found) > limit {
		found = found[:limit]
		out.Next = web.BaseURL(c, a.o.PublicURL) + "/cagenut/v1/nodes/" + n.UUID + "/attempts?limit=" + strconv.Itoa(limit) + "&marker=" + found[limit-1].ID
	}
	for _, f := range found {
		out.Attempts = append(out.Attempts, attemptOf(f))
	}
	return c.JSON(out)
}
