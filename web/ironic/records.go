package ironic

import (
	"encoding/json"

	"cagenut/node"
	"cagenut/web/openapi"
)

func (a *api) recordOperations() []operation {
	op := func(path, does string, since int, shows *openapi.Schema, do func(*request) error) operation {
		o := openapi.Operation{Method: "GET", Path: "/v1/nodes/:node" + path, Does: does, Tag: "records", Since: since, Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(shows)}}}
		return operation{o, nil, do}
	}
	history := op("/history", "List what happened to a node, the oldest first.", 78, list("history", openapi.Ref("HistoryEntry"))(0), a.listHistory)
	history.Query = append(paging(), openapi.Parameter{Name: "detail", Does: "Show all fields.", Kind: openapi.Flag()},
		openapi.Parameter{Name: "sort_key", Kind: openapi.Word(func(said string) error {
			return node.Invalidf("The sort_key value %q is an invalid field for sorting", said)
		}, "id", "created_at")}, directionParameter())
	children := op("/children", "Name the nodes that are parts of this one.", 83, openapi.Record(map[string]*openapi.Schema{"children": openapi.ListOf(openapi.Typed("string")), "links": openapi.Ref("Link")}), a.listChildren)
	children.older = &node.NotFound{Text: "Resource could not be found."}
	return []operation{
		a.validateOperation("/v1/nodes/:node/validate"),
		op("/inventory", "Show what the last inspection found.", 81, openapi.Record(map[string]*openapi.Schema{"inventory": openapi.Typed("object"), "plugin_data": openapi.Typed("object")}), a.showInventory),
		history,
		op("/history/:entry", "Show one entry of the history.", 78, openapi.Ref("HistoryEntry"), a.showHistory),
		children,
	}
}

func (a *api) validateOperation(path string) operation {
	result := openapi.Record(map[string]*openapi.Schema{"result": openapi.Typed("boolean", "null"), "reason": openapi.Typed("string")}, "reason")
	o := openapi.Operation{Method: "GET", Path: path, Does: "Tell for each interface whether it would work.", Tag: "records", Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.MapOf(result))}}}
	if path == "/v1/nodes/validate" {
		o.Query, o.May = []openapi.Parameter{{Name: "node", Required: true, Kind: openapi.Text(255)}}, []int{404}
	}
	return operation{o, nil, a.validate}
}

type validation struct {
	Result *bool  `json:"result"`
	Reason string `json:"reason,omitempty"`
}

// validate also serves /v1/nodes/validate?node=.
func (a *api) validate(r *request) error {
	ident := r.query.Get("node")
	if r.Params("node") != "" {
		var err error
		if ident, err = a.nodeIdent(r); err != nil {
			return err
		}
	}
	if err := mayBeNamed(ident, r.minor); err != nil {
		return err
	}
	found, err := a.Conductor.Validate(r.UserContext(), ident)
	if err != nil {
		return err
	}
	out := map[string]validation{}
	for kind, v := range found {
		out[kind] = validation(v)
	}
	return r.JSON(out)
}

func (a *api) showInventory(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	i, err := a.Store.Inventory(r.UserContext(), n.UUID)
	if err != nil {
		return err
	}
	plugin := i.PluginData
	if len(plugin) == 0 {
		plugin = []byte("{}")
	}
	return r.JSON(map[string]json.RawMessage{"inventory": i.Inventory, "plugin_data": plugin})
}

// shortEvent is the longest event that the short form shows whole, in characters; of a longer one it shows the beginning.
const (
	shortEvent = 255
	cutEvent   = 251
)

func historySchema(int) *openapi.Schema {
	word := openapi.Typed("string")
	return openapi.Record(map[string]*openapi.Schema{
		"uuid": word, "created_at": timeKind().Reads(0), "severity": word, "event": word, "links": openapi.Ref("Links"),
		"event_type": word, "conductor": word, "user": openapi.Typed("string", "null"),
	}, "event_type", "conductor", "user")
}

func (a *api) historyView(r *request, n node.Node, h node.History, detail bool) map[string]any {
	out := map[string]any{"uuid": h.UUID, "created_at": timeOrNull(h.At), "severity": h.Severity, "event": h.Event,
		"links": a.links(r, "nodes/"+n.UUID+"/history/"+h.UUID)[:1]}
	if detail {
		out["event_type"], out["conductor"], out["user"] = h.Type, a.Host, textOrNull(h.Actor.User)
		return out
	}
	if text := []rune(h.Event); len(text) > shortEvent {
		out["event"] = string(text[:cutEvent]) + "..."
	}
	return out
}

func (a *api) listHistory(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	p := r.page()
	p.SortKey = "" // the order of creation is the order of their times
	found, err := a.Store.History(r.UserContext(), n.UUID, p)
	if err != nil {
		return err
	}
	return sendList(a, r, "history", "nodes/"+n.UUID+"/history", found, func(h node.History) (map[string]any, string) {
		return a.historyView(r, n, h, r.flag("detail")), h.UUID
	})
}

func (a *api) showHistory(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	h, err := a.Store.HistoryEntry(r.UserContext(), n.UUID, r.named("entry"))
	if err != nil {
		return err
	}
	return r.JSON(a.historyView(r, n, h, true))
}

// listChildren names the nodes that are parts of this one; `links` is a single object here.
func (a *api) listChildren(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	found, err := a.Store.Nodes(r.UserContext(), node.Filter{ParentNode: n.UUID})
	if err != nil {
		return err
	}
	children := make([]string, len(found))
	for i, child := range found {
		children[i] = child.UUID
	}
	return r.JSON(map[string]any{"children": children, "links": link{Href: a.base(r.Ctx) + "/v1/nodes?parent_node=" + n.UUID, Rel: "children"}})
}
