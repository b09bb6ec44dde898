package node

// RulesTrial is what inspection rules would do with what an inspection stored. Nothing of it has been done.
type RulesTrial struct {
	AttemptID string // of the inspection
	Rules     []TriedRule
	// Failure is the text with which the rules would fail the inspection; "" where they would not. Rules after the one that
	// fails are not tried.
	Failure string
	Notes   []string
}

// TriedRule is one of the rules.
type TriedRule struct {
	UUID    string // "" for one that is only proposed
	Label   string
	Applied bool // whether all its conditions hold
	Changes []RuleChange
}

// RuleChange is one value that a rule would change; nil is one that is not there. Secrets read as [Mask].
type RuleChange struct {
	Of     string // "node", "plugin data", or "port" with its MAC
	Path   string // with slashes
	Before any
	After  any
}
