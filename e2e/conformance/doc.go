// Package conformance holds the contract of an abort (contract.md, appendix A) as tests for any address that speaks Ironic's
// API. It knows that API alone: plain HTTP and JSON. Of our own rooms it uses bmc/sim, for the BMCs that it brings.
//
// Without settings it starts our own binary and runs against that, so it always runs:
//
//	go test ./e2e/conformance
//
// Pointed elsewhere it starts nothing and needs nothing else:
//
//	CAGENUT_CONFORMANCE_URL=http://192.0.2.1:6385 go test -v ./e2e/conformance
//
// The settings, all of them environment variables that begin with CAGENUT_CONFORMANCE_:
//
//	URL                 the API's address, without /v1
//	USER, PASSWORD      HTTP basic; without them nobody signs in
//	DRIVER              of the nodes that the tests enrol; fake-hardware. For redfish and ipmi the suite brings simulated BMCs
//	BMC_ADDRESS         first address of these, which the service under test has to reach; 127.77.0.1
//	DRIVER_INFO         JSON: driver_info of a BMC that is already there, instead of a simulated one
//	INSPECT_INTERFACE   one that waits for a ramdisk and can be aborted; agent
//	NO_ABORT_INTERFACE  one that cannot; no-inspect
//	CALLBACK            where ramdisks report; URL/v1/continue_inspection
//	PATIENCE            how long a node may take to get anywhere; 60s
//
// Test 4 needs a node that is held for a while. A simulated BMC is made to hang for it, and our own fake-hardware to answer
// late. A real Ironic with fake-hardware has to be told so: power_delay = 10 in the section [fake] of ironic.conf.
//
// Where the contract is better than Ironic, on purpose, the name of the test begins with "ours": against a real Ironic these
// are the ones that may fail, and -skip '///ours' leaves them out. Test 6 needs the openstack client and a service whose
// newest version is below the client's.
package conformance
