package conductor

import "time"

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now is the time in UTC.
func (SystemClock) Now() time.Time { return time.Now().UTC() }

// After waits in real time.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
