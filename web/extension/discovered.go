package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// Discovery is the waiting room. A machine that is not there is *node.NotFound.
type Discovery interface {
	DiscoveredMachines(ctx context.Context, f node.DiscoveredFilter) ([]node.Discovered, error)
	DiscoveredMachine(ctx context.Context, uuid string) (node.Discovered, error)
	DiscoveredReport(ctx context.Context, uuid string) (node.DiscoveredReport, error)
	// NodesBehind lists the nodes whose BMC has one of the addresses.
	NodesBehind(ctx context.Context, addresses []string) ([]node.Node, error)
	// AcceptMachine makes a node of a machine; *node.Conflict where a hook or a rule refuses it.
	AcceptMachine(ctx context.Context, actor node.Actor, uuid string, req conductor.AcceptRequest) (node.Node, error)
	DecideOnMachine(ctx context.Context, actor node.Actor, uuid string, state node.DiscoveredState) error
	ForgetMachine(ctx context.Context, actor node.Actor, uuid string) error
}

// DiscoveredMachine is a machine that has reported although no node is it. What it tells of itself is as it was reported.
type DiscoveredMachine struct {
	UUID  string               `json:"uuid"` // of the node that it becomes
	State node.DiscoveredState `json:"state"`
	First *string              `json:"first"`
	Last  *string              `json:"last"`
	Times int                  `json:"times"` // reports so far
	// Address is where the last report came from.
	Address *string `json:"address"`
	// ReportAt is when the report came that all else is from.
	ReportAt     string       `json:"report_at"`
	Manufacturer *string      `json:"manufacturer"`
	Product      *string      `json:"product"`
	Serial       *string      `json:"serial"`
	CPU          MachineCPU   `json:"cpu"`
	MemoryMB     *int64       `json:"memory_mb"`
	Disks        []Disk       `json:"disks"`
	Interfaces   []Interface  `json:"interfaces"`
	MACs         []string     `json:"macs"`
	BMCAddresses []string     `json:"bmc_addresses"`
	Suggested    Registration `json:"suggested"`
}

// MachineCPU is the processors together.
type MachineCPU struct {
	Model        *string `json:"model"`
	Count        *int64  `json:"count"`
	Architecture *string `json:"architecture"`
}

// Disk is a disk of a machine; its size is in bytes.
type Disk struct {
	Name   *string `json:"name"`
	Model  *string `json:"model"`
	Serial *string `json:"serial"`
	Size   *int64  `json:"size"`
}

// Interface is a network interface of a machine.
type Interface struct {
	Name    *string `json:"name"`
	MAC     *string `json:"mac"` // null where it is no Ethernet address
	Address *string `json:"address"`
}

// Registration is what accept takes where nothing else is said.
type Registration struct {
	Driver     string         `json:"driver"`
	DriverInfo map[string]any `json:"driver_info"`
}

// Namesake is a node that may be meant, too.
type Namesake struct {
	UUID string  `json:"uuid"`
	Name *string `json:"name"`
}

// DiscoveredInFull is a machine with what it reported.
type DiscoveredInFull struct {
	DiscoveredMachine
	// BMCOf are nodes with the same BMC.
	BMCOf     []Namesake      `json:"bmc_of"`
	Inventory json.RawMessage `json:"inventory"`
}

// AcceptedMachine is the node that a machine has become.
type AcceptedMachine struct {
	UUID   string     `json:"uuid"`
	Name   *string    `json:"name"`
	Driver string     `json:"driver"`
	State  node.State `json:"provision_state"`
	// Attempt stands for the report; it tells what was noted.
	Attempt string `json:"attempt"`
}

type discoveredList struct {
	Discovered []DiscoveredMachine `json:"discovered"`
	// Next is the address of the next page; absent on the last.
	Next string `json:"next,omitempty"`
}

const (
	discoveredPath = "/cagenut/v1/discovered"
	// discoveredMost is how many machines one answer has: what they say of themselves may be long.
	discoveredMost = 100
	// allStates is the word of ?state= for all of them.
	allStates = "all"
)

// decisions are what can be said about a machine beside accepting it.
var decisions = map[string]node.DiscoveredState{"ignore": node.DiscoveredIgnored, "block": node.DiscoveredBlocked, "restore": node.DiscoveredNew}

func (a *api) registerDiscovered(r fiber.Router) {
	if a.o.Discovery == nil {
		return
	}
	const one = discoveredPath + "/:machine"
	r.Get(discoveredPath, a.discovered)
	r.Get(one, a.discoveredMachine)
	r.Post(one+"/accept", a.acceptMachine)
	for word, state := range decisions {
		r.Post(one+"/"+word, a.decide(word, state))
	}
	r.Delete(one, a.forgetMachine)
}

func discoveredOperations() map[string]openapi.Operation {
	const one = discoveredPath + "/:machine"
	shows := func(name string) []openapi.Answer {
		return []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref(name))}}
	}
	silent := []openapi.Answer{{Status: 204}}
	states := []string{allStates}
	for _, s := range node.DiscoveredStates() {
		states = append(states, string(s))
	}
	state := openapi.Parameter{Name: "state", Does: "Those in this state; those that nobody has decided about without it.", Kind: openapi.Word(func(string) error {
		return node.Invalidf("state must be new, ignored, blocked or all.")
	}, states...)}
	return map[string]openapi.Operation{
		"list": {Method: "GET", Path: discoveredPath, Does: "List the machines that have reported although no node is them, the newest first.", Tag: tag, May: []int{404},
			Answers: shows("DiscoveredMachines"), Query: []openapi.Parameter{
				{Name: "limit", Does: "How many to show; 100 at most.", Kind: openapi.Integer(1, "limit must be a number from 1 on.")},
				{Name: "marker", Does: "The UUID of the last one that was seen.", Kind: openapi.Text(255)}, state,
			}},
		"show": {Method: "GET", Path: one, Does: "Show a discovered machine with the inventory that it reported.", Tag: tag, Answers: shows("DiscoveredMachine")},
		"accept": {Method: "POST", Path: one + "/accept", Does: "Make a node in enroll of a discovered machine, with its ports, properties and inventory. Its BMC is not touched.", Tag: tag,
			Body: acceptArguments(), Answers: []openapi.Answer{{Status: 201, Shows: openapi.Shows(openapi.Ref("AcceptedMachine")), Location: true}}, May: []int{409}},
		"ignore":  {Method: "POST", Path: one + "/ignore", Does: "Hide a discovered machine; its reports are answered and counted.", Tag: tag, Answers: silent},
		"block":   {Method: "POST", Path: one + "/block", Does: "Refuse the reports of a discovered machine from now on; they are counted.", Tag: tag, Answers: silent},
		"restore": {Method: "POST", Path: one + "/restore", Does: "Neither ignore nor block a discovered machine any more.", Tag: tag, Answers: silent},
		"forget":  {Method: "DELETE", Path: one, Does: "Forget a discovered machine; when it reports again it is a new one.", Tag: tag, Answers: silent},
	}
}

func acceptArguments() openapi.Arguments {
	return openapi.Arguments{
		{Name: "name", Does: "Name of the node; none without it.", Kind: openapi.Text(255)},
		{Name: "driver", Does: "Driver of the node; the suggested one without it.", Kind: openapi.Text(255)},
		{Name: "driver_info", Does: "Beside the address of the BMC, which is the reported one where it is left out.", Kind: openapi.Object()},
		{Name: "report_at", Does: "The report that was decided on: 409 when another has come since.", Kind: openapi.Text(64)},
	}
}

func discoveredComponents() map[string]*openapi.Schema {
	type inFull struct {
		DiscoveredMachine
		BMCOf     []Namesake     `json:"bmc_of"`
		Inventory map[string]any `json:"inventory"`
	}
	return map[string]*openapi.Schema{
		"DiscoveredMachines": openapi.Of(reflect.TypeFor[discoveredList]()), "DiscoveredMachine": openapi.Of(reflect.TypeFor[inFull]()),
		"AcceptedMachine": openapi.Of(reflect.TypeFor[AcceptedMachine]()),
	}
}

func (a *api) discovered(c *fiber.Ctx) error {
	q, operation := web.Query(c), discoveredOperations()["list"]
	if err := operation.CheckQuery(q, 0, nil); err != nil {
		return err
	}
	limit := limitOf(q, discoveredMost)
	f := node.DiscoveredFilter{States: []node.DiscoveredState{node.DiscoveredNew}, Marker: q.Get("marker"), Limit: limit + 1}
	if said := q.Get("state"); said == allStates {
		f.States = nil
	} else if said != "" {
		f.States = []node.DiscoveredState{node.DiscoveredState(said)}
	}
	found, err := a.o.Discovery.DiscoveredMachines(c.UserContext(), f)
	if err != nil {
		return err
	}
	out := discoveredList{}
	if len(found) > limit {
		found = found[:limit]
		next := url.Values{"limit": {strconv.Itoa(limit)}, "marker": {found[limit-1].UUID}}
		if said := q.Get("state"); said != "" {
			next.Set("state", said)
		}
		out.Next = web.BaseURL(c, a.o.PublicURL) + discoveredPath + "?" + next.Encode()
	}
	out.Discovered = shown(found, discoveredOf)
	return c.JSON(out)
}

// exactly is a time that comes back as it was: to the microsecond.
const exactly = "2006-01-02T15:04:05.000000Z07:00"

func discoveredOf(d node.Discovered) DiscoveredMachine {
	m := d.Machine
	driver, info := m.DriverInfo("")
	return DiscoveredMachine{
		UUID: d.UUID, State: d.State, First: instant(d.FirstAt), Last: instant(d.LastAt), Times: d.Times, Address: orNull(d.Address), ReportAt: d.ReportAt.UTC().Format(exactly),
		Manufacturer: orNull(m.Manufacturer), Product: orNull(m.Product), Serial: orNull(m.Serial), MemoryMB: orNone(m.MemoryMB),
		CPU: MachineCPU{Model: orNull(m.CPU), Count: orNone(m.CPUs), Architecture: orNull(m.Architecture)},
		Disks: shown(m.Disks, func(d node.MachineDisk) Disk {
			return Disk{Name: orNull(d.Name), Model: orNull(d.Model), Serial: orNull(d.Serial), Size: orNone(d.Bytes)}
		}),
		Interfaces: shown(m.NICs, func(n node.MachineNIC) Interface {
			return Interface{Name: orNull(n.Name), MAC: orNull(n.MAC), Address: orNull(n.Address)}
		}),
		MACs: append([]string{}, m.MACs...), BMCAddresses: append([]string{}, m.BMCAddresses...), Suggested: Registration{Driver: driver, DriverInfo: info},
	}
}

// orNone is nil for 0.
func orNone(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// machineID is the machine that the address names.
func machineID(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("machine"))
	if err != nil || !node.IsUUID(id) {
		return "", fiber.NewError(fiber.StatusNotFound, "The address names no discovered machine.")
	}
	return id, nil
}

// machine reads the machine of the address, and checks the query by the operation's description.
func machine(c *fiber.Ctx, operation string) (string, error) {
	id, err := machineID(c)
	if err != nil {
		return "", err
	}
	o := discoveredOperations()[operation]
	return id, o.CheckQuery(web.Query(c), 0, nil)
}

func (a *api) discoveredMachine(c *fiber.Ctx) error {
	id, err := machine(c, "show")
	if err != nil {
		return err
	}
	d, err := a.o.Discovery.DiscoveredMachine(c.UserContext(), id)
	if err != nil {
		return err
	}
	r, err := a.o.Discovery.DiscoveredReport(c.UserContext(), id)
	if err != nil {
		return err
	}
	twins, err := a.o.Discovery.NodesBehind(c.UserContext(), d.Machine.BMCAddresses)
	if err != nil {
		return err
	}
	var reported struct {
		Inventory json.RawMessage `json:"inventory"`
	}
	if err := json.Unmarshal(bytes.ToValidUTF8(r.Report, []byte("\uFFFD")), &reported); err != nil {
		return err
	}
	return c.JSON(DiscoveredInFull{DiscoveredMachine: discoveredOf(d), Inventory: reported.Inventory, BMCOf: shown(twins, func(n node.Node) Namesake {
		return Namesake{UUID: n.UUID, Name: orNull(n.Name)}
	})})
}

func (a *api) acceptMachine(c *fiber.Ctx) error {
	id, err := machine(c, "accept")
	if err != nil {
		return err
	}
	args, err := acceptArguments().Read(c.Body(), 0, nil)
	if err != nil {
		return err
	}
	req := conductor.AcceptRequest{Name: args.Text("name"), Driver: args.Text("driver")}
	if err := args.Into("driver_info", &req.DriverInfo); err != nil {
		return err
	}
	if said := args.Text("report_at"); said != "" {
		if req.ReportAt, err = time.Parse(time.RFC3339Nano, said); err != nil {
			return node.Invalidf("report_at must be the report_at of the machine, as it was shown.")
		}
	}
	n, err := a.o.Discovery.AcceptMachine(c.UserContext(), web.Actor(c, node.SourceAPI), id, req)
	if err != nil {
		return err
	}
	c.Location(web.BaseURL(c, a.o.PublicURL) + "/v1/nodes/" + n.UUID)
	return c.Status(fiber.StatusCreated).JSON(AcceptedMachine{UUID: n.UUID, Name: orNull(n.Name), Driver: n.Driver, State: n.ProvisionState, Attempt: n.AttemptID})
}

// decide says something about a machine.
func (a *api) decide(word string, state node.DiscoveredState) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := machine(c, word)
		if err != nil {
			return err
		}
		c.Status(fiber.StatusNoContent)
		return a.o.Discovery.DecideOnMachine(c.UserContext(), web.Actor(c, node.SourceAPI), id, state)
	}
}

func (a *api) forgetMachine(c *fiber.Ctx) error {
	id, err := machine(c, "forget")
	if err != nil {
		return err
	}
	c.Status(fiber.StatusNoContent)
	return a.o.Discovery.ForgetMachine(c.UserContext(), web.Actor(c, node.SourceAPI), id)
}
