package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	scriptLimit = 64 << 10
	fetchTries  = 3
	reportTries = 5
	// oneTry bounds a request of the ramdisk, as the agent does.
	oneTry = 30 * time.Second
)

// loader fetches what a server boots.
type loader func(ctx context.Context, web *http.Client) (bootPlan, error)

// bootRamdisk is a server's life from the boot to its report; ctx ends when it is switched off.
func (s *Server) bootRamdisk(ctx context.Context, load loader, enter func(Phase)) {
	log := s.rack.options.Log.With("server", s.Name)
	transport := &http.Transport{DisableKeepAlives: true}
	web := &http.Client{Transport: transport, Timeout: oneTry}
	plan, err := load(ctx, web)
	if err != nil {
		if ctx.Err() == nil {
			log.Warn("boot failed, booting from disk", "error", withoutAddress(err))
			enter(PhaseDisk)
		}
		return
	}
	enter(PhaseRamdisk)
	log.Info("the ramdisk runs")
	defer enter(PhaseDone)
	spread := 2.0/3 + s.hardware.pulse*2/3
	if !pause(ctx, time.Duration(float64(s.rack.options.ReportDelay)*spread)) {
		return
	}
	select {
	case <-s.reportGate():
	case <-ctx.Done():
		return
	}
	callback := plan.parameter("ipa-inspection-callback-url")
	if callback == "" {
		log.Warn("the kernel line has no ipa-inspection-callback-url: nothing is reported")
		return
	}
	status, err := s.post(ctx, web, callback)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("the report did not get through", "error", withoutAddress(err))
	default:
		log.Info("the report was answered", "status", status)
	}
}

// loadBoot gets the boot script, the scripts that it leads to, the kernel and the initial RAM disks.
func (s *Server) loadBoot(ctx context.Context, web *http.Client) (bootPlan, error) {
	base := s.rack.currentBootURL()
	if base == "" {
		return bootPlan{}, errors.New("DHCP names no boot server")
	}
	next := strings.TrimRight(base, "/") + "/boot.ipxe?mac=" + url.QueryEscape(s.BootMAC)
	for range 4 {
		u, err := url.Parse(next)
		if err != nil {
			return bootPlan{}, err
		}
		script, err := s.fetch(ctx, web, next, scriptLimit)
		if err != nil {
			return bootPlan{}, err
		}
		plan, err := readScript(u, script, s.BootMAC)
		if err != nil {
			return bootPlan{}, err
		}
		if plan.chain != "" {
			next = plan.chain
			continue
		}
		for _, file := range append([]string{plan.kernel}, plan.initrds...) {
			if _, err := s.fetch(ctx, web, file, 0); err != nil {
				return bootPlan{}, err
			}
		}
		return plan, nil
	}
	return bootPlan{}, errors.New("the boot scripts lead in a circle")
}

// fetch gets a file, keeping at most the first bytes of it. It repeats lost connections, as firmware does, not refusals.
func (s *Server) fetch(ctx context.Context, web *http.Client, address string, keep int64) (string, error) {
	var err error
	for try := range fetchTries {
		if try > 0 && !pause(ctx, s.rack.options.RetryDelay/5) {
			break
		}
		var body string
		var status int
		if body, status, err = get(ctx, web, address, keep); err == nil {
			if status != http.StatusOK {
				return "", fmt.Errorf("GET %s: HTTP status %d", withoutQuery(address), status)
			}
			return body, nil
		}
	}
	return "", err
}

func get(ctx context.Context, web *http.Client, address string, keep int64) (body string, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("User-Agent", "iPXE/1.21.1")
	res, err := web.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = res.Body.Close() }()
	kept, err := io.ReadAll(io.LimitReader(res.Body, keep))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	return string(kept), res.StatusCode, err
}

// post sends the report as the agent does: again after lost connections, 5xx and 409, with growing pauses, five times in all
// (contract.md §6.1). The result is the last status.
func (s *Server) post(ctx context.Context, web *http.Client, callbacks string) (status int, err error) {
	wait := s.rack.options.RetryDelay
	for try := 1; ; try++ {
		for _, address := range strings.Split(callbacks, ",") {
			status, err = s.SendReport(ctx, web, address)
			if err == nil {
				break
			}
		}
		var urlErr *url.Error
		readTimeout := errors.As(err, &urlErr) && urlErr.Timeout()
		again := (err != nil && !readTimeout) || status >= 500 || status == http.StatusConflict
		if !again || try == reportTries {
			return status, err
		}
		if !pause(ctx, wait) {
			return status, ctx.Err()
		}
		wait = min(wait*3/2, 6*s.rack.options.RetryDelay)
	}
}

// SendReport posts the server's report once, to any address and whatever the server is doing: a ramdisk that nobody expects any
// more. The headers are the agent's. web may be nil.
func (s *Server) SendReport(ctx context.Context, web *http.Client, address string) (status int, err error) {
	if web == nil {
		transport := &http.Transport{DisableKeepAlives: true}
		web = &http.Client{Transport: transport, Timeout: oneTry}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(s.Report()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "python-requests/2.32.3")
	res, err := web.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, err
}

// withoutAddress is an error fit for a log, for the same reason as withoutQuery.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return fmt.Errorf("%s %s: %w", u.Op, withoutQuery(u.URL), u.Err)
	}
	return err
}

// withoutQuery is an address fit for a log: a query may hold an attempt's token.
func withoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}
