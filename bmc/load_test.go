package bmc_test

import (
	"context"
	"testing"

	"cagenut/bmc"
	"cagenut/node"
)

func TestAPoolTellsHowManyCallsRunAndWait(t *testing.T) {
	p := newPool(t, bmc.PoolOptions{Limit: 8})
	if l := p.Load(); l != (node.CallLoad{Limit: 8}) {
		t.Errorf("before anybody asks: %+v", l)
	}
	n := fakeNode()
	release := hold(t, p, n)
	waited := make(chan error, 1)
	go func() { waited <- p.Do(context.WithoutCancel(t.Context()), n, func(bmc.Client) error { return nil }) }()
	eventually(t, "one call runs and one waits", func() bool { return p.Load() == node.CallLoad{Running: 1, Waiting: 1, Limit: 8} })
	release()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	for range 2 {
		_ = p.Do(t.Context(), n, func(bmc.Client) error { return &node.Unreachable{What: "BMC 192.0.2.10"} })
	}
	if l := p.Load(); l != (node.CallLoad{Limit: 8, LeftAlone: 1}) {
		t.Errorf("after two failures: %+v", l)
	}
}
