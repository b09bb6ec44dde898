package ironic

import (
	"strings"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web/openapi"
)

// Ramdisks have no credentials: these are public (contract.md §3.9).
func (a *api) ramdiskOperations() []operation {
	unknown := &node.NotFound{Text: "Resource could not be found."}
	op := func(method, path, does string, since int, answer openapi.Answer, do func(*request) error) operation {
		o := openapi.Operation{Method: method, Path: path, Does: does, Tag: "ramdisk", Since: since, Public: true, Answers: []openapi.Answer{answer}, May: []int{404, 409}}
		return operation{o, unknown, do}
	}
	lookup := op("GET", "/v1/lookup", "Find the node that a ramdisk runs on.", 22, openapi.Answer{Status: 200, Shows: openapi.Shows(openapi.Ref("Lookup"))}, a.lookup)
	lookup.Query = []openapi.Parameter{{Name: "addresses", Does: "MACs, with commas between.", Kind: openapi.Text(8192)}, {Name: "node_uuid", Kind: openapi.UUID()}}
	heartbeat := op("POST", "/v1/heartbeat/:node", "Tell that a ramdisk is alive.", 22, openapi.Answer{Status: 202}, a.heartbeat)
	heartbeat.Body = openapi.Arguments{
		{Name: "callback_url", Required: true, Kind: openapi.Text(4096)}, {Name: "agent_version", Kind: openapi.Text(255)}, {Name: "agent_token", Kind: openapi.Text(255)},
		{Name: "agent_verify_ca", Kind: openapi.Text(1 << 16)}, {Name: "agent_status", Kind: openapi.Text(255)}, {Name: "agent_status_message", Kind: openapi.Text(4096)},
	}
	report := op("POST", "/v1/continue_inspection", "Report what a ramdisk found.", 1, openapi.Answer{Status: 202, Shows: reportAnswer}, a.continueInspection)
	report.Query = []openapi.Parameter{
		{Name: "attempt", Does: "The token of the attempt, from the callback address that the ramdisk was booted with.", Kind: openapi.Text(255)},
		{Name: "node_uuid", Since: fullReportSince, Older: func(string) error { return tooOldToReport }, Kind: openapi.UUID()},
	}
	report.Body = reportBody{}
	return []operation{lookup, heartbeat, report}
}

// fullReportSince is the version from which the answer to a report is the document of a lookup. Before it, only 1.1 can
// report: that is the version of ramdisks that name none.
const fullReportSince = 84

var tooOldToReport = &fault{404, "API version 1.84 or newer is required"}

func reportAnswer(minor int) *openapi.Schema {
	if minor >= fullReportSince {
		return openapi.Ref("Lookup")
	}
	return openapi.Record(map[string]*openapi.Schema{"uuid": openapi.Typed("string")})
}

// reportBody is the body of a report: what is required of it (contract.md §4.1); all else is kept as it comes.
type reportBody struct{}

func (reportBody) Takes(int) *openapi.Schema {
	one := 1
	face := &openapi.Schema{Type: "object", Required: []string{"mac_address"}, Properties: map[string]*openapi.Schema{"mac_address": openapi.Typed("string")}}
	return &openapi.Schema{Type: "object", Required: []string{"inventory"}, Properties: map[string]*openapi.Schema{
		"inventory": {Type: "object", Required: []string{"interfaces"}, Properties: map[string]*openapi.Schema{
			"interfaces": {Type: "array", Items: face, MinItems: &one}, "bmc_address": openapi.Typed("string", "null"), "bmc_v6address": openapi.Typed("string", "null"),
		}},
	}}
}

// lookupFields are what a ramdisk learns of its node.
var lookupFields = []string{"uuid", "properties", "instance_info", "driver_internal_info"}

func lookupSchema(minor int) *openapi.Schema {
	return openapi.Record(map[string]*openapi.Schema{"node": openapi.Ref("Node"), "config": openapi.Typed("object")})
}

// heartbeatTimeout is how many seconds a ramdisk may be silent.
const heartbeatTimeout = 300

// lookupDocument is what a ramdisk is told of its node and of how to behave (contract.md §3.9). Nothing here deploys, so
// whatever is about images and containers says no.
func (a *api) lookupDocument(r *request, n node.Node, token node.Secret) map[string]any {
	view := a.nodes.show(n, newest, lookupFields)
	view["links"] = a.links(r, "nodes/"+n.UUID)
	return map[string]any{"node": view, "config": map[string]any{
		"metrics":                        map[string]any{"backend": "noop", "prepend_host": false, "prepend_uuid": false, "prepend_host_reverse": true, "global_prefix": nil},
		"metrics_statsd":                 map[string]any{"statsd_host": "localhost", "statsd_port": 8125},
		"heartbeat_timeout":              heartbeatTimeout,
		"agent_containers":               map[string]any{"allow_arbitrary_containers": false, "allowed_containers": []string{}, "container_steps_file": "", "runner": "podman", "pull_options": []string{}, "run_options": []string{}},
		"agent_token":                    textOrNull(string(token)), // the one place where it is disclosed
		"agent_token_required":           true,
		"agent_md5_checksum_enable":      false,
		"disable_deep_image_inspection":  false,
		"permitted_image_formats":        []string{"raw", "gpt", "qcow2", "iso"},
		"agent_skip_bmc_detect":          n.Interfaces.Management == "redfish",
		"enable_bios_bootloader_install": false,
		"tls_min_version":                "1.3",
		"tls_cipher_suites":              nil,
	}}
}

func (a *api) lookup(r *request) error {
	req := conductor.LookupRequest{NodeUUID: r.query.Get("node_uuid"), Minor: r.minor}
	if list := r.query.Get("addresses"); list != "" {
		req.MACs = strings.Split(list, ",")
	}
	n, token, err := a.Conductor.Lookup(r.UserContext(), r.ramdisk(), req)
	if err != nil {
		return err
	}
	return r.JSON(a.lookupDocument(r, n, token))
}

func (a *api) heartbeat(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	n, err := a.Store.Node(r.UserContext(), ident)
	if err != nil {
		return err
	}
	err = a.Conductor.Heartbeat(r.UserContext(), r.ramdisk(), conductor.HeartbeatRequest{
		NodeUUID: n.UUID, CallbackURL: r.args.Text("callback_url"), AgentVersion: r.args.Text("agent_version"), Token: node.Secret(r.args.Text("agent_token")),
		VerifyCA: r.args.Text("agent_verify_ca"), Status: r.args.Text("agent_status"), StatusMessage: r.args.Text("agent_status_message"), Minor: r.minor,
	})
	if err != nil {
		return err
	}
	return r.empty(202)
}

// ramdisk is who speaks here.
func (r *request) ramdisk() node.Actor {
	who := r.actor()
	who.Source = node.SourceRamdisk
	return who
}

// continueInspection is where ramdisks report (contract.md §4.1). The answer comes once the report is stored.
func (a *api) continueInspection(r *request) error {
	if r.minor > 1 && r.minor < fullReportSince {
		return tooOldToReport
	}
	// The app is immutable: Body is a copy already, and of 16 MiB one is enough.
	req := conductor.ReportRequest{Body: r.Body(), NodeUUID: r.query.Get("node_uuid"), Token: node.Secret(r.query.Get("attempt"))}
	if r.minor < fullReportSince {
		n, err := a.Conductor.Report(r.UserContext(), r.ramdisk(), req)
		if err != nil {
			return err
		}
		return r.Status(202).JSON(map[string]string{"uuid": n.UUID})
	}
	n, token, err := a.Conductor.ReportAndLookup(r.UserContext(), r.ramdisk(), req)
	if err != nil {
		return err
	}
	return r.Status(202).JSON(a.lookupDocument(r, n, token))
}
