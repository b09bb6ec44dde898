// Package finder finds BMCs at addresses of which nobody has said what is there. It asks only what anybody may ask: the
// Redfish service root, and over IPMI what comes before a login. It never sends a user name or a password, believes nothing
// that it is told, and reads no more than a service root may be long.
//
// It imports node, and of the protocols knows just these two questions; talking to a BMC is for its sisters.
package finder
