package extension

import (
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/live"
)

// Event is one state change: the data of an event `state`. The ids of `state`, `power` and `bmc` grow together without reuse;
// a client that connects again with `Last-Event-ID` gets what it missed. The event `resync` says that this is more than is
// replayed, or that the id is unknown: read the nodes again. Comments keep the connection alive; a stream ends after half
// an hour at the latest.
type Event struct {
	Node    string     `json:"node"`
	From    node.State `json:"from"`
	To      node.State `json:"to"`
	Actor   Actor      `json:"actor"`
	At      *string    `json:"at"`
	Attempt *string    `json:"attempt"`
}

// PowerEvent is the data of an event `power`: the power of a server is another one than recorded, as a look at its BMC found.
type PowerEvent struct {
	Node string          `json:"node"`
	From node.PowerState `json:"from"`
	To   node.PowerState `json:"to"`
	At   *string         `json:"at"`
}

// BMCEvent is the data of an event `bmc`: a BMC cannot be used any more, and why, or can be used again.
type BMCEvent struct {
	Node      string  `json:"node"`
	Reachable bool    `json:"reachable"`
	Error     *string `json:"error"`
	At        *string `json:"at"`
}

func eventOf(c node.Change) any {
	switch {
	case c.Power != nil:
		return PowerEvent{Node: c.NodeUUID, From: c.Power.From, To: c.Power.To, At: instant(c.At)}
	case c.BMC != nil:
		return BMCEvent{Node: c.NodeUUID, Reachable: c.BMC.Reachable, Error: orNull(c.BMC.Error), At: instant(c.At)}
	}
	return Event{Node: c.NodeUUID, From: c.From, To: c.To, Actor: actorOf(c.Actor), At: instant(c.At), Attempt: orNull(c.AttemptID)}
}

func (a *api) events(c *fiber.Ctx) error {
	if err := eventsOperation().CheckQuery(web.Query(c), 0, nil); err != nil {
		return err
	}
	err := a.o.Hub.Changes(c, c.Get("Last-Event-ID"), func(ch node.Change) []byte {
		b, err := json.Marshal(eventOf(ch))
		if err != nil {
			return []byte("{}") // strings only: cannot happen
		}
		return b
	})
	if errors.Is(err, live.ErrFull) {
		return fiber.NewError(fiber.StatusServiceUnavailable, "There are as many event streams as allowed; try again later.")
	}
	return err
}
