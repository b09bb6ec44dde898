package live

import "cagenut/node"

// Load is how many streams are open, of how many.
func (h *Hub) Load() node.StreamLoad {
	h.mu.Lock()
	defer h.mu.Unlock()
	return node.StreamLoad{Open: len(h.streams), Limit: h.o.MaxStreams}
}
