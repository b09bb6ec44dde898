package sim

import (
	"bytes"
	"context"
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.image, nil)
	if err != nil {
		return bootPlan{}, 0, err
	}
	req.Header.Set("User-Agent", "Simulated BMC")
	if d.user != "" {
		req.SetBasicAuth(d.user, d.password)
	}
	res, err := web.Do(req)
	if err != nil {
		return bootPlan{}, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	parameters, err := findParameters(res.Body)
	return bootPlan{kernel: d.image, parameters: parameters}, res.StatusCode, err
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
