package inspector_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cagenut/inspect/inspector"
	"cagenut/node"
)

func TestAnExternalServiceIsKnownByItsLastAnswerAndTheFailureSince(t *testing.T) {
	var broken atomic.Bool
	i, _ := external(t, func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			panic(http.ErrAbortHandler)
		}
		says(200, `{"finished":false,"state":"waiting"}`)(w, r)
	}, nil)
	if c := i.Contact(); !c.External || !strings.HasPrefix(c.Address, "http://127.0.0.1:") || !c.Answered.IsZero() || !c.Failed.IsZero() || c.Error != "" {
		t.Errorf("before anybody asks: %+v", c)
	}
	ask := func(ctx context.Context) { _, _, _ = i.Run(ctx, n1) }
	ask(t.Context())
	answered := i.Contact()
	if time.Since(answered.Answered) > time.Minute || !answered.Failed.IsZero() {
		t.Errorf("after an answer: %+v", answered)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	ask(gone)
	if c := i.Contact(); c != answered {
		t.Errorf("after somebody gave up: %+v", c)
	}
	broken.Store(true)
	ask(t.Context())
	if c := i.Contact(); c.Failed.IsZero() || c.Error == "" || !c.Answered.Equal(answered.Answered) {
		t.Errorf("after a failure: %+v", c)
	}
	broken.Store(false)
	ask(t.Context())
	if c := i.Contact(); !c.Failed.IsZero() || c.Error != "" {
		t.Errorf("after another answer: %+v", c)
	}
	if c := inspector.NewEmbedded(boot(&log{})).Contact(); c != (node.InspectorContact{}) {
		t.Errorf("the embedded one: %+v", c)
	}
}
