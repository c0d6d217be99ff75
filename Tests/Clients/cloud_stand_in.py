"""A proxy that stands in for the public cloud, so that a client with built-in addresses reaches the service.

It answers CONNECT for the two names below with a certificate of its own authority: requests to the Graph go on to the
service, and sign-in is a small OpenID provider that hands out the one token it was given.
"""

import datetime
import http.client
import http.server
import json
import ssl
import threading
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

GRAPH = "graph.microsoft.com"
SIGN_IN = "login.microsoftonline.com"


def authority(folder):
    """Writes a certificate authority and a certificate for both names; the paths of both."""

    def name(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def certificate(subject, issuer, key, signer):
        now = datetime.datetime.now(datetime.timezone.utc)
        return (
            x509.CertificateBuilder()
            .subject_name(name(subject))
            .issuer_name(name(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=subject == issuer, path_length=None), critical=True)
        )

    root = ec.generate_private_key(ec.SECP256R1())
    leaf = ec.generate_private_key(ec.SECP256R1())
    trusted = certificate("Test authority", "Test authority", root, root).sign(root, hashes.SHA256())
    names = x509.SubjectAlternativeName([x509.DNSName(GRAPH), x509.DNSName(SIGN_IN)])
    shown = (
        certificate("Test service", "Test authority", leaf, root)
        .add_extension(names, critical=False)
        .sign(root, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = leaf.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "authority.pem").write_bytes(trusted.public_bytes(pem))
    (folder / "service.pem").write_bytes(private + shown.public_bytes(pem))
    return folder / "authority.pem", folder / "service.pem"


class Proxy(http.server.ThreadingHTTPServer):
    """The proxy, with what it saw: method and path of every request to the Graph."""

    daemon_threads = True

    def __init__(self, folder, service, token, client):
        super().__init__(("127.0.0.1", 0), Handler)
        self.authority, certificate = authority(folder)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.service = urllib.parse.urlsplit(service).netloc
        self.token = token
        self.client = client
        self.seen = []
        self.sign_ins = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """A client that hangs up early is nothing to talk about."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_CONNECT(self):
        host = self.path.split(":")[0]
        if host not in (GRAPH, SIGN_IN):
            self.send_error(403, "not a name of this test")
            return
        self.send_response(200, "Connection established")
        self.end_headers()
        tunnel = self.server.context.wrap_socket(self.connection, server_side=True)
        Inside(tunnel, host, self.server)


class Inside(http.server.BaseHTTPRequestHandler):
    """Requests within one tunnel."""

    protocol_version = "HTTP/1.1"

    def __init__(self, connection, host, server):
        self.host = host
        super().__init__(connection, ("127.0.0.1", 0), server)

    def log_message(self, *arguments):
        pass

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.host == SIGN_IN:
            self.answer(*self.sign_in(body))
        else:
            self.forward(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

    def forward(self, body):
        self.server.seen.append((self.command, self.path))
        upstream = http.client.HTTPConnection(self.server.service, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        self.answer(answer.status, answer.read(), dict(answer.getheaders()))
        upstream.close()

    def sign_in(self, body):
        """Discovery and the grant for programs, as Microsoft's sign-in library asks for them."""
        base = f"https://{SIGN_IN}/" + self.path.split("/")[1]
        if self.path.startswith("/common/discovery/instance"):
            return self.json(
                {
                    "tenant_discovery_endpoint": base + "/v2.0/.well-known/openid-configuration",
                    "metadata": [
                        {"preferred_network": SIGN_IN, "preferred_cache": SIGN_IN, "aliases": [SIGN_IN]}
                    ],
                }
            )
        if "/.well-known/openid-configuration" in self.path:
            return self.json(
                {
                    "issuer": base + "/v2.0",
                    "authorization_endpoint": base + "/oauth2/v2.0/authorize",
                    "token_endpoint": base + "/oauth2/v2.0/token",
                    "device_authorization_endpoint": base + "/oauth2/v2.0/devicecode",
                }
            )
        if self.path.endswith("/oauth2/v2.0/token"):
            form = dict(urllib.parse.parse_qsl(body.decode()))
            given = (form.get("client_id"), form.get("client_secret"))
            if given != self.server.client or form.get("grant_type") != "client_credentials":
                return self.json({"error": "invalid_client"}, 401)
            assert form["scope"].startswith("https://graph.microsoft.com/.default")
            self.server.sign_ins += 1
            return self.json({"token_type": "Bearer", "expires_in": 600, "access_token": self.server.token})
        return self.json({"error": "not_found"}, 404)

    @staticmethod
    def json(value, status=200):
        return status, json.dumps(value).encode(), {"Content-Type": "application/json"}

    def answer(self, status, body, headers):
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
