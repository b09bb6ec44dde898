package live_test

import (
	"net/http"
	"testing"
	"time"

	"cagenut/web/live"
)

// A cable that is pulled breaks no connection: a page must hear something to know that it still has one.
func TestASilentPageHearsABeatAndHowLongToWaitForTheNext(t *testing.T) {
	w := start(t, live.Options{Heartbeat: 20 * time.Millisecond})
	l := w.listen(t, "/fragments?after="+w.hub.Position(), "")
	for {
		text, err := l.block()
		if err != nil {
			t.Fatal(err)
		}
		if text == "event: beat\ndata: 20\n" {
			return
		}
	}
}

func TestAPageIsToldToOpenAnotherStreamWhenTheTimeOfItsOwnIsOver(t *testing.T) {
	w := start(t, live.Options{MaxLife: 50 * time.Millisecond})
	l := w.listen(t, "/fragments?after="+w.hub.Position(), "")
	l.mustBe(event{name: "renew"})
	if text, err := l.block(); err == nil {
		t.Errorf("the stream goes on with %q", text)
	}
}

func TestAPageAsksByHEADWhyItsStreamWasRefused(t *testing.T) {
	w := start(t, live.Options{MaxStreams: 1})
	ask := func() int {
		resp, err := http.Head(w.base + "/fragments")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := ask(); got != http.StatusOK {
		t.Errorf("with room the answer is %d", got)
	}
	w.listen(t, "/fragments?after="+w.hub.Position(), "")
	if got := ask(); got != http.StatusServiceUnavailable {
		t.Errorf("without room the answer is %d", got)
	}
}

// A stream outlives the moment in which its session was checked by far.
func TestAStreamEndsWhenItsSessionHasEnded(t *testing.T) {
	w := start(t, live.Options{Heartbeat: 10 * time.Millisecond, AskEvery: time.Millisecond})
	l := w.listen(t, "/fragments?after="+w.hub.Position(), "")
	if _, err := l.block(); err != nil {
		t.Fatal(err)
	}
	w.signedOut.Store(true)
	if !eventually(func() bool { _, err := l.block(); return err != nil }) {
		t.Error("the stream goes on for somebody who would not be let in")
	}
}
