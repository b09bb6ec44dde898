"""The life of a node as automation with openstacksdk sees it. Ends with an AssertionError where something is not as it should be.

    sdk_life.py BASE_URL INSPECTOR_URL [USER PASSWORD]
"""
import contextlib
import json
import sys
import urllib.request

import openstack
from openstack import exceptions

base, inspector, *credentials = sys.argv[1:]
auth = {'endpoint': base}
if credentials:
    auth.update(username=credentials[0], password=credentials[1])
cloud = openstack.connect(load_yaml_config=False, load_envvars=False, auth_type='http_basic' if credentials else 'none', auth=auth,
                          baremetal_introspection_endpoint_override=inspector)
baremetal, introspection = cloud.baremetal, cloud.baremetal_introspection
MAC = '52:54:00:dd:00:01'


@contextlib.contextmanager
def refused(kind, status, text):
    """Holds what is done inside to a refusal that tells automation the status and a person the server's own words."""
    try:
        yield
    except kind as e:
        assert e.status_code == status, (e.status_code, e)
        assert text in str(e), e
    else:
        raise AssertionError('not refused: %s' % text)


def report(mac):
    """Posts what a ramdisk posts."""
    inventory = {'interfaces': [{'name': 'eth0', 'mac_address': mac, 'has_carrier': True, 'ipv4_address': '192.0.2.22'}],
                 'cpu': {'architecture': 'x86_64', 'count': 8}, 'memory': {'physical_mb': 32768, 'total': 34359738368},
                 'disks': [{'name': '/dev/sda', 'size': 480103981056}], 'boot': {'current_boot_mode': 'uefi', 'pxe_interface': mac},
                 'bmc_address': '192.0.2.102', 'hostname': 'ramdisk'}
    urllib.request.urlopen(urllib.request.Request(base + '/v1/continue_inspection', json.dumps({'inventory': inventory}).encode(),
                                                  {'Content-Type': 'application/json'}), timeout=30)


def state(node, wanted):
    """Waits for a provision state."""
    reached, = baremetal.wait_for_nodes_provision_state([node], wanted, timeout=60)
    assert reached.provision_state == wanted, reached
    return reached


# Discovery: the newest version that both know.
session = cloud.config.get_session_client('baremetal')
assert session.get_endpoint_data().max_microversion == (1, 96), session.get_endpoint_data().max_microversion
assert {d.name for d in baremetal.drivers()} >= {'fake-hardware', 'ipmi', 'redfish'}
assert baremetal.get_driver('redfish').default_inspect_interface == 'agent'
host, = baremetal.conductors()
assert baremetal.get_conductor(host.hostname).alive
assert list(baremetal.nodes()) == [] and list(baremetal.ports()) == []

# Enrolled.
chassis = baremetal.create_chassis(description='rack 7')
node = baremetal.create_node(driver='fake-hardware', name='sdk', provision_state='enroll', inspect_interface='agent', chassis_id=chassis.id,
                             extra={'rack': 'R7'})
assert node.provision_state == 'enroll' and node.chassis_id == chassis.id and node.extra == {'rack': 'R7'}, node
port = baremetal.create_port(node_id=node.id, address=MAC.upper(), is_pxe_enabled=True)
assert port.address == MAC and port.node_id == node.id, port
assert baremetal.update_port(port, extra={'cable': 'blue'}).extra == {'cable': 'blue'}
assert [p.id for p in baremetal.ports(details=True, address=MAC)] == [port.id]
assert baremetal.find_node('sdk').id == node.id and baremetal.find_node('nobody') is None
assert [n.name for n in baremetal.nodes(details=True, provision_state='enroll')] == ['sdk']

# What is refused, and in whose words.
with refused(exceptions.NotFoundException, 404, 'Node nobody could not be found.'):
    baremetal.get_node('nobody')
baremetal.status_code_retries = 0  # not five more times within half a minute
with refused(exceptions.ConflictException, 409, 'A node with name sdk already exists.'):
    baremetal.create_node(driver='fake-hardware', name='sdk', provision_state='enroll')
with refused(exceptions.BadRequestException, 400, "Cannot create node with invalid name 'no name'"):
    baremetal.create_node(driver='fake-hardware', name='no name')
with refused(exceptions.BadRequestException, 400, 'The requested action "abort" can not be performed on node "%s" while it is in state "enroll".' % node.id):
    baremetal.set_node_provision_state(node, 'abort')
with refused(exceptions.BadRequestException, 400, 'Invalid boot device disk specified.'):
    baremetal.set_node_boot_device(node, 'disk')
with refused(exceptions.BadRequestException, 400, 'Expected valid MAC address for address: banana'):
    baremetal.create_port(node_id=node.id, address='banana')

# Managed, with a boot device, and inspected until somebody aborts.
node = baremetal.set_node_provision_state(node, 'manage', wait=True, timeout=60)
assert node.provision_state == 'manageable' and node.power_state == 'power off', node
assert all(v.result for name, v in baremetal.validate_node(node, required=('inspect', 'management', 'power')).items() if name in ('inspect', 'management', 'power'))
baremetal.set_node_boot_device(node, 'pxe', persistent=True)
assert baremetal.get('/nodes/sdk/management/boot_device', microversion='1.81').json() == {'boot_device': 'pxe', 'persistent': True}
baremetal.set_node_provision_state(node, 'inspect')
state(node, 'inspect wait')
baremetal.set_node_provision_state(node, 'abort')
node = baremetal.get_node(node)
assert node.provision_state == 'inspect failed' and node.last_error == 'Inspection was aborted by request.', node
try:
    baremetal.wait_for_nodes_provision_state([node], 'manageable', timeout=60)
except exceptions.ResourceFailure as e:
    assert 'Inspection was aborted by request.' in str(e), e
else:
    raise AssertionError('who waits for an aborted inspection is not told')
node = baremetal.set_node_provision_state(node, 'manage', wait=True, timeout=60)

# Inspected by a server that reports.
baremetal.set_node_provision_state(node, 'inspect')
state(node, 'inspect wait')
report(MAC)
node = state(node, 'manageable')
assert node.properties['cpu_arch'] == 'x86_64' and int(node.properties['memory_mb']) == 32768, node.properties
assert baremetal.get('/nodes/sdk/inventory', microversion='1.81').json()['inventory']['cpu']['count'] == 8

# Inspected and aborted through the inspector.
introspection.start_introspection(node)
state(node, 'inspect wait')
assert not introspection.get_introspection(node.id).is_finished
introspection.abort_introspection(node.id)
run = introspection.get_introspection(node.id)
assert run.is_finished and run.state == 'error' and run.error == 'Canceled by operator', run
assert [r.id for r in introspection.introspections()] == [node.id]
assert baremetal.get_node(node).provision_state == 'inspect failed'
assert introspection.get_introspection_data(node.id)['inventory']['memory']['physical_mb'] == 32768
assert introspection.get_introspection_data(node.id, processed=False)['inventory']['hostname'] == 'ramdisk'
assert [r.id for r in introspection.introspections(limit=1)] == [node.id]
assert introspection.get('/introspection?state=waiting,finished').json() == {'introspection': []}
assert [r['uuid'] for r in introspection.get('/introspection?state=error').json()['introspection']] == [node.id]
with refused(exceptions.NotFoundException, 404, 'Node nobody was not found in Ironic'):
    introspection.get_introspection('nobody')
with refused(exceptions.NotFoundException, 404, 'Node nobody was not found in Ironic'):
    introspection.abort_introspection('nobody', ignore_missing=False)
with refused(exceptions.NotFoundException, 404, 'Node nobody was not found in Ironic'):
    introspection.start_introspection('nobody')
with refused(exceptions.BadRequestException, 400, 'already finished on'):
    introspection.abort_introspection(node.id)
with refused(exceptions.BadRequestException, 400, 'manage_boot=false is not possible'):
    introspection.start_introspection(node, manage_boot=False)
try:
    introspection.wait_for_introspection(node.id, timeout=60)
except exceptions.ResourceFailure as e:
    assert 'Canceled by operator' in str(e), e
else:
    raise AssertionError('who waits for an aborted introspection is not told')
node = baremetal.set_node_provision_state(node, 'manage', wait=True, timeout=60)

# Inspected through the inspector to the end, with a rule of its own; applied once more with another.
rule = introspection.post('/rules', json={'description': 'large', 'conditions': [{'op': 'ge', 'field': 'memory_mb', 'value': 32768}],
                                          'actions': [{'action': 'set-capability', 'name': 'large', 'value': 'true'}]})
assert rule.status_code == 201 and rule.json()['conditions'][0]['op'] == 'ge', rule.text
introspection.start_introspection(node)
state(node, 'inspect wait')
report(MAC)
run = introspection.wait_for_introspection(node.id, timeout=60)
assert run.is_finished and run.state == 'finished' and run.error is None, run
node = state(node, 'manageable')
assert 'large:true' in node.properties['capabilities'], node.properties
assert [r['description'] for r in introspection.get('/rules').json()['rules']] == ['large']
ironics, = baremetal.get('/inspection_rules?detail=true', microversion='1.96').json()['inspection_rules']
assert ironics['uuid'] == rule.json()['uuid'] and ironics['actions'] == [{'op': 'set-capability', 'args': {'name': 'large', 'value': 'true'}}], ironics
assert introspection.delete('/rules').status_code == 204
assert introspection.post('/rules', json={'actions': [{'action': 'set-attribute', 'path': '/extra/host', 'value': '{data[inventory][hostname]}'}]}).status_code == 201
assert introspection.post('/introspection/%s/data/unprocessed' % node.id).status_code == 202
introspection.wait_for_introspection(node.id, timeout=60)
node = baremetal.get_node(node)
assert node.provision_state == 'manageable' and node.extra['host'] == 'ramdisk', node
introspection.delete('/rules')

# Power, traits, maintenance.
baremetal.set_node_power_state(node, 'power on', wait=True, timeout=60)
assert baremetal.get_node(node).power_state == 'power on'
baremetal.set_node_power_state(node, 'power off', wait=True, timeout=60)
baremetal.set_node_traits(node, ['CUSTOM_GPU', 'CUSTOM_FPGA'])
baremetal.remove_node_trait(node, 'CUSTOM_FPGA')
baremetal.add_node_trait(node, 'CUSTOM_NVME')
assert sorted(baremetal.get_node(node).traits) == ['CUSTOM_GPU', 'CUSTOM_NVME']
baremetal.set_node_maintenance(node, 'wrong cable')
assert baremetal.get_node(node).maintenance_reason == 'wrong cable'
baremetal.unset_node_maintenance(node)
node = baremetal.update_node(node, extra={'rack': 'R8'})
assert node.extra == {'rack': 'R8'}, node

# Available, and gone.
node = baremetal.set_node_provision_state(node, 'provide', wait=True, timeout=60)
assert node.provision_state == 'available', node
baremetal.delete_port(port)
baremetal.delete_node(node)
baremetal.delete_chassis(chassis)
with refused(exceptions.NotFoundException, 404, 'Node %s could not be found.' % node.id):
    baremetal.get_node(node.id)
assert list(baremetal.nodes()) == [] and list(baremetal.ports()) == [] and list(baremetal.chassis()) == []
