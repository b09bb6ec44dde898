package rules

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"cagenut/node"
)

// action does something. formatted are the arguments whose fields are filled in; in a loop all are.
type action struct {
	formatted []string
	do        func(ctx context.Context, r *run, args map[string]any) error
}

var actions = map[string]action{
	"fail":             {nil, fail},
	"log":              {[]string{"msg"}, logMessage},
	"set-attribute":    {[]string{"value"}, setAttribute},
	"extend-attribute": {[]string{"value"}, extendAttribute},
	"del-attribute":    {nil, delAttribute},
	"set-capability":   {[]string{"value"}, setCapability},
	"unset-capability": {nil, unsetCapability},
	"add-trait":        {nil, addTrait},
	"remove-trait":     {nil, removeTrait},

	"set-plugin-data":    {[]string{"value"}, setPluginData},
	"extend-plugin-data": {[]string{"value"}, extendPluginData},
	"unset-plugin-data":  {nil, unsetPluginData},

	"set-port-attribute":    {[]string{"value"}, setPortAttribute},
	"extend-port-attribute": {[]string{"value"}, extendPortAttribute},
	"del-port-attribute":    {nil, delPortAttribute},

	"api-call": {[]string{"url"}, callAPI},
}

// act does an action, once for each item of its loop.
func (r *run) act(ctx context.Context, a node.RuleAction) error {
	what, known := actions[a.Op]
	if !known {
		return errors.New("there is no such action")
	}
	args, err := a.Arguments()
	if err != nil {
		return err
	}
	rounds, looped, err := r.rounds(a.Loop)
	if err != nil {
		return err
	}
	if !looped {
		return r.actOnce(ctx, what, args, scope{})
	}
	for _, s := range rounds {
		if err := r.actOnce(ctx, what, args, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) actOnce(ctx context.Context, what action, args map[string]any, s scope) error {
	if err := r.step(ctx); err != nil {
		return err
	}
	filled := make(map[string]any, len(args))
	for name, v := range args {
		filled[name] = v
		if s.looped || slices.Contains(what.formatted, name) {
			var err error
			if filled[name], err = r.expand(v, s); err != nil {
				return err
			}
		}
	}
	return what.do(ctx, r, filled)
}

// textArgument is an argument that must be a text.
func textArgument(args map[string]any, name string) (string, error) {
	s, ok := args[name].(string)
	if !ok || s == "" {
		return "", fmt.Errorf("%s is no text", name)
	}
	return s, nil
}

func fail(_ context.Context, _ *run, args map[string]any) error {
	msg, err := textOf(args["msg"])
	if err != nil {
		return fmt.Errorf("msg %w", err)
	}
	return &failure{msg: cut(msg, maxText)}
}

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError, "critical": slog.LevelError + 4,
}

// logMessage writes to the appliance's log and to the notes of the attempt.
func logMessage(ctx context.Context, r *run, args map[string]any) error {
	msg, err := textOf(args["msg"])
	if err != nil {
		return fmt.Errorf("msg %w", err)
	}
	name := "info"
	if given, ok := args["level"].(string); ok {
		name = strings.ToLower(given)
	}
	level, known := logLevels[name]
	if !known {
		return fmt.Errorf("Invalid log level: %s. Choose from %s", excerpt(name), strings.Join(node.RuleLogLevels(), ", ")) //nolint:staticcheck // the wire's text
	}
	r.Log.Log(ctx, level, "inspection rule", "rule", r.rule.UUID, "node", r.node.UUID, "msg", cut(msg, maxNote))
	r.note("%s: %s", name, cut(msg, maxNote))
	return nil
}

func setAttribute(_ context.Context, r *run, args map[string]any) error {
	path, err := attributePath(args)
	if err != nil {
		return err
	}
	return inPath(args, r.setNode(path, args["value"]))
}

func extendAttribute(_ context.Context, r *run, args map[string]any) error {
	path, err := attributePath(args)
	if err != nil {
		return err
	}
	if err := node.CheckRulePath(path); err != nil {
		return err
	}
	doc := nodeDocument(&r.node, path[0])
	if doc == nil || len(path) == 1 {
		return inPath(args, errNoList)
	}
	r.changed[path[0]] = true
	return inPath(args, r.extendIn(*doc, path[1:], args["value"], isTrue(args["unique"])))
}

func delAttribute(_ context.Context, r *run, args map[string]any) error {
	path, err := attributePath(args)
	if err != nil {
		return err
	}
	if doc := nodeDocument(&r.node, path[0]); doc != nil && len(path) > 1 {
		r.changed[path[0]] = true
		deleteIn(*doc, path[1:])
		return nil
	}
	return inPath(args, r.setNode(path, nil))
}

func attributePath(args map[string]any) ([]string, error) {
	s, err := textArgument(args, "path")
	if err != nil {
		return nil, err
	}
	return node.RulePath(s)
}

// inPath says which path an error is about. Values stay out of it: they may be secrets.
func inPath(args map[string]any, err error) error {
	if err == nil {
		return nil
	}
	path, _ := args["path"].(string)
	return fmt.Errorf("%s: %w", excerpt(path), err)
}
