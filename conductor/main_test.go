package conductor_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Whoever starts a goroutine waits for it: the rounds leave none behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
