package ironic

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/web/openapi"
)

// resourcesSince are the parts of the API that the root document names, with the version that brought each (contract.md
// §1.2). What is not served is not named.
var resourcesSince = map[string]int{
	"chassis": 1, "nodes": 1, "ports": 1, "drivers": 1, "lookup": 22, "heartbeat": 22, "conductors": 49, "shards": 82, "continue_inspection": 84, "inspection_rules": 96,
}

func (a *api) discoveryOperations() []operation {
	return []operation{
		{openapi.Operation{Method: "GET", Path: "/", Does: "Say which versions there are.", Tag: "discovery", Public: true, Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(versionsSchema())}}}, nil, a.versions},
		{openapi.Operation{Method: "GET", Path: "/v1", Does: "Say what there is.", Tag: "discovery", Public: true, Answers: []openapi.Answer{{Status: 200, Shows: rootSchema}}}, nil, a.root},
	}
}

type versionDocument struct {
	ID         string `json:"id"`
	Links      []link `json:"links"`
	Status     string `json:"status"`
	MinVersion string `json:"min_version"`
	Version    string `json:"version"`
}

func versionSchema() *openapi.Schema {
	word := openapi.Typed("string")
	return openapi.Record(map[string]*openapi.Schema{"id": word, "links": openapi.Ref("Links"), "status": word, "min_version": word, "version": word})
}

func versionsSchema() *openapi.Schema {
	word := openapi.Typed("string")
	return openapi.Record(map[string]*openapi.Schema{"name": word, "description": word, "default_version": versionSchema(), "versions": openapi.ListOf(versionSchema())})
}

func rootSchema(minor int) *openapi.Schema {
	keys := map[string]*openapi.Schema{
		"id": openapi.Typed("string"), "links": openapi.Ref("Links"), "media_types": openapi.MapOf(openapi.Typed("string")), "version": versionSchema(),
	}
	for name, since := range resourcesSince {
		if minor >= since {
			keys[name] = openapi.Ref("Links")
		}
	}
	return openapi.Record(keys)
}

func (a *api) current(r *request) versionDocument {
	return versionDocument{"v1", []link{{Href: a.base(r.Ctx) + "/v1/", Rel: "self"}}, "CURRENT", "1.1", fmt.Sprintf("1.%d", a.MaxMinor)}
}

// versions is the document of contract.md §1.1; a browser is sent to the dashboard.
func (a *api) versions(r *request) error {
	if strings.Contains(r.Get(fiber.HeaderAccept), "text/html") {
		return r.Redirect("/ui", fiber.StatusFound)
	}
	r.Vary(fiber.HeaderAccept)
	v := a.current(r)
	return r.JSON(struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Default     versionDocument   `json:"default_version"`
		Versions    []versionDocument `json:"versions"`
	}{"Cagenut Bare Metal API", "OpenStack Ironic's Bare Metal API, served by a Cagenut appliance.", v, []versionDocument{v}})
}

// root is the document of contract.md §1.2.
func (a *api) root(r *request) error {
	out := map[string]any{
		"id":          "v1",
		"links":       []link{{Href: a.base(r.Ctx) + "/v1/", Rel: "self"}, {Href: "https://docs.openstack.org/api-ref/baremetal/", Rel: "describedby", Type: "text/html"}},
		"media_types": map[string]string{"base": "application/json", "type": "application/vnd.openstack.ironic.v1+json"},
		"version":     a.current(r),
	}
	for name, since := range resourcesSince {
		if r.minor >= since {
			out[name] = a.links(r, name+"/")
		}
	}
	return r.JSON(out)
}
