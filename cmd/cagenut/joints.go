package main

import (
	"context"

	"cagenut/bmc"
	"cagenut/bmc/redfish"
	"cagenut/conductor"
	"cagenut/inspect/difference"
	"cagenut/inspect/managedboot"
	"cagenut/inspect/outofband"
	"cagenut/inspect/ramdisklogs"
	"cagenut/inspect/rules"
	"cagenut/node"
	"cagenut/store"
)

// The joints: where one room's small interface meets another room's type.

// conductorBMCs lets the conductor reach BMCs.
type conductorBMCs struct{ *bmc.Pool }

// Do is conductor.BMCs'.
func (b conductorBMCs) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return b.Pool.Do(ctx, n, func(c bmc.Client) error { return fn(c) })
}

// Look is conductor.BMCs'.
func (b conductorBMCs) Look(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return b.Pool.Look(ctx, n, func(c bmc.Client) error { return fn(c) })
}

// bootBMCs lets managed boot reach BMCs.
type bootBMCs struct{ *bmc.Pool }

// Do is managedboot.BMCs'.
func (b bootBMCs) Do(ctx context.Context, n node.Node, fn func(managedboot.BMC) error) error {
	return b.Pool.Do(ctx, n, func(c bmc.Client) error { return fn(c) })
}

// Look is managedboot.BMCs'.
func (b bootBMCs) Look(ctx context.Context, n node.Node, fn func(managedboot.BMC) error) error {
	return b.Pool.Look(ctx, n, func(c bmc.Client) error { return fn(c) })
}

// bmcSessions keeps the sessions of the redfish driver.
type bmcSessions struct{ *store.Store }

// Load is redfish.Sessions'.
func (b bmcSessions) Load(ctx context.Context) ([]redfish.KeptSession, error) {
	rows, err := b.Store.BMCSessions(ctx)
	all := make([]redfish.KeptSession, len(rows))
	for i, r := range rows {
		all[i] = redfish.KeptSession(r)
	}
	return all, err
}

// Keep is redfish.Sessions'.
func (b bmcSessions) Keep(ctx context.Context, s redfish.KeptSession) error {
	return b.Store.KeepBMCSession(ctx, store.BMCSession(s))
}

// Drop is redfish.Sessions'.
func (b bmcSessions) Drop(ctx context.Context, ids ...string) error {
	return b.Store.DropBMCSessions(ctx, ids...)
}

// hardwareBMCs lets out-of-band inspection reach BMCs.
type hardwareBMCs struct{ *bmc.Pool }

// Do is outofband.BMCs'.
func (b hardwareBMCs) Do(ctx context.Context, n node.Node, fn func(outofband.BMC) error) error {
	return b.Pool.Do(ctx, n, func(c bmc.Client) error {
		i, ok := c.(bmc.Identifier)
		if !ok {
			i = bmc.Lacks{Driver: n.Driver}
		}
		return fn(i)
	})
}

// outOfBand inspects without a ramdisk.
type outOfBand struct{ outofband.Redfish }

// Process is conductor.OutOfBand's.
func (o outOfBand) Process(n node.Node, ports []node.Port, owners map[string]string, h node.Hardware) (conductor.Findings, error) {
	f, err := o.Redfish.Process(n, ports, owners, h)
	return conductor.Findings(f), err
}

// ruleEngine carries out inspection rules.
type ruleEngine struct{ *rules.Engine }

// Apply is conductor.RuleEngine's.
func (e ruleEngine) Apply(ctx context.Context, in conductor.RuleInput) (conductor.Ruled, error) {
	res, err := e.Engine.Apply(ctx, rules.Input(in))
	return conductor.Ruled(res), err
}

// Try is conductor.RuleEngine's.
func (e ruleEngine) Try(ctx context.Context, in conductor.RuleInput) node.RulesTrial {
	return e.Engine.Try(ctx, rules.Input(in))
}

// verbs lets the inspector service ask for verbs.
type verbs struct{ *conductor.Conductor }

// Inspect is introspection.Verbs'.
func (v verbs) Inspect(ctx context.Context, actor node.Actor, ident string) error {
	return v.SetProvisionState(ctx, actor, ident, conductor.ProvisionRequest{Target: string(node.Inspect)})
}

// Abort is introspection.Verbs'.
func (v verbs) Abort(ctx context.Context, actor node.Actor, ident, attempt string) error {
	return v.SetProvisionState(ctx, actor, ident, conductor.ProvisionRequest{Target: string(node.Abort), Attempt: attempt})
}

// door lets the inspector service hand over reports.
type door struct{ *conductor.Conductor }

// Report is introspection.Reports'.
func (d door) Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (string, error) {
	n, err := d.Conductor.Report(ctx, actor, conductor.ReportRequest{Body: body, Token: token})
	return n.UUID, err
}

// reported lets the inspector service show and apply once more what ramdisks reported.
type reported struct{ *conductor.Conductor }

// LastReport is introspection.Stored's.
func (r reported) LastReport(ctx context.Context, nodeUUID string) (node.Report, error) {
	return r.Inspections.LastReport(ctx, nodeUUID)
}

// rulebook lets the inspector service keep its rules among Ironic's.
type rulebook struct{ *conductor.Conductor }

// InspectionRule is introspection.Rules'.
func (b rulebook) InspectionRule(ctx context.Context, uuid string) (node.InspectionRule, error) {
	return b.Rules.InspectionRule(ctx, uuid)
}

// InspectionRules is introspection.Rules'.
func (b rulebook) InspectionRules(ctx context.Context, f node.RuleFilter) ([]node.InspectionRule, error) {
	return b.Rules.InspectionRules(ctx, f)
}

// waitingRoom shows discovered machines and takes what is decided about them.
type waitingRoom struct {
	*store.Store
	*conductor.Conductor
}

var (
	_ conductor.OutOfBand = outOfBand{}

	_ conductor.Nodes       = (*store.Store)(nil)
	_ conductor.Moves       = (*store.Store)(nil)
	_ conductor.Attempts    = (*store.Store)(nil)
	_ conductor.Ports       = (*store.Store)(nil)
	_ conductor.Watched     = (*store.Store)(nil)
	_ conductor.Bulks       = (*store.Store)(nil)
	_ conductor.Rules       = (*store.Store)(nil)
	_ conductor.Inspections = (*store.Store)(nil)
	_ conductor.Signs       = (*store.Store)(nil)
	_ conductor.Audit       = (*store.Store)(nil)
	_ conductor.Discovered  = (*store.Store)(nil)
	_ conductor.Describer   = reports{}
	_ conductor.LogArchives = ramdisklogs.Archives{}
	_ conductor.Comparer    = difference.Comparer{}
)
