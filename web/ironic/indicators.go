package ironic

import (
	"errors"
	"strings"

	"cagenut/node"
	"cagenut/web/openapi"
)

// The one indicator of every server: the light by which people find it.
const (
	ledName      = "led"
	ledComponent = "system"
	theLED       = ledName + "@" + ledComponent
)

// indicatorStates are those that a light can be set to.
func indicatorStates() []string {
	return []string{string(node.IndicatorBlinking), string(node.IndicatorOff), string(node.IndicatorOn)}
}

// statesOf are those that the light of a node can be set to: IPMI has no blinking.
func statesOf(n node.Node) []string {
	if n.Driver == node.DriverIPMI {
		return indicatorStates()[1:]
	}
	return indicatorStates()
}

func (a *api) indicatorOperations() []operation {
	op := func(method, path, does string, answer openapi.Answer, do func(*request) error) operation {
		o := openapi.Operation{Method: method, Path: "/v1/nodes/:node/management" + path, Does: does, Tag: "states", Answers: []openapi.Answer{answer}, May: []int{409, 502, 504}}
		return operation{o, nil, do}
	}
	shows := func(s *openapi.Schema) openapi.Answer { return openapi.Answer{Status: 200, Shows: openapi.Shows(s)} }
	word := openapi.Typed("string")
	indicator := openapi.Record(map[string]*openapi.Schema{
		"name": word, "component": word, "readonly": openapi.Typed("boolean"), "states": openapi.ListOf(openapi.OneOf(indicatorStates()...)), "links": openapi.Ref("Links"),
	})
	states := append(indicatorStates(), string(node.IndicatorUnknown))
	set := op("PUT", "/indicators/:indicator", "Switch an indicator.", openapi.Answer{Status: 204}, a.setIndicator)
	set.Body = openapi.Arguments{{Name: "state", Required: true, Kind: openapi.Word(func(said string) error {
		return node.Invalidf("Invalid indicator state %s (valid are %s)", said, strings.Join(indicatorStates(), ", "))
	}, indicatorStates()...)}}
	nmi := op("PUT", "/inject_nmi", "Interrupt the node.", openapi.Answer{Status: 204}, a.injectNMI)
	nmi.Since, nmi.older, nmi.Body = 29, &node.NotFound{Text: "Resource could not be found."}, openapi.Arguments{}
	return []operation{
		op("GET", "/indicators", "Ask the BMC which indicators there are.", shows(openapi.Record(map[string]*openapi.Schema{"indicators": openapi.ListOf(indicator)})), a.listIndicators),
		op("GET", "/indicators/:indicator", "Ask the BMC how an indicator is.", shows(openapi.Record(map[string]*openapi.Schema{"state": openapi.OneOf(states...)})), a.showIndicator),
		set, nmi,
	}
}

// listIndicators asks the BMC, which may have none.
func (a *api) listIndicators(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	list := []map[string]any{}
	switch _, err := a.Conductor.Indicator(r.UserContext(), n.UUID); {
	case isUnsupported(err):
	case err != nil:
		return err
	default:
		list = append(list, map[string]any{"name": theLED, "component": ledComponent, "readonly": false, "states": statesOf(n),
			"links": a.links(r, "nodes/"+n.UUID+"/management/indicators/"+theLED)})
	}
	return r.JSON(map[string]any{"indicators": list})
}

func isUnsupported(err error) bool {
	var u *node.Unsupported
	return errors.As(err, &u)
}

// indicatorOf finds the node, and refuses names of indicators that it does not have.
func (a *api) indicatorOf(r *request) (node.Node, error) {
	n, err := a.node(r)
	if err != nil {
		return n, err
	}
	said := r.named("indicator")
	name, component, ok := strings.Cut(said, "@")
	switch {
	case !ok:
		return n, node.Invalidf("Malformed indicator name \"%s\"", said)
	case component != ledComponent:
		return n, node.Invalidf("Invalid component %s specified.", component)
	case name != ledName:
		return n, node.Invalidf("Unknown indicator %s for component %s of node %s", name, component, n.UUID)
	}
	return n, nil
}

func (a *api) showIndicator(r *request) error {
	n, err := a.indicatorOf(r)
	if err != nil {
		return err
	}
	state, err := a.Conductor.Indicator(r.UserContext(), n.UUID)
	if err != nil {
		return err
	}
	return r.JSON(map[string]any{"state": state})
}

func (a *api) setIndicator(r *request) error {
	n, err := a.indicatorOf(r)
	if err != nil {
		return err
	}
	if err := a.Conductor.SetIndicator(r.UserContext(), r.actor(), n.UUID, node.Indicator(r.args.Text("state"))); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) injectNMI(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	if err := a.Conductor.InjectNMI(r.UserContext(), r.actor(), ident); err != nil {
		return err
	}
	return r.empty(204)
}
