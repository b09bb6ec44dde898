package ipmi

import (
	"context"
	"errors"
	"fmt"

	"github.com/bougou/go-ipmi/pkg/command/storage"
	"github.com/bougou/go-ipmi/pkg/types"
)

// Bounds of reading a repository, against BMCs whose records lead in circles and whose reservations others always take.
const (
	mostRecords = 2048
	mostLost    = 16
	firstChunk  = 32 // bytes that are asked for at once
	leastChunk  = 8
)

// repository is what a BMC says of its sensors. It does not change.
type repository struct {
	stamp   stamp
	sensors []sensorRecord
}

// stamp tells whether a repository has changed since.
type stamp struct {
	records       uint16
	added, erased int64
}

// repositoryWalk reads a repository, over several sessions if need be.
type repositoryWalk struct {
	begun       bool
	stamp       stamp
	next        uint16
	reservation uint16
	lost        int
	seen        int
	chunk       int
	found       []sensorRecord
	done        *repository
}

// run goes on until w.done is there. What an earlier walk found is taken if the repository has not changed since, also if that
// did not come to its end: slow BMCs take longer than the caller of one walk has time.
func (w *repositoryWalk) run(ctx context.Context, c *client, s *session) error {
	for w.done == nil {
		if !w.begun {
			if err := w.begin(ctx, c, s); err != nil || w.done != nil {
				return err
			}
		}
		if err := w.step(ctx, s); err != nil {
			c.driver.keepUnfinished(c.address(), *w)
			return err
		}
		if w.done != nil {
			c.driver.keepSensors(c.address(), w.done)
		}
		if err := s.tired(); err != nil {
			return err
		}
	}
	return nil
}

func (w *repositoryWalk) begin(ctx context.Context, c *client, s *session) error {
	now, err := readStamp(ctx, s)
	if err != nil {
		return err
	}
	if known := c.driver.sensorsOf(c.address()); known != nil && known.stamp == now {
		w.done = known
		return nil
	}
	if before := c.driver.unfinishedOf(c.address()); w.lost == 0 && before.begun && before.stamp == now {
		*w = before
		w.lost = 0
		return w.reserve(ctx, s)
	}
	*w = repositoryWalk{begun: true, stamp: now, lost: w.lost, chunk: firstChunk}
	if now.records == 0 {
		w.finish()
		return nil
	}
	return w.reserve(ctx, s)
}

func (w *repositoryWalk) finish() { w.done = &repository{stamp: w.stamp, sensors: w.found} }

func readStamp(ctx context.Context, s *session) (stamp, error) {
	info, err := s.GetSDRRepoInfo(ctx)
	if err != nil {
		return stamp{}, err
	}
	return stamp{records: info.RecordCount, added: info.MostRecentAdditionTime.Unix(), erased: info.MostRecentEraseTime.Unix()}, nil
}

// reserve takes a reservation; a BMC that has none is read without.
func (w *repositoryWalk) reserve(ctx context.Context, s *session) error {
	r, err := s.ReserveSDRRepo(ctx)
	if refused(err) {
		w.reservation = 0
		return nil
	}
	if err == nil {
		w.reservation = r.ReservationID
	}
	return err
}

// step reads one record. A lost reservation is taken again; if the repository has changed meanwhile, so that records may have
// moved, all begins anew.
func (w *repositoryWalk) step(ctx context.Context, s *session) error {
	next, data, err := w.read(ctx, s, w.next)
	switch cc, _ := code(err); {
	case cc == types.CodeReservationCanceled, cc == types.CodeRequestedDataNotPresent && w.next != 0:
		return w.recover(ctx, s, err)
	case cc == types.CodeRequestedDataNotPresent:
		w.finish()
		return nil
	case err != nil:
		return err
	}
	w.found = append(w.found, decodeSensors(data)...)
	w.seen++
	if next == 0xffff || next == w.next || w.seen == mostRecords {
		w.finish()
	}
	w.next = next
	return nil
}

func (w *repositoryWalk) recover(ctx context.Context, s *session, why error) error {
	if w.lost++; w.lost > mostLost {
		return why
	}
	now, err := readStamp(ctx, s)
	if err != nil {
		return err
	}
	if cc, _ := code(why); now != w.stamp || cc == types.CodeRequestedDataNotPresent {
		w.begun = false
		return nil
	}
	return w.reserve(ctx, s)
}

// read reads a record in pieces, as many BMCs cannot send one as a whole. Of records that are not of sensors the header is enough.
func (w *repositoryWalk) read(ctx context.Context, s *session, id uint16) (next uint16, data []byte, err error) {
	next, data, err = w.piece(ctx, s, id, 0, headerLength)
	if err != nil {
		return 0, nil, err
	}
	if len(data) < headerLength {
		return 0, nil, fmt.Errorf("sensor record %d: %w", id, errCut)
	}
	if data[3] != fullRecord && data[3] != compactRecord {
		return next, data, nil
	}
	for total := min(headerLength+int(data[4]), longestRecord); len(data) < total; {
		_, piece, err := w.piece(ctx, s, id, len(data), min(w.chunk, total-len(data)))
		if w.chunk > leastChunk && refusedLength(err) {
			w.chunk /= 2
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		if len(piece) == 0 {
			return next, nil, nil // shorter than it says: no record that could be used
		}
		data = append(data, piece...)
	}
	return next, data, nil
}

var errCut = errors.New("the answer is cut short")

func (w *repositoryWalk) piece(ctx context.Context, s *session, id uint16, offset, count int) (uint16, []byte, error) {
	q := &storage.GetSDRRequest{ReservationID: w.reservation, RecordID: id, ReadOffset: uint8(offset), ReadBytes: uint8(count)}
	a := &storage.GetSDRResponse{}
	if err := s.Exchange(ctx, q, a); err != nil {
		return 0, nil, err
	}
	return a.NextRecordID, a.RecordData[:min(count, len(a.RecordData))], nil
}
