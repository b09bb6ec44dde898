#!/usr/bin/env bash
# Runs the API tests of ironic-tempest-plugin against an address that speaks Ironic's API and asks nobody to sign in:
#
#     e2e/tempest/run.sh BASE_URL RESULTS [REGEX]
#     e2e/tempest/run.sh http://127.0.0.1:6385 ./results 'test_nodestates|test_chassis'
#
# Tempest learns the address from an identity service; fake_keystone.py stands in for it, on a free port.
#
# RESULTS is an empty or new folder. Afterwards it holds pass.txt, fail.txt and skip.txt (test ids), fail-reasons.txt and
# skip-reasons.txt, selected.txt (what was run), known.txt (what there is), behind-reference.txt (what real Ironic passes
# and this address does not) and run.txt (tracebacks). Exit code 0: no test failed. 1: one did. 2: the run was not possible.
#
# Environment:
#   INTROSPECTION_URL  the inspector of the address. With it the plugin's own inspection abort scenario is run too: two nodes
#                      are made for it, inspected through BASE_URL, aborted through the inspector, and deleted.
#   TEMPEST_EXCLUDE    file of test ids to leave out, one a line; '#' begins a comment
#   TEMPEST_REFERENCE  ids that pass on real Ironic (default: reference.txt beside this script)
#   TEMPEST_TIMEOUT    seconds that one test may take (120)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,/^set -e/{/^set -e/!p}' "$0"; exit 2; }

impossible() { echo "$*" >&2; exit 2; }

base=${1%/} base=${base%/v1} regex=${3:-.}
mkdir -p "$2" && results=$(cd "$2" && pwd)
[ -z "$(ls -A "$results")" ] || impossible "$results is not empty"
reference=${TEMPEST_REFERENCE:-$here/reference.txt}
exclude=${TEMPEST_EXCLUDE:-/dev/null}
for program in tempest stestr curl; do
	command -v $program >/dev/null || impossible "$program is not installed (see install.sh beside this script)"
done
# Debian's tempest runs on Debian's Python, whichever comes first in PATH.
python=$(sed -n '1s/^#! *//p' "$(command -v tempest)")
work=$results/work
mkdir -p "$work/lock" "$work/etc"
export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost
export PYTHON=$python PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1

curl -sf -o /dev/null -m 10 "$base/v1" || impossible "nothing answers at $base/v1"

# call METHOD PATH [BODY] makes one request of the address.
call() {
	curl -s -m 30 -X "$1" -H 'X-OpenStack-Ironic-API-Version: 1.79' -H 'Content-Type: application/json' "$base$2" ${3:+-d "$3"}
}

keystone= nodes=()
finish() {
	[ -z "$keystone" ] || kill "$keystone" 2>/dev/null || true
	for n in "${nodes[@]}"; do
		call PUT "/v1/nodes/$n/maintenance" '{}' >/dev/null || true
		call DELETE "/v1/nodes/$n" >/dev/null || true
	done
}
trap finish EXIT

"$python" "$here/fake_keystone.py" --baremetal "$base" --log "$results/keystone.log" \
	${INTROSPECTION_URL:+--introspection "$INTROSPECTION_URL" --stub-flavor} >"$work/keystone.url" 2>"$work/keystone.err" &
keystone=$!
for ((i = 0; i < 200; i++)); do
	identity=$(head -1 "$work/keystone.url") && [ -n "$identity" ] && break
	kill -0 $keystone 2>/dev/null || impossible "the identity service ended: $(cat "$work/keystone.err")"
	sleep 0.05
done
[ -n "$identity" ] || impossible "the identity service does not say where it is"

for who in 1 2 3 4; do
	cat <<-YAML
		- {username: admin$who, project_name: admin$who, user_domain_name: Default, project_domain_name: Default, password: secret, types: [admin], roles: [admin]}
		- {username: sysadmin$who, user_domain_name: Default, password: secret, system: all, types: [admin], roles: [admin]}
		- {username: member$who, project_name: member$who, user_domain_name: Default, project_domain_name: Default, password: secret, roles: [member, reader]}
	YAML
done >"$work/etc/accounts.yaml"

# A test that needs the ipmi hardware type runs only where the address has it.
hardware=fake-hardware
case $(call GET /v1/drivers) in *'"ipmi"'*) hardware+=,ipmi ;; esac

cat >"$work/etc/tempest.conf" <<CONF
[DEFAULT]
debug = true
log_file = $results/tempest.log
use_stderr = false
[oslo_concurrency]
lock_path = $work/lock
[auth]
use_dynamic_credentials = false
test_accounts_file = $work/etc/accounts.yaml
create_isolated_networks = false
[identity]
uri_v3 = $identity/v3
auth_version = v3
region = RegionOne
default_domain_id = default
[identity-feature-enabled]
api_v2 = false
api_v3 = true
[service_available]
ironic = true
ironic_inspector = $([ -n "${INTROSPECTION_URL:-}" ] && echo true || echo false)
nova = false
neutron = false
glance = false
cinder = false
swift = false
[enforce_scope]
ironic = false
[baremetal]
catalog_type = baremetal
endpoint_type = publicURL
driver = fake-hardware
max_microversion = latest
enabled_hardware_types = $hardware
enabled_bios_interfaces = fake
enabled_boot_interfaces = fake
enabled_deploy_interfaces = fake
enabled_management_interfaces = fake
enabled_power_interfaces = fake
enabled_raid_interfaces = fake
enabled_rescue_interfaces = fake,no-rescue
default_rescue_interface = fake
power_timeout = 60
unprovision_timeout = 60
active_timeout = 300
[baremetal_introspection]
catalog_type = baremetal-introspection
[compute]
flavor_ref = 1
build_interval = 1
CONF
export TEMPEST_CONFIG_DIR=$work/etc TEMPEST_CONFIG=tempest.conf OS_TEST_TIMEOUT=${TEMPEST_TIMEOUT:-120}
export OS_LOG_CAPTURE=1 OS_STDOUT_CAPTURE=1 OS_STDERR_CAPTURE=1
libraries=$("$python" -c 'import os, tempest; print(os.path.dirname(os.path.dirname(tempest.__file__)))')
cat >"$work/.stestr.conf" <<CONF
[DEFAULT]
test_path=$libraries/tempest/test_discover
top_dir=$libraries
CONF
cd "$work"
stestr() { command stestr --config "$work/.stestr.conf" "$@"; }

# inspectable makes an available node for the inspection scenario; the number sets its MAC apart.
inspectable() {
	local n
	n=$(call POST /v1/nodes '{"driver": "fake-hardware", "inspect_interface": "inspector", "properties": {"cpus": "1"}}' |
		sed -n 's/.*"uuid": *"\([0-9a-f-]*\)".*/\1/p')
	[ -n "$n" ] || impossible "no node could be made for the inspection scenario"
	nodes+=("$n")
	call POST /v1/ports "{\"node_uuid\": \"$n\", \"address\": \"52:54:7e:$(printf '%02x:%02x:%02x' $((RANDOM % 256)) $((RANDOM % 256)) "$1")\"}" >/dev/null
	reach "$n" manage manageable
	reach "$n" provide available
}

# reach NODE VERB STATE
reach() {
	call PUT "/v1/nodes/$1/states/provision" "{\"target\": \"$2\"}" >/dev/null
	for ((k = 0; k < 200; k++)); do
		case $(call GET "/v1/nodes/$1?fields=provision_state") in *"\"$3\""*) return ;; esac
		sleep 0.1
	done
	impossible "the node $1 for the inspection scenario does not become $3"
}

filter='^ironic_tempest_plugin\.tests\.api\.'
if [ -n "${INTROSPECTION_URL:-}" ]; then
	filter+='|test_introspection_basic\..*test_introspection_abort'
	inspectable 1
	inspectable 2
fi
stestr init >/dev/null 2>&1 || true
stestr list "$filter" >"$work/list.txt" 2>&1 || impossible "$(cat "$work/list.txt")"
grep '^ironic_tempest_plugin' "$work/list.txt" >"$work/known.txt" || impossible "$(cat "$work/list.txt")"

plain() { sed 's/\[.*//' "$1"; } # without the ids in brackets and the tags
plain "$work/known.txt" >"$results/known.txt"
sed 's/[[:space:]]*#.*//; /^[[:space:]]*$/d' "$exclude" >"$work/exclude.txt"
awk -F'[[]' -v regex="$regex" 'FILENAME == ARGV[1] { left_out[$0]; next } !($1 in left_out) && $1 ~ regex' "$work/exclude.txt" "$work/known.txt" >"$work/load.txt"
[ -s "$work/load.txt" ] || impossible "no test matches $regex"
plain "$work/load.txt" >"$results/selected.txt"
echo "$(wc -l <"$work/load.txt") of $(wc -l <"$work/known.txt") tests, against $base"

began=$SECONDS
stestr run --load-list "$work/load.txt" --concurrency 1 >"$results/run.txt" 2>&1 || true # what failed is read below
stestr last --subunit >"$work/last.subunit" 2>/dev/null || true
[ -s "$work/last.subunit" ] || impossible "$(tail -30 "$results/run.txt")"
"$python" "$here/subunit_counts.py" "$work/last.subunit" "$results" "$work/load.txt" || impossible "$(tail -30 "$results/run.txt")"
echo "took $((SECONDS - began)) s; tracebacks are in $results/run.txt"

if grep -q 'NOT STUBBED' "$results/keystone.log"; then
	echo "identity calls that the stand-in does not answer:"
	sed -n 's/.*NOT STUBBED/  NOT STUBBED/p' "$results/keystone.log" | sort | uniq -c
fi
if [ -s "$results/fail.txt" ]; then
	echo "failed:"
	sed 's/^/  /' "$results/fail-reasons.txt"
fi
comm -23 <(comm -12 <(grep -v '^#' "$reference" | sort -u) <(sort -u "$results/selected.txt")) <(sort -u "$results/pass.txt") >"$results/behind-reference.txt"
echo "passed by real Ironic and not here: $(wc -l <"$results/behind-reference.txt")"
grep -v -x -F -f "$results/fail.txt" "$results/behind-reference.txt" | sed 's/$/\tskipped/; s/^/  /' || true
[ ! -s "$results/fail.txt" ]
