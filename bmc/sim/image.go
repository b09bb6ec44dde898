package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	// kernelLineStart is what the kernel parameters in an image's boot configuration are found by.
	kernelLineStart = "ipa-inspection-callback-url="
	// longestLine bounds how much of an image is kept while it is searched.
	longestLine = 16 << 10
	searchChunk = 64 << 10
)

// loadImage boots a virtual CD: it fetches the whole image, as a BMC does in pieces, and reads the kernel parameters out of the
// boot configuration in it. An image without any boots too; nothing is reported then.
func (s *Server) loadImage(d drive) loader {
	return func(ctx context.Context, web *http.Client) (bootPlan, error) {
		var err error
		for try := range fetchTries {
			if try > 0 && !pause(ctx, s.rack.options.RetryDelay/5) {
				break
			}
			var plan bootPlan
			var status int
			if plan, status, err = readImage(ctx, web, d); err == nil {
				if status != http.StatusOK {
					return bootPlan{}, fmt.Errorf("GET %s: HTTP status %d", withoutQuery(d.image), status)
				}
				return plan, nil
			}
		}
		return bootPlan{}, err
	}
}

func readImage(ctx context.Context, web *http.Client, d drive) (plan bootPlan, status int, err error) {
	p := &pieces{ctx: ctx, web: web, drive: d}
	defer p.close()
	parameters, err := findParameters(p)
	if p.refused != 0 {
		return bootPlan{}, p.refused, nil
	}
	return bootPlan{kernel: d.image, parameters: parameters}, http.StatusOK, err
}

// pieceSize is how much of an image a BMC asks for at once.
const pieceSize = 512 << 10

// pieces reads an image from its beginning to its end, piece by piece, or all at once from a server that does not give pieces.
type pieces struct {
	ctx     context.Context
	web     *http.Client
	drive   drive
	at      int64
	size    int64         // of the whole; 0: not known yet
	body    io.ReadCloser // the rest of a piece
	whole   bool
	refused int // the status of a server that gives nothing
}

func (p *pieces) Read(b []byte) (int, error) {
	for {
		if p.body == nil {
			if p.whole || (p.size > 0 && p.at >= p.size) {
				return 0, io.EOF
			}
			if err := p.next(); err != nil {
				return 0, err
			}
		}
		n, err := p.body.Read(b)
		p.at += int64(n)
		if err == io.EOF {
			p.close()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (p *pieces) next() error {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.drive.image, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "Simulated BMC")
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", p.at, p.at+pieceSize-1))
	if p.drive.user != "" {
		req.SetBasicAuth(p.drive.user, p.drive.password)
	}
	res, err := p.web.Do(req)
	if err != nil {
		return err
	}
	p.body = res.Body
	switch res.StatusCode {
	case http.StatusOK:
		p.whole = true
		if p.at == 0 {
			return nil
		}
		return errors.New("the image's server has stopped giving pieces")
	case http.StatusPartialContent:
		var from, to int64
		if _, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &p.size); err != nil || from != p.at || to < from {
			return fmt.Errorf("the image's server gave %q, asked for %d on", res.Header.Get("Content-Range"), p.at)
		}
		return nil
	}
	p.refused = res.StatusCode
	return errors.New("the image's server gives nothing")
}

func (p *pieces) close() {
	if p.body != nil {
		_ = p.body.Close()
		p.body = nil
	}
}

// findParameters reads an image to its end and returns the kernel parameters on the first line that has a callback.
func findParameters(image io.Reader) ([]string, error) {
	var found []string
	window := make([]byte, 0, longestLine+searchChunk)
	for {
		n, err := image.Read(window[len(window):cap(window)])
		window = window[:len(window)+n]
		last := err == io.EOF
		if err != nil && !last {
			return nil, err
		}
		if found == nil && (last || len(window) == cap(window)) {
			found = parametersIn(window)
		}
		if last {
			return found, nil
		}
		if len(window) == cap(window) { // keep the end: a line may lie across two windows
			window = window[:copy(window, window[len(window)-longestLine:])]
		}
	}
}

func parametersIn(window []byte) []string {
	at := bytes.Index(window, []byte(kernelLineStart))
	if at < 0 {
		return nil
	}
	ends := func(c byte) bool { return c == '\n' || c == '\r' || c == 0 }
	begin, end := at, at
	for begin > 0 && at-begin < longestLine && !ends(window[begin-1]) {
		begin--
	}
	for end < len(window) && !ends(window[end]) {
		end++
	}
	return strings.Fields(string(window[begin:end]))
}
