"""Debian's openstack client, loaded once: to load it for each command costs a second every time.

Reads a line of JSON for each command: "arguments", and "settings" for the environment. Runs the client's own main with them
in a child of its own, and answers with a line of JSON: what that printed, what it wrote to standard error, and its exit
code. With the setting KEPT_RETRIES=0 a 409 or a refused connection is told at once, not after ten seconds of retries.
"""
import json
import logging
import os
import sys
import tempfile
import traceback

sys.argv[0] = 'openstack'  # the program's name in what it prints

from ironicclient.common import http
from openstackclient import shell


def main(arguments):
    try:
        return int(shell.main(arguments) or 0)
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1


def child(arguments, settings):
    os.environ.update(settings)
    if 'KEPT_RETRIES' in settings:
        retries = int(settings['KEPT_RETRIES'])
        http.SessionClient.conflict_max_retries = property(lambda self: retries, lambda self, default: None)
    return main(arguments)


def run(arguments, settings):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            code = child(arguments, settings)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out.seek(0)
        errors.seek(0)
        return {'out': out.read().decode(), 'errors': errors.read().decode(), 'code': code}


# The client loads most of itself when it is first used: once here, not in each child.
answers, sys.stdout = sys.stdout, open(os.devnull, 'w')
main(['baremetal', 'node', 'list', '--help'])
logging.getLogger('').handlers.clear()
sys.stdout = answers

for line in sys.stdin:
    print(json.dumps(run(**json.loads(line))), flush=True)
