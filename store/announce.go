package store

import "cagenut/node"

// Announce tells watchers that there is news of something that is no node and is not kept here, such as a search: it has a
// UUID of its own.
func (s *Store) Announce(uuid string) {
	s.hub.tell([]node.Notice{{NodeUUID: uuid, Run: true}})
}
