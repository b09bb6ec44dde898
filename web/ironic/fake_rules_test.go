package ironic_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// ruleShelf keeps rules in memory, in the order of their creation.
type ruleShelf struct{ rules []node.InspectionRule }

func (s *ruleShelf) InspectionRule(_ context.Context, uuid string) (node.InspectionRule, error) {
	if i := s.index(uuid); i >= 0 {
		return s.rules[i], nil
	}
	return node.InspectionRule{}, &node.NotFound{What: "Rule", Ident: uuid}
}

func (s *ruleShelf) index(uuid string) int {
	return slices.IndexFunc(s.rules, func(r node.InspectionRule) bool { return r.UUID == uuid })
}

func (s *ruleShelf) InspectionRules(_ context.Context, f node.RuleFilter) ([]node.InspectionRule, error) {
	all := slices.DeleteFunc(slices.Clone(s.rules), func(r node.InspectionRule) bool { return f.Phase != "" && r.Phase != f.Phase })
	switch f.SortKey {
	case "priority":
		slices.SortStableFunc(all, func(a, b node.InspectionRule) int { return a.Priority - b.Priority })
	case "description":
		slices.SortStableFunc(all, func(a, b node.InspectionRule) int { return strings.Compare(a.Description, b.Description) })
	}
	if f.Descending {
		slices.Reverse(all)
	}
	if f.Marker != "" {
		i := slices.IndexFunc(all, func(r node.InspectionRule) bool { return r.UUID == f.Marker })
		if i < 0 {
			return nil, &node.NotFound{What: "Rule", Ident: f.Marker}
		}
		all = all[i+1:]
	}
	return all[:min(len(all), f.Limit)], nil
}

func (s *ruleShelf) CreateInspectionRule(_ context.Context, r node.InspectionRule, _ node.Audit) (node.InspectionRule, error) {
	if s.index(r.UUID) >= 0 {
		return r, &node.Exists{Text: "A rule with UUID " + r.UUID + " already exists."}
	}
	r.CreatedAt = time.Date(2026, 11, 30, 2, 5, 27, 0, time.UTC)
	s.rules = append(s.rules, r)
	return r, nil
}

func (s *ruleShelf) UpdateInspectionRule(_ context.Context, r node.InspectionRule, _ node.Audit) (node.InspectionRule, error) {
	r.UpdatedAt = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	s.rules[s.index(r.UUID)] = r
	return r, nil
}

func (s *ruleShelf) DeleteInspectionRule(_ context.Context, uuid string, _ node.Audit) error {
	i := s.index(uuid)
	if i < 0 {
		return &node.NotFound{What: "Rule", Ident: uuid}
	}
	s.rules = slices.Delete(s.rules, i, i+1)
	return nil
}

func (s *ruleShelf) DeleteInspectionRules(context.Context, node.Audit) error {
	s.rules = nil
	return nil
}

// ruler is the real conductor, which knows what a rule may be; it keeps the rules of the rack.
func (r *rack) ruler() *conductor.Conductor {
	return conductor.New(conductor.Needs{Rules: &r.rules, Clock: conductor.SystemClock{}}, conductor.Settings{})
}

func (r *rack) InspectionRule(ctx context.Context, uuid string) (node.InspectionRule, error) {
	return r.rules.InspectionRule(ctx, uuid)
}

func (r *rack) InspectionRules(ctx context.Context, f node.RuleFilter) ([]node.InspectionRule, error) {
	return r.rules.InspectionRules(ctx, f)
}

func (r *rack) CreateInspectionRule(ctx context.Context, who node.Actor, rule node.InspectionRule) (node.InspectionRule, error) {
	return r.ruler().CreateInspectionRule(ctx, who, rule)
}

func (r *rack) PatchInspectionRule(ctx context.Context, who node.Actor, uuid string, change func(node.InspectionRule) (node.InspectionRule, error)) (node.InspectionRule, error) {
	return r.ruler().PatchInspectionRule(ctx, who, uuid, change)
}

func (r *rack) DeleteInspectionRule(ctx context.Context, who node.Actor, uuid string) error {
	return r.ruler().DeleteInspectionRule(ctx, who, uuid)
}

func (r *rack) DeleteInspectionRules(ctx context.Context, who node.Actor) error {
	return r.ruler().DeleteInspectionRules(ctx, who)
}
