package node

// Filter chooses and orders nodes. Zero values choose everything; every given condition must hold.
type Filter struct {
	UUIDs               []string
	Associated          *bool // has an instance_uuid
	Maintenance         *bool
	Retired             *bool
	Sharded             *bool
	ProvisionStates     []State
	InstanceUUID        string
	InstanceName        string
	ChassisUUID         string
	Driver              string
	ResourceClass       string
	Fault               string
	ConductorGroup      *string
	Conductor           string
	Owner               string
	Lessee              string
	Project             string // owner or lessee
	DescriptionContains string
	Shards              []string
	Rack                string
	Search              string // part of a name, UUID, MAC, BMC address, serial or rack: the dashboard's one box
	Healths             []Health
	Silent              bool   // the BMC does not answer
	ParentNode          string // children of this node only
	IncludeChildren     bool   // else nodes with a parent are left out (contract.md §3.2)

	Page
}

// Page is one page of a list. Pages follow each other by the UUID of the last item seen; an unknown marker is a
// *[NotFound].
type Page struct {
	SortKey    string // a field of the wire; "" is the order of creation. Unknown keys are an *[Invalid].
	Descending bool
	Marker     string
	Limit      int // 0: everything
}

// PortFilter chooses and orders ports.
type PortFilter struct {
	NodeUUID  string
	Addresses []string // lower-case MACs
	Shards    []string
	Page
}

// RunFilter chooses attempts for the inspector's list, newest first.
type RunFilter struct {
	NodeUUID string
	States   []RunState
	Latest   bool   // the latest attempt of each node only
	Marker   string // attempt id of the last item seen
	Limit    int
}

// Notice tells that something about a node is new. Change is nil unless it is one that event streams tell.
type Notice struct {
	NodeUUID string
	Change   *Change
	Deleted  bool
	// Run: it is about a run over many nodes, and NodeUUID is the run's.
	Run bool
}
