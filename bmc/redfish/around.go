package redfish

import "strings"

// What stands around a system: the managers that manage it and the chassis that it is in.

// managers are those of the system: as it says, else those that say they are its own, else the only one there is (quirk 54).
func (w *walk) managers(s system) []member {
	if m := w.array(object(s.all["Links"])["ManagedBy"], "Id"); len(m) > 0 {
		return m
	}
	all := w.collection(w.c.rootLink("Managers"), "Id")
	return own(all, s, "ManagerForServers")
}

// chassis are those of the system: as it says, else those that say they hold it, else the only one there is.
func (w *walk) chassis(s system) []member {
	if m := w.array(object(s.all["Links"])["Chassis"], "Id"); len(m) > 0 {
		return m
	}
	all := w.collection(w.c.rootLink("Chassis"), "Id")
	return own(all, s, "ComputerSystems")
}

func own(all []member, s system, key string) []member {
	var mine []member
	for _, m := range all {
		for _, back := range items(object(m.resource["Links"])[key]) {
			if tidy(link(back)) == tidy(s.path) {
				mine = append(mine, m)
				break
			}
		}
	}
	if len(mine) == 0 && len(all) == 1 {
		return all
	}
	return mine
}

// rootLink is the path that the service root gives for one of its services, "" where it gives none.
func (c *connection) rootLink(key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return link(c.root[key])
}

// vendor is who made the BMC: what the root says, else what its own extensions are named after (quirk 53).
func (c *connection) vendor() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.root.word("Vendor"); v != "" {
		return v
	}
	names := map[string]string{"dell": "Dell", "hpe": "HPE", "hp": "HPE", "lenovo": "Lenovo", "supermicro": "Supermicro", "ami": "AMI"}
	for key := range object(c.root["Oem"]) {
		if name := names[strings.ToLower(key)]; name != "" {
			return name
		}
	}
	return ""
}

// expansion is the query that makes the BMC send members with their collection; "" where it does not offer that.
func (c *connection) expansion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	offered := object(object(c.root["ProtocolFeaturesSupported"])["ExpandQuery"])
	yes := func(key string) bool { b := boolean(offered[key]); return b != nil && *b }
	switch {
	case c.unexpanded:
		return ""
	case yes("NoLinks") && yes("Levels"):
		return "$expand=.($levels=1)"
	case yes("NoLinks"):
		return "$expand=."
	}
	return ""
}

// expansionKnown tells whether a look has been taken at what the BMC leaves out when it expands.
func (c *connection) expansionKnown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expanded
}

// doExpand remembers that the BMC leaves nothing out.
func (c *connection) doExpand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expanded = true
}

// dontExpand remembers that the BMC offers expansion and fails at it.
func (c *connection) dontExpand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unexpanded = true
}
