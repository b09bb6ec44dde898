"""Debian's openstack client, loaded once: to load it for each command costs a second every time.

Reads a JSON list of arguments a line, runs the client's own main with them in a child of its own, and answers with a line
of JSON each: what that printed, what it wrote to standard error, and its exit code. Its settings come from the environment,
as the program's do. With KEPT_RETRIES=0 a 409 or a refused connection is told at once, not after ten seconds of retries.
"""
import json
import os
import sys
import tempfile
import traceback

from ironicclient.common import http
import ironicclient.osc.plugin  # noqa: F401, so that no child has to load it
import ironicclient.v1.client  # noqa: F401
from openstackclient import shell

sys.argv[0] = 'openstack'
if 'KEPT_RETRIES' in os.environ:
    http.DEFAULT_MAX_RETRIES = int(os.environ['KEPT_RETRIES'])


def main(arguments):
    try:
        return int(shell.main(arguments) or 0)
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1


def run(arguments):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            code = main(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        errors.seek(0)
        return {'out': out.read().decode(), 'errors': errors.read().decode(), 'code': code}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
