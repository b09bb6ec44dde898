package node

import (
	"fmt"
	"slices"
	"strings"
)

// RuleDocuments lists the documents of a node that a rule may change, at any depth.
func RuleDocuments() []string {
	return []string{"driver_info", "extra", "instance_info", "network_data", "properties"}
}

// RuleAttributes lists the other attributes of a node that a rule may change: of what PATCH may change, all that says
// something of the server itself, and not who uses it at the moment.
func RuleAttributes() []string {
	names := []string{
		"automated_clean", "conductor_group", "description", "disable_power_off", "driver", "lessee", "maintenance", "maintenance_reason", "name",
		"owner", "protected", "protected_reason", "resource_class", "retired", "retired_reason", "shard",
	}
	for _, kind := range InterfaceTypes() {
		names = append(names, kind+"_interface")
	}
	slices.Sort(names)
	return names
}

// RulePortDocuments lists the documents of a port that a rule may change, at any depth.
func RulePortDocuments() []string { return []string{"extra", "local_link_connection"} }

// RulePortAttributes lists the other attributes of a port that a rule may change.
func RulePortAttributes() []string {
	return []string{"is_smartnic", "name", "physical_network", "pxe_enabled"}
}

// maxRulePath is how many elements a path may have.
const maxRulePath = 16

// RulePath splits the path of an attribute: with slashes, a leading one or none, or with dots where it has no slash.
func RulePath(path string) ([]string, error) {
	separator := "."
	if strings.Contains(path, "/") {
		separator, path = "/", strings.Trim(path, "/")
	}
	return pathElements(path, separator)
}

// RuleDataPath splits the path of plugin data: with dots.
func RuleDataPath(path string) ([]string, error) { return pathElements(path, ".") }

func pathElements(path, separator string) ([]string, error) {
	parts := strings.Split(path, separator)
	if slices.Contains(parts, "") {
		return nil, fmt.Errorf("'%s' is no path", short(path))
	}
	if len(parts) > maxRulePath {
		return nil, fmt.Errorf("a path has at most %d elements", maxRulePath)
	}
	return parts, nil
}

// CheckRulePath tells whether a rule may change the attribute of a node that a split path leads to.
func CheckRulePath(path []string) error {
	return checkAttribute("node", path, RuleDocuments(), RuleAttributes())
}

// CheckRulePortPath tells whether a rule may change the attribute of a port that a split path leads to.
func CheckRulePortPath(path []string) error {
	return checkAttribute("port", path, RulePortDocuments(), RulePortAttributes())
}

func checkAttribute(of string, path, documents, plain []string) error {
	switch {
	case slices.Contains(documents, path[0]):
		return nil
	case !slices.Contains(plain, path[0]):
		all := append(slices.Clone(documents), plain...)
		slices.Sort(all)
		return fmt.Errorf("'%s' is no attribute of a %s that a rule may change; those are: %s", short(path[0]), of, strings.Join(all, ", "))
	case len(path) > 1:
		return fmt.Errorf("the attribute '%s' has no parts", path[0])
	}
	return nil
}

func isNodePath(v any) error { return checkPath(v, RulePath, CheckRulePath) }
func isPortPath(v any) error { return checkPath(v, RulePath, CheckRulePortPath) }
func isDataPath(v any) error {
	return checkPath(v, RuleDataPath, func([]string) error { return nil })
}

func checkPath(v any, split func(string) ([]string, error), check func([]string) error) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s is no path", shortValue(v))
	}
	path, err := split(s)
	if err != nil {
		return err
	}
	return check(path)
}
