package conductor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cagenut/node"
)

// Inspections is what is kept of what inspections left. What is not kept, or no longer, is *node.NotFound.
type Inspections interface {
	// Inventories lists what a node's inspections stored, without the documents, the newest first: at most limit of those
	// stored before a time; the zero time is now.
	Inventories(ctx context.Context, nodeUUID string, before time.Time, limit int) ([]node.Inventory, error)
	// InventoryOf is what an attempt stored.
	InventoryOf(ctx context.Context, attempt string) (node.Inventory, error)
	// LastReport is the newest report of a node.
	LastReport(ctx context.Context, nodeUUID string) (node.Report, error)
	// KeepLogs stores the logs that came with a report, and the report without them; rest nil leaves that as it is.
	KeepLogs(ctx context.Context, l node.RamdiskLogs, rest []byte) error
	// RamdiskLogs are the logs of an attempt.
	RamdiskLogs(ctx context.Context, attempt string) (node.RamdiskLogs, error)
	// Logged lists the attempts of a node whose logs are kept, the newest first.
	Logged(ctx context.Context, nodeUUID string) ([]string, error)
}

// LogArchives reads the logs that ramdisks send.
type LogArchives interface {
	// Split takes the archive out of a report; nil where there is none. The rest is the report without it.
	Split(body []byte) (archive, rest []byte, err error)
	// Files lists the files; what could be read of a broken archive comes with a *node.Invalid.
	Files(archive []byte) ([]node.LogFile, error)
	// File is the content of one, bounded; *node.NotFound without such a file.
	File(archive []byte, name string) ([]byte, error)
}

// Comparer compares what two inspections stored.
type Comparer interface {
	Between(before, after node.Inventory) (node.Difference, error)
}

// Kept lists what is kept of a node's inspections, without the documents, the newest first: at most limit of those before
// the attempt that marker names; "" begins with the newest.
func (c *Conductor) Kept(ctx context.Context, ident, marker string, limit int) ([]node.Inventory, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return nil, err
	}
	var before time.Time
	if marker != "" {
		last, err := c.inspectionOf(ctx, n, marker)
		if err != nil {
			return nil, err
		}
		before = last.CreatedAt
	}
	return c.Inspections.Inventories(ctx, n.UUID, before, limit)
}

// Inspection is what one attempt of a node stored.
func (c *Conductor) Inspection(ctx context.Context, ident, attempt string) (node.Inventory, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return node.Inventory{}, err
	}
	return c.inspectionOf(ctx, n, attempt)
}

func (c *Conductor) inspectionOf(ctx context.Context, n node.Node, attempt string) (node.Inventory, error) {
	i, err := c.Inspections.InventoryOf(ctx, attempt)
	if missing(err) || (err == nil && i.NodeUUID != n.UUID) {
		return node.Inventory{}, &node.NotFound{Text: fmt.Sprintf("Nothing is kept of an inspection %s of node %s.", node.Shorten(attempt, 80), n.UUID)}
	}
	return i, err
}

// Difference compares two inspections of a node, which their attempts name: to "" is the newest that is kept, from "" the one
// before to. *node.NotFound where there are not two.
func (c *Conductor) Difference(ctx context.Context, ident, from, to string) (node.Difference, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return node.Difference{}, err
	}
	after, err := c.chosen(ctx, n, to, time.Time{})
	if err != nil {
		return node.Difference{}, err
	}
	before, err := c.chosen(ctx, n, from, after.CreatedAt)
	if err != nil {
		return node.Difference{}, err
	}
	return c.Comparer.Between(before, after)
}

// chosen is the inspection of an attempt, or with "" the newest before a time.
func (c *Conductor) chosen(ctx context.Context, n node.Node, attempt string, before time.Time) (node.Inventory, error) {
	if attempt != "" {
		return c.inspectionOf(ctx, n, attempt)
	}
	newest, err := c.Inspections.Inventories(ctx, n.UUID, before, 1)
	if err != nil {
		return node.Inventory{}, err
	}
	if len(newest) == 0 {
		return node.Inventory{}, &node.NotFound{Text: fmt.Sprintf("There are not yet two inspections of node %s to compare.", n.UUID)}
	}
	return c.inspectionOf(ctx, n, newest[0].AttemptID)
}

// otherMachine tells what says that an inspection found another machine than the one before it; "" for the same. It is
// told, and fails nothing: a board may have been replaced.
func (c *Conductor) otherMachine(ctx context.Context, n node.Node, found node.Inventory) string {
	before, err := c.chosen(ctx, n, "", found.CreatedAt)
	if err != nil {
		if !missing(err) {
			c.Log.Warn("an inspection could not be compared with the one before", "node", n.UUID, "err", err)
		}
		return ""
	}
	d, err := c.Comparer.Between(before, found)
	if err != nil {
		c.Log.Warn("an inspection could not be compared with the one before", "node", n.UUID, "err", err)
	}
	if len(d.Identity) == 0 {
		return ""
	}
	return "This is another machine than at the inspection before. " + strings.Join(d.Identity, " ")
}

// keepLogs takes the logs out of a report that is stored, and gives the report without them. Logs that cannot be kept fail
// nothing: the inspection is worth more (G25).
func (c *Conductor) keepLogs(ctx context.Context, nodeUUID string, r node.Report) node.Report {
	archive, rest, err := c.Logs.Split(r.Body)
	if err != nil || len(rest) == len(r.Body) {
		return r
	}
	r.Body = rest
	if archive == nil {
		return r
	}
	if err := c.Inspections.KeepLogs(ctx, node.RamdiskLogs{AttemptID: r.AttemptID, NodeUUID: nodeUUID, Archive: archive, At: r.At}, rest); err != nil {
		c.Log.Error("the logs of a ramdisk could not be kept", "node", nodeUUID, "attempt", r.AttemptID, "err", err)
	}
	return r
}

// keepLateLogs keeps the logs of a report that is refused because its attempt is over: nothing else of it counts, but it may
// tell why the attempt went as it did. The first that comes is kept, and is as old as the attempt's end: old ramdisks push out
// nothing newer.
func (c *Conductor) keepLateLogs(ctx context.Context, a node.Attempt, body []byte) {
	kept, err := c.Inspections.Logged(ctx, a.NodeUUID)
	if err != nil || slices.Contains(kept, a.ID) {
		return
	}
	archive, _, err := c.Logs.Split(body)
	if err != nil || archive == nil {
		return
	}
	if err := c.Inspections.KeepLogs(ctx, node.RamdiskLogs{AttemptID: a.ID, NodeUUID: a.NodeUUID, Archive: archive, At: a.EndedAt}, nil); err != nil {
		c.Log.Error("the logs of a late report could not be kept", "node", a.NodeUUID, "attempt", a.ID, "err", err)
	}
}

// RamdiskLogs are the logs of an attempt of a node; *node.NotFound where none came, or the attempt is another node's.
func (c *Conductor) RamdiskLogs(ctx context.Context, ident, attempt string) (node.RamdiskLogs, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return node.RamdiskLogs{}, err
	}
	l, err := c.Inspections.RamdiskLogs(ctx, attempt)
	if err == nil && l.NodeUUID != n.UUID {
		err = &node.NotFound{Text: "There are no logs of attempt " + attempt + "."}
	}
	return l, err
}

// RamdiskLogFiles lists the files of an attempt's logs. What could be read of a broken archive comes with a *node.Invalid.
func (c *Conductor) RamdiskLogFiles(ctx context.Context, ident, attempt string) ([]node.LogFile, error) {
	l, err := c.RamdiskLogs(ctx, ident, attempt)
	if err != nil {
		return nil, err
	}
	return c.Logs.Files(l.Archive)
}

// RamdiskLogFile is one file of an attempt's logs, at most its first 16 MiB. It is whatever the server sent.
func (c *Conductor) RamdiskLogFile(ctx context.Context, ident, attempt, name string) ([]byte, error) {
	l, err := c.RamdiskLogs(ctx, ident, attempt)
	if err != nil {
		return nil, err
	}
	return c.Logs.File(l.Archive, name)
}
