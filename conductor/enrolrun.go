package conductor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"cagenut/node"
)

const (
	// MostEnrolled is how many servers one run may enrol.
	MostEnrolled = 5000
	// runsKept is how many runs are remembered, the newest ones.
	runsKept = 20
)

// EnrolLine is one server of a run.
type EnrolLine struct {
	Enrolment
	Label string // what people call it: its line, its BMC
	// Find is the key of the find that it is, in the search of the run.
	Find string
}

// EnrolRun is what is known of the enrolment of many at a moment.
type EnrolRun struct {
	ID        string
	By        node.Actor
	Search    string // the search whose finds they are; "" for those of a list
	StartedAt time.Time
	EndedAt   time.Time // zero while it runs
	Total     int
	Results   []EnrolResult // in the order of the lines, as far as they are done
}

// EnrolResult is what came of one line.
type EnrolResult struct {
	Label   string
	UUID    string // of the node; "" where there is none
	Name    string // its label
	Exists  bool   // it was not made because it is there already
	Refused string // why there is no node, as a sentence; "" where it was made
	Notes   []string
}

type enrolRun struct {
	mu    sync.Mutex
	r     EnrolRun
	lines []EnrolLine // with passwords: they go as soon as they are done
	told  time.Time
}

// EnrolMany begins to enrol servers one after the other, in the background, and returns the id of the run. One that is
// refused stops none of the others. search names the search whose finds they are, or is "".
func (e *Enroller) EnrolMany(actor node.Actor, search string, lines []EnrolLine) (string, error) {
	if len(lines) == 0 || len(lines) > MostEnrolled {
		return "", node.Invalidf("Between one server and %d are enrolled at a time.", MostEnrolled)
	}
	r := &enrolRun{r: EnrolRun{ID: node.NewUUID(), By: actor, Search: search, StartedAt: e.c.Clock.Now(), Total: len(lines)}, lines: slices.Clone(lines)}
	if err := e.begin(func(ctx context.Context) { e.enrolAll(ctx, r) }); err != nil {
		return "", err // nothing of it is kept, no password either
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs = append(e.runs, r)
	if len(e.runs) > runsKept { // the oldest that nobody waits for
		i := max(0, slices.IndexFunc(e.runs, func(old *enrolRun) bool { return !old.snapshot().EndedAt.IsZero() }))
		e.runs = slices.Delete(e.runs, i, i+1)
	}
	return r.r.ID, nil
}

// EnrolRun is what is known of a run now; *node.NotFound for one that is not remembered.
func (e *Enroller) EnrolRun(id string) (EnrolRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		if r.r.ID == id {
			return r.snapshot(), nil
		}
	}
	return EnrolRun{}, &node.NotFound{What: "Enrolment", Ident: id}
}

func (e *Enroller) enrolAll(ctx context.Context, r *enrolRun) {
	for i := range r.lines {
		if ctx.Err() != nil {
			break // what is not done is not done: the page says how far it came
		}
		result := e.enrolLine(ctx, r, r.lines[i])
		r.lines[i] = EnrolLine{}
		if r.add(result, e.c.Clock.Now()) {
			e.Announce(r.r.ID)
		}
	}
	r.end(e.c.Clock.Now())
	e.Announce(r.r.ID)
}

func (e *Enroller) enrolLine(ctx context.Context, r *enrolRun, l EnrolLine) EnrolResult {
	e.making.Lock()
	defer e.making.Unlock()
	out := EnrolResult{Label: l.Label, Name: l.Node.Name}
	there, err := e.isThere(ctx, l.Node)
	if err != nil {
		out.Refused = "Nobody knows whether it is there already: " + err.Error()
		return out
	}
	if there != nil {
		out.Exists, out.Refused, out.UUID, out.Name = true, alreadyThere(*there), there.UUID, there.Name
		return out
	}
	made, err := e.Enrol(ctx, r.r.By, l.Enrolment)
	if err != nil {
		out.Refused = err.Error()
		return out
	}
	out.UUID, out.Name, out.Notes = made.Node.UUID, made.Node.Label(), made.Notes
	if s, err := e.searchOf(r.r.Search); r.r.Search != "" && err == nil {
		s.became(l.Find, Twin{Kind: SameBMC, UUID: out.UUID, Name: out.Name})
	}
	return out
}

// isThere is the node that a server is already, by its name or its BMC; nil for none.
func (e *Enroller) isThere(ctx context.Context, n node.Node) (*Twin, error) {
	if n.Name != "" {
		switch found, err := e.c.Nodes.Node(ctx, n.Name); {
		case err == nil && found.Name == n.Name:
			return &Twin{UUID: found.UUID, Name: found.Name}, nil
		case err != nil && !missing(err):
			return nil, err
		}
	}
	same, err := e.behind(ctx, n)
	if err != nil || len(same) == 0 {
		return nil, err
	}
	return &Twin{Kind: SameBMC, UUID: same[0].UUID, Name: same[0].Label()}, nil
}

func alreadyThere(t Twin) string {
	if t.Kind == SameBMC {
		return fmt.Sprintf("Its BMC is that of node %s already.", t.Name)
	}
	return fmt.Sprintf("There is a node %s already.", t.Name)
}

// add keeps a result, and tells whether it is time to say so.
func (r *enrolRun) add(result EnrolResult, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.r.Results = append(r.r.Results, result)
	if now.Sub(r.told) < newsPause {
		return false
	}
	r.told = now
	return true
}

func (r *enrolRun) end(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.r.EndedAt = now
}

func (r *enrolRun) snapshot() EnrolRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.r
	now.Results = slices.Clone(r.r.Results)
	return now
}
