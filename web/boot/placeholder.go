package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// Placeholder begins the place in an image's boot configuration that is overwritten with an attempt's kernel parameters;
	// underscores follow, which give it its length. It is one word of a kernel's command line, so that an image which nobody
	// has filled boots all the same.
	Placeholder = "cagenut-parameters="
	// ShortestPlaceholder is how many bytes it has at least, the word included. What is shorter is text about it.
	ShortestPlaceholder = 128
	// mostPlaces bounds how many one image may have: one per menu entry of each boot loader.
	mostPlaces = 256

	scanChunk = 1 << 20
)

// place is where a placeholder lies in an image.
type place struct{ at, length int64 }

// scan looks for placeholders from the beginning of an image to its end. It may be interrupted and gone on with.
type scan struct {
	next   int64   // the first byte that has not been looked at
	places []place // those that are long enough, and as the last one that of the end of what was read, if open
	open   bool    // whether the last one may go on
	done   bool
}

// errPlaces says that an image is no sensible one.
var errPlaces = fmt.Errorf("it has more than %d placeholders for kernel parameters", mostPlaces)

// run reads on until the image or the context ends. Nothing but one chunk of the image is kept in memory.
func (s *scan) run(ctx context.Context, image io.ReaderAt) error {
	buf := make([]byte, scanChunk)
	for !s.done {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A placeholder's first word may lie across two chunks: the end of the one before is read again.
		from := s.next
		if !s.open {
			from = max(0, s.next-int64(len(Placeholder)-1))
		}
		n, err := image.ReadAt(buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := s.feed(buf[:n], from); err != nil {
			return err
		}
		s.done = err != nil
	}
	s.shut()
	return nil
}

// feed looks at what lies in the image from a place on.
func (s *scan) feed(b []byte, from int64) error {
	s.next = from + int64(len(b))
	i := 0
	if s.open {
		i = underscores(b)
		s.places[len(s.places)-1].length += int64(i)
		if i == len(b) {
			return nil
		}
		s.shut()
	}
	for {
		found := bytes.Index(b[i:], []byte(Placeholder))
		if found < 0 {
			return nil
		}
		begin := i + found
		end := begin + len(Placeholder)
		end += underscores(b[end:])
		if s.places = append(s.places, place{from + int64(begin), int64(end - begin)}); len(s.places) > mostPlaces {
			return errPlaces
		}
		if s.open = end == len(b); s.open {
			return nil
		}
		s.shut()
		i = end
	}
}

func underscores(b []byte) int {
	n := 0
	for n < len(b) && b[n] == '_' {
		n++
	}
	return n
}

// shut drops the last place where it has come out too short.
func (s *scan) shut() {
	s.open = false
	if last := len(s.places) - 1; last >= 0 && s.places[last].length < ShortestPlaceholder {
		s.places = s.places[:last]
	}
}

// room is how long parameters may be: the shortest placeholder decides. ok is false where there is none.
func (s *scan) room() (n int64, ok bool) {
	for i, p := range s.places {
		if i == 0 || p.length < n {
			n = p.length
		}
	}
	return n, len(s.places) > 0
}

// filled is a stretch of an image with its placeholders overwritten, as it is read.
type filled struct {
	image  io.Reader
	at     int64 // where in the image the next byte lies
	places []place
	text   string // padded with blanks
}

func (f *filled) Read(b []byte) (int, error) {
	n, err := f.image.Read(b)
	for _, p := range f.places {
		from, to := max(p.at, f.at), min(p.at+p.length, f.at+int64(n))
		for k := from; k < to; k++ {
			c := byte(' ')
			if i := k - p.at; i < int64(len(f.text)) {
				c = f.text[i]
			}
			b[k-f.at] = c
		}
	}
	f.at += int64(n)
	return n, err
}
