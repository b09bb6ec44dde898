// Package alone is the inspector service as a process of its own, beside an Ironic that it knows over REST. It keeps a copy of each
// node that it inspects, with its ports; the embedded service works on the copies as it does on the appliance's nodes, and what an
// inspection changes in a copy is written to Ironic before the inspection counts as finished.
//
// Ironic boots the servers: it starts a run with manage_boot=false. A person's start is passed on to Ironic as the verb `inspect`,
// which comes back as such a start.
package alone
