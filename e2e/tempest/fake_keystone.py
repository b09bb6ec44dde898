#!/usr/bin/env python3
"""A keystone just big enough for tempest to talk to an Ironic without one.

    fake_keystone.py --baremetal http://127.0.0.1:6385 \
        [--introspection http://127.0.0.1:5050] [--stub-flavor] [--log FILE]

It takes a free port and prints its address as the first line.

Answers only
    GET  /            version list
    GET  /v3          v3 version document
    POST /v3/auth/tokens   any user and any password -> a token whose catalog
                           names the baremetal endpoint given above
    GET/DELETE /v3/auth/tokens
Everything else is a 404 that is written to the log, so a test that really
needs an identity service fails visibly instead of passing on a stub.
With --stub-flavor the catalog also names a compute service here that knows one
flavor, and nothing else: the plugin's inspection scenarios read a flavor in
setUp, whether the test then uses it or not (the abort test does not).

It takes no part in the traffic under test: clients go straight to the
baremetal endpoint with the token in X-Auth-Token (a noauth Ironic ignores it).
For test beds on loopback only: it authenticates everybody as admin.
"""
import argparse
import datetime
import hashlib
import http.server
import json
import threading
import uuid

LOCK = threading.Lock()
TOKENS = {}
NS = uuid.UUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8')


def uid(*parts):
    return uuid.uuid5(NS, '/'.join(parts)).hex


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version = 'fake-keystone'

    def log_message(self, fmt, *args):
        if self.server.logfile:
            with LOCK:
                self.server.logfile.write('%s %s\n' % (
                    self.log_date_time_string(), fmt % args))
                self.server.logfile.flush()

    def reply(self, code, body=None, headers=()):
        data = b'' if body is None else json.dumps(body).encode()
        self.send_response(code)
        for k, v in headers:
            self.send_header(k, v)
        if data:
            self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        if data and self.command != 'HEAD':
            self.wfile.write(data)

    def version(self):
        return {'id': 'v3.14', 'status': 'stable',
                'updated': '2020-04-07T00:00:00Z',
                'links': [{'rel': 'self', 'href': self.server.base + '/v3/'}],
                'media-types': [{
                    'base': 'application/json',
                    'type': 'application/vnd.openstack.identity-v3+json'}]}

    def do_GET(self):
        path = self.path.split('?')[0].rstrip('/')
        if path == '':
            return self.reply(300, {'versions': {'values': [self.version()]}})
        if path == '/v3':
            return self.reply(200, {'version': self.version()})
        if path == '/v3/auth/tokens':
            tok = self.headers.get('X-Subject-Token', '')
            if tok in TOKENS:
                return self.reply(200, TOKENS[tok],
                                  [('X-Subject-Token', tok)])
        if self.server.stub_flavor and path.startswith('/compute/flavors/'):
            if path.endswith('/os-extra_specs'):
                return self.reply(200, {'extra_specs': {
                    'cpu_arch': 'x86_64'}})
            return self.reply(200, {'flavor': {
                'id': path.split('/')[3], 'name': 'stub', 'vcpus': 1,
                'ram': 512, 'disk': 1, 'swap': '', 'rxtx_factor': 1.0,
                'OS-FLV-EXT-DATA:ephemeral': 0, 'links': [],
                'OS-FLV-DISABLED:disabled': False,
                'os-flavor-access:is_public': True}})
        return self.missing()

    do_HEAD = do_GET

    def do_DELETE(self):
        self.body()
        if self.path.rstrip('/') == '/v3/auth/tokens':
            TOKENS.pop(self.headers.get('X-Subject-Token', ''), None)
            return self.reply(204)
        return self.missing()

    def do_PUT(self):
        self.body()
        return self.missing()

    do_PATCH = do_PUT

    def do_POST(self):
        raw = self.body()
        if self.path.rstrip('/') != '/v3/auth/tokens':
            return self.missing()
        try:
            auth = json.loads(raw)['auth']
        except (ValueError, KeyError):
            return self.reply(400, {'error': {'code': 400,
                                              'message': 'bad auth request'}})
        token = self.token(auth)
        tid = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
        TOKENS[tid] = {'token': token}
        return self.reply(201, TOKENS[tid], [('X-Subject-Token', tid)])

    def token(self, auth):
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        domain = {'id': 'default', 'name': 'Default'}
        user = auth.get('identity', {}).get('password', {}).get('user', {})
        name = user.get('name') or user.get('id') or 'admin'
        token = {
            'methods': auth.get('identity', {}).get('methods', ['password']),
            'user': {'id': user.get('id') or uid('user', name), 'name': name,
                     'domain': domain, 'password_expires_at': None},
            'audit_ids': [uuid.uuid4().hex[:22]],
            'issued_at': now.strftime('%Y-%m-%dT%H:%M:%S.%fZ'),
            'expires_at': (now + datetime.timedelta(hours=12)).strftime(
                '%Y-%m-%dT%H:%M:%S.%fZ'),
            'roles': [{'id': uid('role', r), 'name': r}
                      for r in ('admin', 'member', 'reader')],
            'catalog': self.server.catalog,
        }
        scope = auth.get('scope') or {}
        if 'system' in scope:
            token['system'] = {'all': True}
        elif 'domain' in scope:
            token['domain'] = domain
        else:
            p = scope.get('project', {})
            pname = p.get('name') or p.get('id') or 'admin'
            token['project'] = {'id': p.get('id') or uid('project', pname),
                                'name': pname, 'domain': domain}
            token['is_domain'] = False
        return token

    def body(self):
        return self.rfile.read(int(self.headers.get('Content-Length') or 0))

    def missing(self):
        self.log_message('NOT STUBBED: %s %s', self.command, self.path)
        self.reply(404, {'error': {'code': 404, 'title': 'Not Found',
                                   'message': 'not stubbed: ' + self.path}})


def service(type_, name, url, region):
    return {'id': uid('service', type_), 'type': type_, 'name': name,
            'endpoints': [{'id': uid('endpoint', type_, i), 'interface': i,
                           'region': region, 'region_id': region, 'url': url}
                          for i in ('public', 'internal', 'admin')]}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--host', default='127.0.0.1')
    ap.add_argument('--port', type=int, default=0)
    ap.add_argument('--baremetal', required=True)
    ap.add_argument('--introspection')
    ap.add_argument('--stub-flavor', action='store_true')
    ap.add_argument('--region', default='RegionOne')
    ap.add_argument('--log')
    a = ap.parse_args()
    srv = http.server.ThreadingHTTPServer((a.host, a.port), Handler)
    srv.daemon_threads = True
    srv.base = 'http://%s:%d' % (a.host, srv.server_address[1])
    srv.logfile = open(a.log, 'a') if a.log else None
    srv.catalog = [
        service('identity', 'keystone', srv.base + '/v3', a.region),
        service('baremetal', 'ironic', a.baremetal.rstrip('/'), a.region)]
    if a.introspection:
        srv.catalog.append(service('baremetal-introspection',
                                   'ironic-inspector',
                                   a.introspection.rstrip('/'), a.region))
    srv.stub_flavor = a.stub_flavor
    if a.stub_flavor:
        srv.catalog.append(service('compute', 'nova', srv.base + '/compute',
                                   a.region))
    print(srv.base, flush=True)
    srv.serve_forever()


if __name__ == '__main__':
    main()
