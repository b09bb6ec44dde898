package ui

import (
	"slices"
	"sync"
	"time"

	"cagenut/node"
)

// keptFor is how long a person may take between two pages before what they gave is forgotten.
const keptFor = 15 * time.Minute

// keeper keeps what a person gave on one page and would else have to give again on the next, such as a password, which never
// goes back to a browser. It is memory alone, of a bounded number of things, each for the one who gave it and for a while.
type keeper[T any] struct {
	now  func() time.Time
	most int

	mu    sync.Mutex
	items []kept[T] // the oldest first
}

type kept[T any] struct {
	id, person string
	until      time.Time
	value      T
}

func newKeeper[T any](most int, now func() time.Time) *keeper[T] {
	return &keeper[T]{now: now, most: most}
}

// put keeps a value for a person and returns what it is asked for by. The oldest one gives way where there are too many.
func (k *keeper[T]) put(person string, value T) (id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sweep()
	if len(k.items) == k.most {
		k.items = slices.Delete(k.items, 0, 1)
	}
	id = node.NewUUID()
	k.items = append(k.items, kept[T]{id: id, person: person, until: k.now().Add(keptFor), value: value})
	return id
}

// get is what is kept; false where it is gone, or another person's.
func (k *keeper[T]) get(person, id string) (value T, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sweep()
	for _, one := range k.items {
		if one.id == id && one.person == person {
			return one.value, true
		}
	}
	return value, false
}

// forget drops what is kept before its time.
func (k *keeper[T]) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.items = slices.DeleteFunc(k.items, func(one kept[T]) bool { return one.id == id })
}

// sweep drops what is too old; the caller holds the lock.
func (k *keeper[T]) sweep() {
	now := k.now()
	k.items = slices.DeleteFunc(k.items, func(one kept[T]) bool { return !now.Before(one.until) })
}
