package main

import (
	"context"
	"errors"
	"testing"
)

func TestWhoHasWaitedTooLongLooksAtTheApplianceNoMore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&self{}).Appliance(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
