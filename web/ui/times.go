package ui

import (
	"fmt"
	"strings"
	"time"

	"cagenut/templates"
)

// words is a duration as people read it; live.js makes the same words.
func words(d time.Duration) string {
	s := max(0, int64(d.Round(time.Second)/time.Second))
	m, h := s/60, s/3600
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case m < 60:
		return fmt.Sprintf("%d m %02d s", m, s%60)
	case h < 24:
		return fmt.Sprintf("%d h %02d m", h, m%60)
	}
	return fmt.Sprintf("%d d %d h", h/24, h%24)
}

func moment(t time.Time, kind, text string) templates.Time {
	if t.IsZero() {
		return templates.Time{}
	}
	t = t.UTC()
	return templates.Time{Exact: t.Format(time.RFC3339), Title: t.Format("2006-01-02 15:04:05 UTC"), Text: text, Kind: kind}
}

// lasting is how long something has been so.
func (p *Pages) lasting(t time.Time) templates.Time { return moment(t, "for", words(p.o.Now().Sub(t))) }

// past is how long ago something was.
func (p *Pages) past(t time.Time) templates.Time {
	return moment(t, "ago", words(p.o.Now().Sub(t)))
}

// coming is how soon something will be.
func (p *Pages) coming(t time.Time) templates.Time {
	return moment(t, "in", words(t.Sub(p.o.Now())))
}

// clock is a time of day in a sentence.
func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// since is a time in a sentence: of today its time of day alone.
func (p *Pages) since(t time.Time) string {
	if now := p.o.Now().UTC(); now.YearDay() == t.UTC().YearDay() && now.Year() == t.UTC().Year() {
		return clock(t)
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// shortStamp is a time in a column whose heading says that it is in UTC; of today its time of day alone.
func (p *Pages) shortStamp(t time.Time) string { return strings.TrimSuffix(p.since(t), " UTC") }
