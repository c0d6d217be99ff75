"""Providers that no recipe of docs/providers.md is about, each made from the OpenID specifications with habits of its own, and an
operator who knows of Cordon what `cordon serve config check` and `cordon serve token explain` say.

Run with the program `cordon` and an empty folder. For each provider: what the two commands say of the issuer alone must name what the
settings then say; with these a device enrols and checks in, an administrator gets in, and what comes near stays out.
"""

import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time
import urllib.error
import uuid

from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey

import protocol_device as device

BUNDLE = "org.example.fieldnotes"
CHECK_IN, ADMINISTRATION = "api://cordon/check-in", "api://cordon/administration"
ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"]


class Provider:
    """A discovery document and keys on loopback, and tokens with whatever header and claims."""

    def __init__(self, path, key, algorithm, announces=None, slash=False):
        self.key, self.algorithm = key, algorithm
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                documents = {path + "/.well-known/openid-configuration": provider.discovery, path + "/jwks": provider.keys}
                known = documents.get(self.path)
                body = json.dumps(known() if known else {}).encode()
                self.send_response(200 if known else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{server.server_address[1]}{path}"
        self.issuer = self.base + ("/" if slash else "")
        self.announces = announces or {}

    def discovery(self):
        return {
            "issuer": self.issuer, "jwks_uri": self.base + "/jwks", "authorization_endpoint": self.base + "/authorize",
            "token_endpoint": self.base + "/token", "code_challenge_methods_supported": ["S256"],
        } | self.announces

    def keys(self):
        return {"keys": [self.key.as_dict(private=False)]}

    def token(self, header, claims):
        now = int(time.time())
        claims = {"iss": self.issuer, "iat": now, "exp": now + 3600} | claims
        header = {"alg": self.algorithm} | header
        return jws.serialize_compact(header, json.dumps(claims), self.key, algorithms=ALGORITHMS)


class Service:
    """`cordon serve` with some settings, in a folder of its own."""

    def __init__(self, cordon, folder, settings):
        self.cordon, self.file = cordon, folder / "service.json"
        folder.mkdir(mode=0o700, exist_ok=True)
        common = {"tenant": "contoso", "listen": "127.0.0.1:0", "dataDirectory": str(folder / "data")}
        self.file.write_text(json.dumps(common | settings))

    def run(self, *command, words=None):
        found = subprocess.run(
            [self.cordon, "serve", *command, "--config", str(self.file)], input=words, capture_output=True, text=True,
            timeout=120)
        return found.returncode, found.stdout + found.stderr

    def explain(self, token):
        status, text = self.run("token", "explain", words=token)
        return status, json.loads(text)

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.cordon, "serve", "--config", str(self.file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in self.process.stdout:
            if line.startswith(b"{"):
                facts = json.loads(line)
                self.base, self.pin = facts["address"], facts["rootKey"]
                return self
        raise AssertionError(f"the service ended with {self.process.wait()}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def status(self, token, method="GET", path="/admin/v1/me", body=None):
        try:
            return 200, device.administer(self.base, token, method, path, body)
        except urllib.error.HTTPError as error:
            return error.code, None

    def publish(self, token):
        policies = "/v1.0/deviceAppManagement/iosManagedAppProtections"
        _, policy = self.status(token, "POST", policies, {"displayName": "Notes"})
        app = {"@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": BUNDLE}
        everybody = {"target": {"@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget"}}
        for name, body in [("targetApps", {"apps": [{"mobileAppIdentifier": app}]}), ("assign", {"assignments": [everybody]})]:
            assert self.status(token, "POST", f"{policies}/{policy['id']}/{name}", body)[0] == 200, name


def pool():
    """No type, no audience, scopes behind the name of their API; the client says what a token is for."""
    provider = Provider("/eu_pool", RSAKey.generate_key(2048, {"kid": "k", "use": "sig", "alg": "RS256"}), "RS256")
    header = {"kid": "k"}
    common = {"sub": "5d1a7c3e", "token_use": "access", "auth_time": int(time.time()), "username": "worker-a"}
    person = common | {"client_id": "app-client", "scope": "openid notes/mam.checkin"}
    owner = common | {
        "sub": "7e2b8d4f", "client_id": "console-client", "scope": "notes/DeviceManagementApps.ReadWrite.All",
        "pool:groups": ["owners"]}
    settings = {
        "tokenTypes": ["none"], "accessTokenClaims": ["client_id"], "checkInAudience": "app-client",
        "administrationAudiences": ["console-client"], "scopePrefixes": ["notes/"], "checkInProof": "registration",
        "claims": {"audience": "client_id", "groups": "pool:groups", "name": "username"}}
    identity = {"sub": "5d1a7c3e", "aud": "app-client", "token_use": "id", "username": "worker-a", "pool:groups": ["owners"]}
    return provider, settings, {"owners": ["owner"]}, (header, person), (header, owner), ["none", "client_id", "aud must name"], [
        (header, identity), (header, person | {"client_id": "shop-client"}),
        (header, person | {"scope": "openid shop/mam.checkin"}), (header, person | {"aud": "app-client", "client_id": "x"})]


def farm():
    """Access tokens of another issuer than the discovery document's, times as text, scopes as a list, keys without a name."""
    trust = "http://farm.example.test/services/trust"
    provider = Provider(
        "/farm", RSAKey.generate_key(2048), "PS256", {"access_token_issuer": trust})
    header = {"typ": "JWT"}
    moment = time.strftime("%Y-%m-%dT%H:%M:%S.250Z", time.gmtime(time.time() - 60))
    common = {"iss": trust, "apptype": "Public", "auth_time": moment, "ver": "1.0"}
    person = common | {"oid": "worker-a", "aud": CHECK_IN, "appid": "app", "upn": "worker-a@x.example", "scp": ["mam.checkin"]}
    owner = common | {
        "oid": "ada", "aud": [ADMINISTRATION], "appid": "console", "upn": "ada@x.example",
        "scp": ["DeviceManagementApps.ReadWrite.All"], "role": "owner"}
    settings = {
        "tokenIssuer": trust, "tokenTypes": "JWT", "accessTokenClaims": ["apptype"], "checkInProof": "registration",
        "claims": {"roles": "role"}}
    identity = person | {"iss": provider.issuer, "nonce": "n"}
    return provider, settings, {}, (header, person), (header, owner), ["tokenIssuer", trust], [
        (header, identity), (header, person | {"nonce": "n"}), (header, person | {"aud": [CHECK_IN, ADMINISTRATION]}),
        (header, person | {"iss": trust + "/"}), (header, person | {"auth_time": "2090-01-01T00:00:00Z"})]


def hub():
    """A slash at the end of the issuer, names and times under addresses, several audiences, a P-384 key."""
    provider = Provider("", ECKey.generate_key("P-384", {"kid": "e"}), "ES384", slash=True)
    header, space = {"typ": "at+jwt", "kid": "e"}, "https://claims.example.test/"
    common = {"client_id": "app", "jti": str(uuid.uuid4()), space + "since": int(time.time())}
    person = common | {
        "sub": "hub|worker.a", "aud": [CHECK_IN, provider.issuer + "userinfo"], "scope": "openid mam.checkin",
        space + "name": "worker-a@x.example"}
    owner = common | {
        "sub": "hub|ada", "aud": ADMINISTRATION, "scope": "DeviceManagementApps.ReadWrite.All", space + "name": "ada@x.example",
        space + "roles": ["cordon.owner"]}
    settings = {
        "checkInProof": "registration",
        "claims": {"name": space + "name", "roles": space + "roles", "signedIn": space + "since"}}
    return provider, settings, {}, (header, person), (header, owner), ["checkInProof", "names are looked for in"], [
        (header | {"typ": "JWT"}, person), (header, person | {"iss": provider.issuer[:-1]}),
        (header, person | {space + "name": None}), (header, person | {"sub": "hub|\u212aate"})]


def vault():
    """Tokens bound to keys and signed with EdDSA, mail addresses as ids, everything else to the letter."""
    provider = Provider(
        "/realms/x", OKPKey.generate_key("Ed25519", {"kid": "o"}), "EdDSA", {"dpop_signing_alg_values_supported": ["ES256"]})
    header = {"typ": "application/at+jwt", "kid": "o"}
    person = {"sub": "worker-a@x.example", "aud": CHECK_IN, "client_id": "app", "scope": "mam.checkin", "upn": "Worker A"}
    owner = {
        "sub": "ada@x.example", "aud": ADMINISTRATION, "client_id": "console", "upn": "Ada", "auth_time": int(time.time()),
        "scope": "DeviceManagementApps.ReadWrite.All", "roles": ["owner"]}
    return provider, {}, {}, (header, person), (header, owner), ["the token is not bound to a key"], [
        (header, person), (header, person | {"cnf": {"jkt": "another"}}), (header, person | {"cnf": "x"})]


def sentence(provider, make, cordon, folder):
    """What the commands say of the issuer alone."""
    service = Service(cordon, folder, {"issuers": [provider.issuer]})
    _, said = service.run("config", "check")
    _, explained = service.explain(make)
    return said + json.dumps(explained)


def main():
    cordon, root = sys.argv[1], pathlib.Path(sys.argv[2])
    for habit in (pool, farm, hub, vault):
        provider, settings, roles, person, owner, words, misses = habit()
        said = sentence(provider, provider.token(*person), cordon, root / (habit.__name__ + "-alone"))
        for word in words:
            assert word in said, (habit.__name__, word, said)
        service = Service(
            cordon, root / habit.__name__, {"issuers": [{"issuer": provider.issuer} | settings], "roles": roles})
        status, said = service.run("config", "check")
        assert status == 0, (habit.__name__, said)
        key = device.Key()
        bound = {"cnf": {"jkt": key.thumbprint}} if habit is vault else {}
        token = provider.token(person[0], person[1] | bound)
        status, explained = service.explain(token)
        assert status == 0 and explained["checkIn"]["accepted"], (habit.__name__, explained)
        assert not explained["administration"]["accepted"], habit.__name__
        with service:
            administration = provider.token(*owner)
            status, me = service.status(administration)
            assert status == 200 and me["roles"] == ["owner"] and me["isFresh"], (habit.__name__, status, me)
            assert service.status(token)[0] == 401, "a check-in token opens no administration"
            service.publish(administration)
            app = device.Device(service.base, service.pin, key, token, BUNDLE)
            assert app.enrol() == (201, 100), habit.__name__
            assert app.check_in() == 101, habit.__name__
            for number, (header, claims) in enumerate(misses):
                stranger = device.Key()
                miss = provider.token(header, claims)
                try:
                    device.Device(service.base, service.pin, stranger, miss, BUNDLE).enrol()
                    raise AssertionError(f"{habit.__name__}: near miss {number} enrolled")
                except device.Problem as problem:
                    assert problem.status in (401, 403), (habit.__name__, number, problem)
                assert service.status(miss)[0] == 401, (habit.__name__, number)
                # Whose key a token is bound to is seen at a proof alone.
                if not isinstance(claims.get("cnf"), dict):
                    status, explained = service.explain(miss)
                    assert status == 1, (habit.__name__, number, explained)
        print(habit.__name__, "first check-in", flush=True)
    print("every expectation held")


if __name__ == "__main__":
    main()
