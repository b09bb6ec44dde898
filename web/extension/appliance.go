package extension

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// Self tells how the appliance itself is.
type Self interface {
	Appliance(ctx context.Context) (node.Appliance, error)
}

// Appliance is how the appliance itself is. Sizes are bytes.
type Appliance struct {
	At       *string           `json:"at"`
	Started  *string           `json:"started"`
	Host     string            `json:"host"`
	Build    Build             `json:"build"`
	Settings map[string]string `json:"settings"` // by flag, without secrets
	// Defects are what is wrong, the worst first.
	Defects   []Defect  `json:"defects"`
	Database  Database  `json:"database"`
	Jobs      Jobs      `json:"jobs"`
	BMCs      BMCs      `json:"bmcs"`
	Inspector Inspector `json:"inspector"`
	Streams   Streams   `json:"streams"`
}

// Build is which program runs.
type Build struct {
	Version  string  `json:"version"`
	Commit   *string `json:"commit"`
	Time     *string `json:"time"`
	Modified bool    `json:"modified"` // it was built from a tree with changes
	Go       string  `json:"go"`
}

// Defect is something that is wrong: database, disk, inspector, bmcs, jobs, ramdisk, bootfile, streams.
type Defect struct {
	Kind   string  `json:"kind"`
	Grave  bool    `json:"grave"` // something does not work already
	Detail *string `json:"detail"`
}

// Database is what is kept, and where.
type Database struct {
	Kind     string           `json:"kind"`
	Path     string           `json:"path"`
	Size     int64            `json:"size"`
	WAL      int64            `json:"wal"`
	Schema   int64            `json:"schema"`
	DiskFree int64            `json:"disk_free"`
	DiskSize int64            `json:"disk_size"`
	Writable bool             `json:"writable"`
	Rows     map[string]int64 `json:"rows"` // by table
}

// Jobs are the work that waits and goes on; late is the job that could have begun for the longest time.
type Jobs struct {
	Counts    []JobCount `json:"counts"`
	Late      *string    `json:"late"`
	LateSince *string    `json:"late_since"`
}

// JobCount is how many jobs of a kind are in a state.
type JobCount struct {
	Kind  string `json:"kind"`
	State string `json:"state"`
	Count int    `json:"count"`
}

// BMCs are how many BMCs can be used, and what the appliance has to do with them.
type BMCs struct {
	Answering int         `json:"answering"`
	Silent    int         `json:"silent"`
	Unasked   int         `json:"unasked"`
	LeftAlone int         `json:"left_alone"` // not asked for a while, because they failed
	Running   int         `json:"calls_running"`
	Waiting   int         `json:"calls_waiting"`
	Limit     int         `json:"calls_limit"`
	Worst     []SilentBMC `json:"worst"` // those that have been silent for the longest, at most 20
}

// SilentBMC is a node whose BMC cannot be used.
type SilentBMC struct {
	Node    string  `json:"node"`
	Name    *string `json:"name"`
	Rack    *string `json:"rack"`
	Unit    *int    `json:"unit"`
	Address *string `json:"address"`
	Since   *string `json:"since"`
	Error   string  `json:"error"`
}

// Inspector is which inspector there is. Of an external one it tells when it answered last, and what failed since.
type Inspector struct {
	External bool    `json:"external"`
	Address  *string `json:"address"`
	Answered *string `json:"answered"`
	Failed   *string `json:"failed"`
	Error    *string `json:"error"`
}

// Streams are the event streams that are open.
type Streams struct {
	Open  int `json:"open"`
	Limit int `json:"limit"`
}

func applianceOf(a node.Appliance) Appliance {
	out := Appliance{
		At: instant(a.At), Started: instant(a.StartedAt), Host: a.Host, Settings: map[string]string{},
		Build:   Build{Version: a.Build.Version, Commit: orNull(a.Build.Commit), Time: instant(a.Build.Time), Modified: a.Build.Modified, Go: a.Build.Go},
		Defects: shown(a.Defects(), func(d node.Defect) Defect { return Defect{d.Kind, d.Grave, orNull(d.Detail)} }),
		Database: Database{
			Kind: a.Database.Kind, Path: a.Database.Path, Size: a.Database.Size, WAL: a.Database.WAL, Schema: a.Database.Schema,
			DiskFree: a.Database.DiskFree, DiskSize: a.Database.DiskSize, Writable: a.Database.Unwritten == "", Rows: map[string]int64{},
		},
		Jobs: Jobs{
			Counts: shown(a.Jobs.Counts, func(c node.JobCount) JobCount { return JobCount{string(c.Kind), c.State, c.Count} }),
			Late:   orNull(string(a.Jobs.Late)), LateSince: instant(a.Jobs.LateFrom),
		},
		BMCs: BMCs{
			Answering: a.BMCs.Answering, Silent: a.BMCs.Silent, Unasked: a.BMCs.Unasked, LeftAlone: a.BMCs.Calls.LeftAlone,
			Running: a.BMCs.Calls.Running, Waiting: a.BMCs.Calls.Waiting, Limit: a.BMCs.Calls.Limit, Worst: shown(a.BMCs.Worst, silentOf),
		},
		Inspector: Inspector{
			External: a.Inspector.External, Address: orNull(a.Inspector.Address), Answered: instant(a.Inspector.Answered), Failed: instant(a.Inspector.Failed), Error: orNull(a.Inspector.Error),
		},
		Streams: Streams(a.Streams),
	}
	for _, s := range a.Settings {
		out.Settings[s.Name] = s.Value
	}
	for _, k := range a.Database.Kept {
		out.Database.Rows[k.What] = k.Count
	}
	return out
}

func silentOf(b node.SilentBMC) SilentBMC {
	out := SilentBMC{Node: b.Node, Name: orNull(b.Name), Rack: orNull(b.Place.Rack), Address: orNull(b.Address), Since: instant(b.Since), Error: b.Error}
	if b.Place.Unit > 0 {
		out.Unit = &b.Place.Unit
	}
	return out
}

func applianceOperation() openapi.Operation {
	return openapi.Operation{Method: "GET", Path: "/cagenut/v1/appliance", Does: "Show how the appliance itself is: version, database, jobs, BMCs, inspector, and what is wrong.", Tag: tag,
		Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref("Appliance"))}}}
}

func (a *api) appliance(c *fiber.Ctx) error {
	if err := applianceOperation().CheckQuery(web.Query(c), 0, nil); err != nil {
		return err
	}
	found, err := a.o.Self.Appliance(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(applianceOf(found))
}
