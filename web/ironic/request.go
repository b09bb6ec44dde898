package ironic

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// operation is one row of the API: its description, by which requests are checked, and who carries it out.
type operation struct {
	openapi.Operation
	// older is what callers of an older microversion are told; nil: that there is no such address.
	older error
	do    func(*request) error
}

// request is a request that its operation's description allows.
type request struct {
	*fiber.Ctx
	minor int // the caller's microversion 1.N
	query url.Values
	args  openapi.Values // of a body of arguments
}

// serve answers one operation. Callers whose version is in range get the version headers, also on errors. suffixed says
// that the address has `.json` at its end, which is no part of it below 1.91 (contract.md §1.6); addresses that end in a
// name see to that themselves, because a name may end so.
func (a *api) serve(o operation, suffixed bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := a.negotiate(c); err != nil {
			return AnswerError(c, err)
		}
		r := &request{Ctx: c, minor: minor(c), query: web.Query(c)}
		if suffixed && r.minor >= suffixUntil {
			return c.Next()
		}
		if err := r.check(o); err != nil {
			return err
		}
		return o.do(r)
	}
}

// check holds a request against the description of its operation.
func (r *request) check(o operation) error {
	if r.minor < o.Since {
		if o.older == nil {
			return unrouted()
		}
		return o.older
	}
	if err := o.CheckQuery(r.query, r.minor, notAcceptable); err != nil {
		return err
	}
	if args, ok := o.Body.(openapi.Arguments); ok {
		var err error
		r.args, err = args.Read(r.Body(), r.minor, func(int) error { return node.ErrNotAcceptable })
		return err
	}
	return nil
}

// flag is a boolean parameter of the address; false without it.
func (r *request) flag(name string) bool {
	b, _ := openapi.ReadFlag(name, []byte(strconv.Quote(r.query.Get(name)))) // its kind has been checked
	return b
}

func (r *request) actor() node.Actor { return web.Actor(r.Ctx, node.SourceAPI) }

const maxLimit = 1000

// page is the part of a list that is asked for.
func (r *request) page() node.Page {
	p := node.Page{Limit: maxLimit, Marker: r.query.Get("marker"), Descending: r.query.Get("sort_dir") == "desc"}
	if n, err := strconv.Atoi(r.query.Get("limit")); err == nil {
		p.Limit = min(n, maxLimit)
	}
	if key := r.query.Get("sort_key"); key != "id" {
		p.SortKey = key
	}
	return p
}

// suffixUntil is the version from which `.json` at the end of an address is part of it.
const suffixUntil = 91

// namesSince is the version from which nodes have names.
const namesSince = 5

var logicalName = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,255}$`)

// ident is the thing that an element of the path names. Below 1.91 `.json` at its end is no part of it, unless there is
// a thing that is called so.
func (r *request) ident(element string, known func(ident string) bool) (string, error) {
	s, err := url.PathUnescape(r.Params(element))
	if err != nil || !logicalName.MatchString(s) {
		return "", node.Invalidf("Expected UUID or name for %s_ident: %s", element, r.Params(element))
	}
	if short, ok := strings.CutSuffix(s, ".json"); ok && r.minor < suffixUntil && !known(s) {
		s = short
	}
	return s, nil
}

// named is what an element of the path calls something whose name is not to be had with `.json` at its end.
func (r *request) named(element string) string {
	s, err := url.PathUnescape(r.Params(element))
	if err != nil {
		s = r.Params(element) // nothing is called so
	}
	if r.minor < suffixUntil {
		s = strings.TrimSuffix(s, ".json")
	}
	return s
}

// nodeIdent is the node that the path names, by UUID or (from 1.5) by name.
func (a *api) nodeIdent(r *request) (string, error) {
	s, err := r.ident("node", func(ident string) bool {
		_, err := a.Store.Node(r.UserContext(), ident)
		return err == nil
	})
	if err != nil {
		return "", err
	}
	return s, mayBeNamed(s, r.minor)
}

// mayBeNamed refuses names to callers that are too old to know of them.
func mayBeNamed(ident string, minor int) error {
	if minor < namesSince && !node.IsUUID(ident) {
		return &node.NotFound{What: "Node", Ident: ident}
	}
	return nil
}

// node is the node that the path names.
func (a *api) node(r *request) (node.Node, error) {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return node.Node{}, err
	}
	return a.Store.Node(r.UserContext(), ident)
}

// base is the address that links in an answer begin with.
func (a *api) base(c *fiber.Ctx) string { return web.BaseURL(c, a.public) }

type link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
	Type string `json:"type,omitempty"`
}

// links are the two addresses of a resource: below /v1 and the bookmark.
func (a *api) links(r *request, path string) []link {
	base := a.base(r.Ctx)
	return []link{{Href: base + "/v1/" + path, Rel: "self"}, {Href: base + "/" + path, Rel: "bookmark"}}
}

// accepted is the answer of a verb; the ident is as the caller gave it (contract.md §1.6).
func (a *api) accepted(r *request) error {
	r.Location(a.base(r.Ctx) + "/v1/nodes/" + r.Params("node") + "/states")
	return r.empty(fiber.StatusAccepted)
}

func (r *request) empty(status int) error {
	r.Status(status)
	return nil
}

// created is the answer to a new thing.
func (a *api) created(r *request, path string, view map[string]any) error {
	r.Location(a.base(r.Ctx) + "/v1/" + path)
	return r.Status(fiber.StatusCreated).JSON(view)
}
