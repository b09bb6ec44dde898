package ipmi

import (
	"context"
	"slices"

	"github.com/bougou/go-ipmi/pkg/command/storage"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// Record IDs that mean a place, §31.5.
const (
	firstEntry = 0x0000
	lastEntry  = 0xffff
)

const (
	entryLength = 16
	// mostGaps is how many numbers may be missing between two entries before the log is read from its other end.
	mostGaps = 8
)

// Events reads the system event log. Its entries name their sensor if the BMC tells what sensors it has.
func (c *client) Events(ctx context.Context, limit int) ([]node.LogEntry, error) {
	w := &eventWalk{limit: limit}
	err := c.walk(ctx, "event log", func(ctx context.Context, s *session) error { return waitForErasure(w.run(ctx, c, s)) })
	if err != nil {
		return nil, err
	}
	names := map[[2]byte]sensorRecord{}
	if w.repository.done != nil {
		for _, r := range w.repository.done.sensors {
			names[[2]byte{r.owner, r.number}] = r
		}
	}
	all := make([]node.LogEntry, 0, len(w.entries))
	for _, e := range w.entries {
		all = append(all, describe(e, names))
	}
	return all, nil
}

// entry is a log entry as the BMC sends it, with the ID of the one after it.
type entry struct {
	data []byte
	next uint16
}

func (e entry) id() uint16 { return uint16(e.data[0]) | uint16(e.data[1])<<8 }

// eventWalk reads the log, over several sessions if need be. IPMI can only say which entry comes after another. IDs need not be
// consecutive, but they mostly are: so the newest entries are looked for downwards from the last, as long as each says that the
// one found before it is next. Where that fails, the whole log is read.
type eventWalk struct {
	limit      int
	repository repositoryWalk
	nameless   bool // the BMC does not tell its sensors
	counted    bool
	count      int // entries at the beginning
	forward    bool
	id         uint16
	gaps       int
	entries    []entry // newest first; while reading forward oldest first
	done       bool
}

func (w *eventWalk) run(ctx context.Context, c *client, s *session) error {
	if w.repository.done == nil && !w.nameless {
		err := w.repository.run(ctx, c, s)
		w.nameless = refused(err)
		if err != nil && !w.nameless {
			return err
		}
	}
	if !w.counted {
		info, err := s.GetSELInfo(ctx)
		if err != nil {
			return err
		}
		w.counted, w.count = true, int(info.Entries)
		w.forward = w.limit <= 0 || w.limit >= w.count
		if w.id = lastEntry; w.forward {
			w.id = firstEntry
		}
		w.done = w.count == 0
	}
	for !w.done {
		step := w.down
		if w.forward {
			step = w.up
		}
		if err := step(ctx, s); err != nil {
			return err
		}
		if err := s.tired(); err != nil {
			return err
		}
	}
	return nil
}

// up reads the next newer entry. Entries may have been added since they were counted; some more are taken, not all there ever
// will be.
func (w *eventWalk) up(ctx context.Context, s *session) error {
	e, there, err := read(ctx, s, w.id)
	if err != nil {
		return err
	}
	if there {
		w.entries = append(w.entries, e)
	}
	if w.done = !there || e.next == lastEntry || e.next == w.id || e.next == firstEntry || len(w.entries) >= w.count+100; !w.done {
		w.id = e.next
		return nil
	}
	slices.Reverse(w.entries)
	if w.limit > 0 && len(w.entries) > w.limit {
		w.entries = w.entries[:w.limit]
	}
	return nil
}

// down reads the next older entry.
func (w *eventWalk) down(ctx context.Context, s *session) error {
	e, there, err := read(ctx, s, w.id)
	if err != nil {
		return err
	}
	n := len(w.entries)
	switch {
	case !there && n > 0 && w.gaps < mostGaps && w.id > firstEntry+1:
		w.gaps++
		w.id--
		return nil
	case !there, n > 0 && e.next != w.entries[n-1].id():
		w.forward, w.entries, w.id = true, nil, firstEntry
		return nil
	}
	w.entries = append(w.entries, e)
	w.gaps = 0
	w.id = e.id() - 1
	if w.done = len(w.entries) == w.limit; !w.done && w.id == firstEntry {
		w.forward, w.entries = true, nil // there must be more, elsewhere
	}
	return nil
}

// read reads an entry; there is false where there is none of that ID.
func read(ctx context.Context, s *session, id uint16) (e entry, there bool, err error) {
	q := &storage.GetSELEntryRequest{RecordID: id, ReadBytes: 0xff}
	a := &storage.GetSELEntryResponse{}
	err = s.Exchange(ctx, q, a)
	switch cc, _ := code(err); {
	case cc == types.CodeRequestedDataNotPresent:
		return entry{}, false, nil
	case err != nil:
		return entry{}, false, err
	case len(a.Data) < entryLength:
		return entry{}, false, errCut
	}
	return entry{data: a.Data, next: a.NextRecordID}, true, nil
}

// waitForErasure makes a busy BMC of one that is erasing its log, which has a code of its own.
func waitForErasure(err error) error {
	if cc, _ := code(err); cc == types.CodeSELEraseInProgress {
		return types.NewResponseError(types.CodeNodeBusy, "the log is being erased")
	}
	return err
}

// ClearLog empties the log and waits until the BMC has done so.
func (c *client) ClearLog(ctx context.Context) error {
	lost := 0
	begun := false
	return c.walk(ctx, "clear event log", func(ctx context.Context, s *session) error {
		for {
			var reservation uint16
			r, err := s.ReserveSEL(ctx)
			if err == nil {
				reservation = r.ReservationID
			} else if !refused(err) { // a BMC without reservations is asked without
				return err
			}
			err = waitForErasure(c.erase(ctx, s, reservation, &begun))
			if cc, _ := code(err); cc != types.CodeReservationCanceled || lost == mostLost {
				return err
			}
			lost++
		}
	})
}

// erase begins, unless that has been done, and asks how far the BMC is.
func (c *client) erase(ctx context.Context, s *session, reservation uint16, begun *bool) error {
	for {
		q := &storage.ClearSELRequest{ReservationID: reservation, GetErasureStatusFlag: *begun}
		a := &storage.ClearSELResponse{}
		err := s.Exchange(ctx, q, a)
		if *begun && unsupported(err) {
			return nil // it has begun, and cannot tell how far it is
		}
		if err != nil {
			return err
		}
		*begun = true
		if a.ErasureProgressStatus&0x0f == 1 {
			return nil
		}
		if err := sleep(ctx, c.driver.options.Poll); err != nil {
			return err
		}
		if err := s.tired(); err != nil {
			return err
		}
	}
}
