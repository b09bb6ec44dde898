package extension

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

// description is this API as its document shows it.
func (a *api) description() openapi.Part {
	operations := []openapi.Operation{eventsOperation(), abortsOperation(), attemptsOperation(), healthOperation(), auditOperation(), documentOperation()}
	operations = slices.AppendSeq(operations, maps.Values(inspectionOperations()))
	operations = slices.AppendSeq(operations, maps.Values(bulkOperations()))
	if a.o.Self != nil {
		operations = append(operations, applianceOperation())
	}
	if a.o.Discovery != nil {
		operations = slices.AppendSeq(operations, maps.Values(discoveredOperations()))
	}
	return openapi.Part{
		Operations: operations,
		Components: func(int) map[string]*openapi.Schema {
			all := map[string]*openapi.Schema{
				"Attempt": openapi.Of(reflect.TypeFor[Attempt]()), "Attempts": openapi.Of(reflect.TypeFor[attemptList]()), "Aborts": openapi.Of(reflect.TypeFor[abortAnswer]()),
				"Health": openapi.Of(reflect.TypeFor[Health]()), "Audit": openapi.Of(reflect.TypeFor[auditList]()),
				"Appliance": openapi.Of(reflect.TypeFor[Appliance]()),
				"Error":     openapi.Record(map[string]*openapi.Schema{"error": openapi.Record(map[string]*openapi.Schema{"message": openapi.Typed("string"), "code": openapi.Typed("integer")})}),
			}
			maps.Copy(all, inspectionComponents())
			maps.Copy(all, bulkComponents())
			maps.Copy(all, discoveredComponents())
			return all
		},
		Refusals: map[int]*openapi.Schema{0: openapi.Ref("Error")},
	}
}

const tag = "cagenut"

func eventsOperation() openapi.Operation {
	return openapi.Operation{Method: "GET", Path: "/cagenut/v1/events", Does: "Follow all changes of state, of the power as looks at BMCs find it, and of whether a BMC answers, as server-sent events.", Tag: tag, May: []int{503},
		Answers: []openapi.Answer{{Status: 200, Type: "text/event-stream", Shows: openapi.Shows(openapi.Typed("string"))}}}
}

func abortsOperation() openapi.Operation {
	return openapi.Operation{Method: "POST", Path: "/cagenut/v1/aborts", Does: "Abort many inspections, and say for each node what came of it.", Tag: tag, Body: abortArguments(),
		Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref("Aborts"))}}}
}

func attemptsOperation() openapi.Operation {
	return openapi.Operation{Method: "GET", Path: "/cagenut/v1/nodes/:ident/attempts", Does: "List the inspections of a node, the newest first.", Tag: tag,
		Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref("Attempts"))}},
		Query:   pageOf("The id of the last one that was seen.")}
}

func healthOperation() openapi.Operation {
	return openapi.Operation{Method: "GET", Path: "/cagenut/v1/nodes/:ident/health", Does: "Ask the BMC of a node for health, failing parts, sensors and the newest entries of its log.", Tag: tag,
		Query:   []openapi.Parameter{{Name: "ask", Does: "False asks nobody: what is told is bmc and overall, as they are known.", Kind: openapi.Flag()}},
		Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Ref("Health"))}}, May: []int{502, 504}}
}

func documentOperation() openapi.Operation {
	return openapi.Operation{Method: "GET", Path: "/cagenut/v1/openapi.json", Does: "Show this document.", Tag: tag,
		Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Typed("object"))}},
		Query: []openapi.Parameter{{Name: "version", Does: "The microversion of Ironic's API that is described; the newest without it.",
			Kind: openapi.Text(16)}}}
}

// document is the OpenAPI document of this API and of Ironic's, at the microversion ?version=1.N.
func (a *api) document(c *fiber.Ctx) error {
	q := web.Query(c)
	if err := documentOperation().CheckQuery(q, 0, nil); err != nil {
		return err
	}
	minor := a.o.MaxMinor
	if said := q.Get("version"); said != "" {
		n, ok := strings.CutPrefix(said, "1.")
		var err error
		if minor, err = strconv.Atoi(n); !ok || err != nil || minor < 1 || minor > a.o.MaxMinor {
			return node.Invalidf("version must be between 1.1 and 1.%d.", a.o.MaxMinor)
		}
	}
	written := a.newest
	if minor != a.o.MaxMinor {
		written = func() ([]byte, error) { return a.written(minor) }
	}
	doc, err := written()
	if err != nil {
		return err
	}
	server, err := json.Marshal(web.BaseURL(c, a.o.PublicURL))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(bytes.Replace(doc, []byte(`"`+noServer+`"`), server, 1))
}

// noServer stands for the address of the server, which each caller knows by a name of its own.
const noServer = "http://server.invalid"

func (a *api) written(minor int) ([]byte, error) {
	d := openapi.Document{
		Title: "Cagenut", Version: fmt.Sprintf("1.%d", minor), Server: noServer, Basic: a.o.SignIn,
		Description: "OpenStack Ironic's Bare Metal API at one microversion, as this appliance serves it, and what it adds below /cagenut/v1. Every path below /v1 is served without that prefix too.",
		Parts:       []openapi.Part{a.o.API, a.description()},
	}
	return json.Marshal(d.At(minor))
}
