package templates

// The commands that an empty appliance shows. They are typed as they stand, in any language.
const (
	createByClient = "openstack baremetal node create --driver redfish --name r07-u21 …"
	tryDemo        = "cagenut demo"
)

// createByCurl enrols a node through the API at an address.
func createByCurl(api string) string {
	return "curl -X POST " + api + "/v1/nodes \\\n" +
		"  -H 'Content-Type: application/json' -H 'X-OpenStack-Ironic-API-Version: 1.41' \\\n" +
		`  -d '{"name":"r07-u21","driver":"redfish","driver_info":{"redfish_address":"https://192.0.2.10","redfish_username":"…","redfish_password":"…"},"extra":{"rack":"R07","rack_unit":21}}'`
}
