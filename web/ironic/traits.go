package ironic

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

const (
	traitsSince = 37
	maxTraits   = 50
)

// traitShape are the custom traits and those of the families that are standardised.
var traitShape = regexp.MustCompile(`^(CUSTOM|HW|COMPUTE|MISC|STORAGE|OWNER|HOST)_[A-Z0-9_]{1,240}$`)

func checkTrait(name string) error {
	if !traitShape.MatchString(name) {
		return node.Invalidf("Invalid trait '%s': a trait is a standard one, or CUSTOM_ followed by upper-case letters, digits and underscores", name)
	}
	return nil
}

func (a *api) listTraits(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if minor(c) < traitsSince {
		return node.ErrNotAcceptable
	}
	traits := append([]string{}, n.Traits...)
	slices.Sort(traits)
	return c.JSON(map[string]any{"traits": traits})
}

// setTraits replaces all traits; older versions do not have the method (contract.md §1.4).
func (a *api) setTraits(c *fiber.Ctx) error {
	if minor(c) < traitsSince {
		return methodNotAllowed(c, "GET", "")
	}
	args, err := body(c, "traits")
	if err != nil {
		return err
	}
	raw, ok := args["traits"]
	if !ok {
		return node.Invalidf("Missing mandatory parameter: traits")
	}
	if string(raw) == "null" {
		return node.Invalidf("Expected list for traits: null") // never taken for "no traits"
	}
	var traits []string
	if json.Unmarshal(raw, &traits) != nil {
		return node.Invalidf("Expected array of strings for traits: %s", raw)
	}
	return a.changeTraits(c, func(node.Node) ([]string, error) {
		for _, t := range traits {
			if err := checkTrait(t); err != nil {
				return nil, err
			}
		}
		return traits, nil
	})
}

func (a *api) addTrait(c *fiber.Ctx) error {
	if minor(c) < traitsSince {
		return methodNotAllowed(c, "GET", "")
	}
	if _, err := body(c); err != nil {
		return err
	}
	trait, err := url.PathUnescape(c.Params("trait"))
	if err != nil {
		return node.Invalidf("Invalid trait '%s'", c.Params("trait"))
	}
	if err := checkTrait(trait); err != nil {
		return err
	}
	if err := a.changeTraits(c, func(n node.Node) ([]string, error) { return append(slices.Clone(n.Traits), trait), nil }); err != nil {
		return err
	}
	c.Location(a.base(c) + "/v1/nodes/" + c.Params("node") + "/traits/" + trait)
	return nil
}

func (a *api) deleteTraits(c *fiber.Ctx) error {
	return a.changeTraits(c, func(node.Node) ([]string, error) { return nil, nil })
}

func (a *api) deleteTrait(c *fiber.Ctx) error {
	trait := c.Params("trait")
	return a.changeTraits(c, func(n node.Node) ([]string, error) {
		i := slices.Index(n.Traits, trait)
		if i < 0 {
			return nil, &node.NotFound{Text: fmt.Sprintf("Node %s doesn't have a trait '%s'", n.UUID, trait)}
		}
		return slices.Delete(slices.Clone(n.Traits), i, i+1), nil
	})
}

// changeTraits stores what change makes of a node's traits, each once and sorted.
func (a *api) changeTraits(c *fiber.Ctx, change func(node.Node) ([]string, error)) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	_, err = a.Conductor.PatchNode(c.UserContext(), actor(c), ident, minor(c), func(n node.Node) (node.Node, error) {
		traits, err := change(n)
		if err != nil {
			return n, err
		}
		slices.Sort(traits)
		n.Traits = slices.Compact(traits)
		if len(n.Traits) > maxTraits {
			return n, node.Invalidf("A node can have at most %d traits.", maxTraits)
		}
		return n, nil
	})
	if err != nil {
		return err
	}
	return empty(c, fiber.StatusNoContent)
}
