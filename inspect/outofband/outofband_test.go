package outofband_test

import (
	"context"
	"errors"
	"testing"

	"cagenut/inspect"
	"cagenut/inspect/outofband"
	"cagenut/node"
)

type inspectInterface interface {
	Validate(ctx context.Context, n node.Node) error
	Inspect(ctx context.Context, n node.Node, a node.Attempt) (node.Progress, error)
	Abort(ctx context.Context, n node.Node, a node.Attempt) (node.Ending, error)
	CleanUp(ctx context.Context, n node.Node, a node.Attempt, still func(context.Context) error) (node.Progress, error)
}

// G43: an interface that cannot abort says so, and nothing else happens.
func TestInterfacesWithoutRamdiskCannotAbort(t *testing.T) {
	for name, i := range map[string]inspectInterface{
		"redfish":    outofband.Redfish{},
		"no-inspect": outofband.NoInspect{},
		"fake":       outofband.Fake{},
	} {
		t.Run(name, func(t *testing.T) {
			end, err := i.Abort(t.Context(), node.Node{Driver: "fake-hardware"}, node.Attempt{})
			var unsupported *node.Unsupported
			if !errors.As(err, &unsupported) {
				t.Fatalf("Abort: got %v, want *node.Unsupported", err)
			}
			if want := "Driver fake-hardware does not support abort (disabled or not implemented)."; err.Error() != want {
				t.Errorf("text: got %q, want %q", err, want)
			}
			if end.Outcome != "" || end.CleanUp {
				t.Errorf("an unsupported abort ends nothing, got %+v", end)
			}
			p, err := i.CleanUp(t.Context(), node.Node{}, node.Attempt{}, nil)
			if err != nil || !p.Ready {
				t.Errorf("CleanUp: got %+v, %v; want ready at once", p, err)
			}
		})
	}
}

func TestNoInspectRefusesInspection(t *testing.T) {
	i := outofband.NoInspect{}
	if err := i.Validate(t.Context(), node.Node{Driver: "ipmi"}); !isUnsupported(err) {
		t.Errorf("Validate: got %v, want *node.Unsupported", err)
	}
	if _, err := i.Inspect(t.Context(), node.Node{Driver: "ipmi"}, node.Attempt{}); !isUnsupported(err) {
		t.Errorf("Inspect: got %v, want *node.Unsupported", err)
	}
}

func TestFakeIsFinishedAtOnce(t *testing.T) {
	i := outofband.Fake{}
	if err := i.Validate(t.Context(), node.Node{}); err != nil {
		t.Fatal(err)
	}
	p, err := i.Inspect(t.Context(), node.Node{}, node.Attempt{})
	if err != nil || !p.Finished || p.Ready {
		t.Errorf("got %+v, %v; want finished without waiting", p, err)
	}
}

func TestAnAbortedAttemptEndsInTheWordsOfTheContract(t *testing.T) {
	want := node.Ending{Outcome: node.Aborted, LastError: "Inspection was aborted by request.", Error: "Canceled by operator", CleanUp: true}
	got := inspect.Aborted()
	if got.Outcome != want.Outcome || got.LastError != want.LastError || got.Error != want.Error || !got.CleanUp || got.KeepPowerOn {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func isUnsupported(err error) bool {
	var u *node.Unsupported
	return errors.As(err, &u)
}
