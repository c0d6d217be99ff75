"""A development service as a process, and the keys of devices, for checks that use nothing of the service's own code."""

import base64
import hashlib
import html
import http.client
import json
import random
import re
import signal
import subprocess
import time
import urllib.parse
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

PASSWORD = "correct horse battery"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A device's signing key, with JWS by hand so that nothing of the service's own code checks itself."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.jwk = {
            "crv": "P-256", "kty": "EC", "x": encode(numbers.x.to_bytes(32, "big")),
            "y": encode(numbers.y.to_bytes(32, "big")),
        }
        self.thumbprint = encode(hashlib.sha256(json.dumps(self.jwk, separators=(",", ":")).encode()).digest())

    def sign(self, kind, payload, embeds=False):
        header = {"alg": "ES256", "typ": kind} | ({"jwk": self.jwk} if embeds else {"kid": self.thumbprint})
        text = encode(json.dumps(header).encode()) + "." + encode(json.dumps(payload).encode())
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return text + "." + encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


class Service:
    """The process under test, always at the same port."""

    def __init__(self, program, folder):
        self.program, self.folder, self.port = program, folder, 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--development", "--development-password", PASSWORD, "--listen", f"127.0.0.1:{self.port}",
             "--log-format", "json", "--log-level", "info", "--data-directory", str(self.folder / "service")],
            stdout=subprocess.PIPE, stderr=open(self.folder / "service.log", "ab"), text=True)
        line = self.process.stdout.readline()
        assert line, "the service does not start: " + (self.folder / "service.log").read_text()[-2_000:]
        self.said = json.loads(line)
        self.port = urllib.parse.urlsplit(self.said["address"]).port

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def call(self, method, path, body=None, headers=None, form=False):
        """One request on a connection of its own: status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            headers = dict(headers or {})
            if body is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded" if form else "application/json"
                body = urllib.parse.urlencode(body) if form else json.dumps(body)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer, answer.read()
        finally:
            connection.close()

    def sign_in(self, name, client, scope, resource, key=None):
        """A token by the provider's own pages."""
        verifier = encode(random.randbytes(32))
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": client, "redirect_uri": "http://127.0.0.1:1/callback",
            "scope": "openid " + scope, "resource": resource, "state": "s", "prompt": "login",
            "code_challenge": encode(hashlib.sha256(verifier.encode()).digest()), "code_challenge_method": "S256"})
        issuer = urllib.parse.urlsplit(self.said["issuer"]).path
        origin = self.said["address"]
        _, _, document = self.call("GET", issuer + "/.well-known/openid-configuration")
        metadata = {name: urllib.parse.urlsplit(value).path for name, value in json.loads(document).items()
                    if name.endswith("_endpoint")}
        cookies, where, fields = {}, metadata["authorization_endpoint"] + "?" + query, None
        for _ in range(10):
            headers = {"Cookie": "; ".join(f"{key}={value}" for key, value in cookies.items()), "Origin": origin}
            status, answer, page = self.call("GET" if fields is None else "POST", where, fields, headers, form=True)
            for cookie in answer.headers.get_all("Set-Cookie") or []:
                name_of, _, value = cookie.split(";")[0].partition("=")
                cookies[name_of] = value
            if 300 <= status < 400:
                target = urllib.parse.urlsplit(urllib.parse.urljoin(origin + where, answer.headers["Location"]))
                if target.port == 1:
                    code = urllib.parse.parse_qs(target.query)["code"][0]
                    break
                where, fields = target.path + "?" + target.query, None
                continue
            page = page.decode()
            assert status == 200, (status, page[:500])
            where = urllib.parse.urlsplit(html.unescape(re.search(r'action="([^"]*)"', page)[1])).path or where
            fields = {key: html.unescape(value) for key, value in
                      re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)}
            if 'name="password"' in page:
                fields |= {"username": name, "password": PASSWORD, "action": "sign-in"}
            else:
                fields |= {"action": "allow"}
        else:
            raise AssertionError("the sign-in does not end")
        headers = {}
        if key:
            headers["DPoP"] = key.sign("dpop+jwt", {
                "jti": str(uuid.uuid4()), "htm": "POST", "htu": origin + metadata["token_endpoint"],
                "iat": int(time.time())}, embeds=True)
        status, _, body = self.call("POST", metadata["token_endpoint"], {
            "grant_type": "authorization_code", "code": code, "client_id": client, "code_verifier": verifier,
            "redirect_uri": "http://127.0.0.1:1/callback", "resource": resource}, headers, form=True)
        assert status == 200, body
        return json.loads(body)["access_token"]

    def automation(self):
        """A token for the program that every development service knows."""
        issuer = urllib.parse.urlsplit(self.said["issuer"]).path
        _, _, document = self.call("GET", issuer + "/.well-known/openid-configuration")
        endpoint = urllib.parse.urlsplit(json.loads(document)["token_endpoint"]).path
        status, _, body = self.call("POST", endpoint, {
            "grant_type": "client_credentials", "client_id": "cordon-automation", "client_secret": PASSWORD,
            "scope": "https://graph.microsoft.com/.default"}, form=True)
        assert status == 200, body
        return json.loads(body)["access_token"]
