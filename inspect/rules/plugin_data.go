package rules

import (
	"context"

	"cagenut/node"
)

// pluginData is the plugin data to change, and the path in it.
func (r *run) pluginData(args map[string]any) (map[string]any, []string, error) {
	s, err := textArgument(args, "path")
	if err != nil {
		return nil, nil, err
	}
	path, err := node.RuleDataPath(s)
	if err != nil {
		return nil, nil, err
	}
	doc, err := r.plugin.object()
	r.plugin.changed = true
	return doc, path, err
}

func setPluginData(_ context.Context, r *run, args map[string]any) error {
	doc, path, err := r.pluginData(args)
	if err != nil {
		return err
	}
	return inPath(args, setIn(doc, path, args["value"]))
}

func extendPluginData(_ context.Context, r *run, args map[string]any) error {
	doc, path, err := r.pluginData(args)
	if err != nil {
		return err
	}
	return inPath(args, r.extendIn(doc, path, args["value"], isTrue(args["unique"])))
}

func unsetPluginData(_ context.Context, r *run, args map[string]any) error {
	doc, path, err := r.pluginData(args)
	if err != nil {
		return err
	}
	if !deleteIn(doc, path) {
		r.note("there is no plugin data at %s to unset", excerpt(args["path"].(string)))
	}
	return nil
}
