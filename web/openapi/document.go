package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Part is an API whose errors look alike.
type Part struct {
	Operations []Operation
	// Components are the schemas that others refer to by [Ref].
	Components func(minor int) map[string]*Schema
	// Refusals are the bodies of refusals, by status; 0 is that of all others.
	Refusals map[int]*Schema
	// Headers are of every request.
	Headers []Parameter
}

// Document is the OpenAPI 3.1 document of an address.
type Document struct {
	Title, Description, Version string
	// Server is the address that the paths are below.
	Server string
	Parts  []Part
	// Basic says that all operations but the public ones ask for a name and a password.
	Basic bool
}

type object = map[string]any

var (
	pathParameter = regexp.MustCompile(`:(\w+)`)
	pathWord      = regexp.MustCompile(`\w+`)
)

// At is the document of those operations that a microversion has, as a value that marshals to JSON.
func (d Document) At(minor int) any {
	paths, schemas := object{}, map[string]*Schema{}
	for _, p := range d.Parts {
		for _, o := range p.Operations {
			if o.Since > minor {
				continue
			}
			path := pathParameter.ReplaceAllString(o.Path, "{$1}")
			item, ok := paths[path].(object)
			if !ok {
				item = object{}
				paths[path] = item
			}
			item[strings.ToLower(o.Method)] = d.operation(p, o, minor)
		}
		maps.Copy(schemas, p.Components(minor))
	}
	components := object{"schemas": schemas}
	out := object{
		"openapi": "3.1.0",
		"info":    object{"title": d.Title, "description": d.Description, "version": d.Version},
		"servers": []object{{"url": d.Server}},
		"paths":   paths, "components": components,
	}
	if d.Basic {
		components["securitySchemes"] = object{"basic": object{"type": "http", "scheme": "basic"}}
		out["security"] = []object{{"basic": []string{}}}
	}
	return out
}

func (d Document) operation(part Part, o Operation, minor int) object {
	out := object{"summary": o.Does, "operationId": operationID(o), "tags": []string{o.Tag}, "responses": d.responses(part, o, minor)}
	var parameters []object
	for _, name := range pathParameter.FindAllStringSubmatch(o.Path, -1) {
		parameters = append(parameters, object{"name": name[1], "in": "path", "required": true, "schema": Typed("string")})
	}
	for _, p := range o.Query {
		if p.Since <= minor {
			parameters = append(parameters, parameter(p, "query", minor))
		}
	}
	for _, p := range part.Headers {
		parameters = append(parameters, parameter(p, "header", minor))
	}
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	if o.Body != nil {
		out["requestBody"] = object{"content": object{"application/json": object{"schema": o.Body.Takes(minor)}}}
	}
	if o.Public && d.Basic {
		out["security"] = []object{}
	}
	return out
}

// operationID is made of the words of method and path.
func operationID(o Operation) string {
	words := pathWord.FindAllString(o.Path, -1)
	return strings.ToLower(o.Method) + "_" + strings.Join(words, "_")
}

func parameter(p Parameter, in string, minor int) object {
	out := object{"name": p.Name, "in": in, "schema": p.Kind.Takes(minor)}
	if p.Does != "" {
		out["description"] = p.Does
	}
	if p.Required {
		out["required"] = true
	}
	if p.Since > 1 {
		out["x-since"] = fmt.Sprintf("1.%d", p.Since)
	}
	if p.Kind.Takes(minor).Type == "array" {
		out["style"], out["explode"] = "form", false
	}
	return out
}

func (d Document) responses(part Part, o Operation, minor int) object {
	out := object{}
	for _, a := range o.Answers {
		r := object{"description": http.StatusText(a.Status)}
		if a.Shows != nil {
			kind := a.Type
			if kind == "" {
				kind = "application/json"
			}
			r["content"] = object{kind: object{"schema": a.Shows(minor)}}
		}
		if a.Location {
			r["headers"] = object{"Location": object{"required": true, "schema": Typed("string")}}
		}
		out[strconv.Itoa(a.Status)] = r
	}
	for _, status := range o.refusals(d.Basic) {
		body, ok := part.Refusals[status]
		if !ok {
			body = part.Refusals[0]
		}
		out[strconv.Itoa(status)] = object{"description": http.StatusText(status), "content": object{"application/json": object{"schema": body}}}
	}
	return out
}

// refusals are the statuses of everything that can go wrong with a request.
func (o Operation) refusals(basic bool) []int {
	all := append([]int{http.StatusBadRequest, http.StatusNotAcceptable}, o.May...)
	if strings.Contains(o.Path, ":") {
		all = append(all, http.StatusNotFound)
	}
	if o.Method != http.MethodGet {
		// A body that nobody reads is bounded too.
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if basic && !o.Public {
		// Wrong passwords make the next try wait.
		all = append(all, http.StatusUnauthorized, http.StatusTooManyRequests)
		if o.Method != http.MethodGet {
			all = append(all, http.StatusForbidden)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
