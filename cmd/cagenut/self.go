package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"cagenut/node"
	"cagenut/store"
)

// self is what the appliance tells of itself. It looks at most once in selfAge, however many people watch.
type self struct {
	a       *appliance
	started time.Time
	contact func() node.InspectorContact // of an external inspector

	mu   sync.Mutex
	last node.Appliance
}

const (
	selfAge  = 2 * time.Second
	selfTime = 10 * time.Second
)

// Appliance is how the appliance is.
func (s *self) Appliance(ctx context.Context) (node.Appliance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.last.At) < selfAge {
		return s.last, nil
	}
	// Where looks fail, they take their time one after another: whoever has waited too long begins no other.
	if err := ctx.Err(); err != nil {
		return node.Appliance{}, err
	}
	// Whoever asks may go away; the next one wants the answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), selfTime)
	defer cancel()
	found, err := s.look(ctx)
	if err == nil {
		s.last = found
	}
	return found, err
}

func (s *self) look(ctx context.Context) (n node.Appliance, err error) {
	a := s.a
	n = node.Appliance{
		At: time.Now(), StartedAt: s.started, Host: a.conductor.Host, Build: build(), Settings: a.shownSettings(), Streams: a.hub.Load(), Inspector: s.inspector(),
		NoRamdiskURL: a.settings.InspectorURL == "" && a.settings.ramdiskBase() == "", MissingBoot: a.settings.missingBoot(),
	}
	reader, err := a.store.Reader()
	if err != nil {
		return n, err
	}
	var errs [3]error
	n.Database, errs[0] = a.store.Load(ctx)
	n.BMCs, errs[1] = a.store.BMCLoad(ctx)
	n.Jobs, errs[2] = a.queue.Load(ctx, reader)
	n.BMCs.Calls = a.bmcs.Load()
	return n, errors.Join(errs[:]...)
}

func (s *self) inspector() node.InspectorContact {
	if c := s.contact(); c.External {
		return c
	}
	if s.a.inspectorListener == nil {
		return node.InspectorContact{}
	}
	return node.InspectorContact{Address: "http://" + s.a.inspectorListener.Addr().String()}
}

// build is what was built, as the program itself knows it.
func build() node.Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return node.Build{}
	}
	b := node.Build{Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time, _ = time.Parse(time.RFC3339, s.Value)
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// shownSettings are the settings that matter to people who look after the appliance; none of them is a secret, and of addresses only
// what is none.
func (a *appliance) shownSettings() []node.Setting {
	s := a.settings
	return []node.Setting{
		{Name: "listen", Value: s.Listen},
		{Name: "inspector-listen", Value: s.InspectorListen},
		{Name: "inspector-url", Value: node.PublicAddress(s.InspectorURL)},
		{Name: "public-url", Value: node.PublicAddress(s.PublicURL)},
		{Name: "ramdisk-url", Value: node.PublicAddress(s.ramdiskBase())},
		{Name: "kernel-url", Value: node.PublicAddress(s.KernelURL)},
		{Name: "initrd-url", Value: node.PublicAddress(s.InitrdURL)},
		{Name: "iso-url", Value: node.PublicAddress(s.ISOURL)},
		{Name: "data-dir", Value: s.DataDir},
		{Name: "auth", Value: s.Auth},
		{Name: "trusted-proxies", Value: strings.Join(s.TrustedProxies, ", ")},
		{Name: "api-max-version", Value: s.APIMaxVersion},
		{Name: "inspect-timeout", Value: s.InspectTimeout.String()},
		{Name: "power-sync-interval", Value: s.PowerSyncInterval.String()},
		{Name: "inspector-sync-interval", Value: a.conductor.InspectorSyncInterval.String()},
		{Name: "inspections-kept", Value: strconv.Itoa(cmp.Or(s.InspectionsKept, store.InspectionsKept))},
		{Name: "audit-kept", Value: strconv.Itoa(s.AuditKept)},
		{Name: "discovery", Value: strconv.FormatBool(s.Discovery)},
		{Name: "log-level", Value: s.LogLevel},
	}
}

// missingBoot are the files of the ramdisk that the appliance is to serve itself and does not have.
func (s *settings) missingBoot() (missing []string) {
	for _, f := range []struct{ setting, file string }{{s.KernelURL, kernelFile}, {s.InitrdURL, initrdFile}} {
		path := filepath.Join(s.bootDir(), f.file)
		if _, err := os.Stat(path); f.setting == "" && errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, path)
		}
	}
	return missing
}
