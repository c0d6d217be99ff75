"""A device that was written from docs/device-protocol.md alone: it shares no code with Cordon or with other clients here.

`Device` enrols, checks in, verifies what it is told, wipes and returns a receipt. Run as a program it does all of that
against the service at CORDON_BASE, whose root key is CORDON_PIN, in two steps:

CORDON_STEP=make writes the device's key to CORDON_KEY and prints its thumbprint, for a provider to bind a token to;
CORDON_STEP=use takes the token from CORDON_DEVICE_TOKEN, and CORDON_TOKEN to ask for a wipe as an administrator does.
"""

import base64
import datetime
import hashlib
import json
import os
import pathlib
import time
import urllib.error
import urllib.request
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature


# The service answers on this machine or at its own address, whatever the environment says of proxies.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    if "=" in text:
        raise Refused("malformed", "padding")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def now_text():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Refused(Exception):
    """Something that the service said and the device does not accept; `code` is what it reports."""

    def __init__(self, code, reason):
        super().__init__(f"{code}: {reason}")
        self.code = code


class Problem(Exception):
    """The service refused."""

    def __init__(self, status, document):
        super().__init__(f"{status} {document}")
        self.status, self.document = status, document


def thumbprint(jwk):
    members = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    return encode(hashlib.sha256(json.dumps(members, separators=(",", ":"), sort_keys=True).encode()).digest())


def verify(text, jwk):
    """Raises unless the key signed the text."""
    signed, _, signature = text.rpartition(".")
    raw = decode(signature)
    if len(raw) != 64:
        raise Refused("wrongSignature", "not 64 bytes")
    point = [int.from_bytes(decode(jwk[name]), "big") for name in ("x", "y")]
    key = ec.EllipticCurvePublicNumbers(*point, ec.SECP256R1()).public_key()
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    try:
        key.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refused("wrongSignature", "the signature does not match") from None


def header(text, kind, names_key):
    """The header of a signed text of one type, which names its key by `kid` or brings it as `jwk`."""
    parts = text.split(".")
    if len(parts) != 3:
        raise Refused("malformed", "not three parts")
    head = json.loads(decode(parts[0]))
    if head.get("alg") != "ES256" or head.get("typ") != kind or "crit" in head:
        raise Refused("unsupported", f"alg, typ or crit of a {kind}")
    if ("kid" in head) != names_key or ("jwk" in head) == names_key or "d" in head.get("jwk", {}):
        raise Refused("unknownKey", "kid or jwk")
    return head


def payload(text):
    return json.loads(decode(text.split(".")[1]))


def digest(text):
    return encode(hashlib.sha256(text.encode()).digest())


class Key:
    """The registration's key."""

    def __init__(self, key=None):
        self.key = key or ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.jwk = {"kty": "EC", "crv": "P-256", "x": encode(numbers.x.to_bytes(32, "big")),
                    "y": encode(numbers.y.to_bytes(32, "big"))}
        self.thumbprint = thumbprint(self.jwk)

    def sign(self, kind, claims, brings_key):
        head = {"alg": "ES256", "typ": kind} | ({"jwk": self.jwk} if brings_key else {"kid": self.thumbprint})
        text = encode(json.dumps(head).encode()) + "." + encode(json.dumps(claims).encode())
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return text + "." + encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

    def save(self, path):
        path.touch(mode=0o600)
        path.write_bytes(self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))

    @classmethod
    def load(cls, path):
        return cls(serialization.load_pem_private_key(path.read_bytes(), None))


class Device:
    """One app of one person on one device."""

    APPLICATION = {"version": "3.1", "sdkVersion": "0.2.0"}

    def __init__(self, service, pin, key, token, bundle):
        self.pin, self.key, self.token, self.bundle = pin, key, token, bundle
        self.tag = str(uuid.uuid4())
        self.nonce, self.registration, self.account = None, None, None
        self.text, self.envelope, self.refused, self.done = None, None, [], set()
        self.data = {"note.txt": b"the organisation's"}
        self.discovery = self.plain(service.rstrip("/") + "/.well-known/cordon-mam")
        if 1 not in self.discovery["versions"]:
            raise Refused("unsupported", "no common version")
        self.keys, self.keys_fetched = {}, 0

    # Exchange

    @staticmethod
    def plain(url):
        with OPENER.open(url, timeout=120) as answer:
            return json.load(answer)

    def send(self, method, path, body=None, with_token=True, with_proof=True):
        """One request with a fresh proof, and once more when the service asks for its nonce."""
        url = self.discovery["checkIn"] + path
        for attempt in (1, 2):
            request = urllib.request.Request(url, method=method)
            sent = b"" if body is None else json.dumps(body).encode()
            if body is not None:
                request.data = sent
                request.add_header("Content-Type", "application/json")
            token = self.token if with_token else None
            if token:
                scheme = "Bearer" if self.discovery.get("proof") == "registration" else "DPoP"
                request.add_header("Authorization", f"{scheme} {token}")
            if with_proof:
                request.add_header("DPoP", self.proof(method, url, token, sent))
            try:
                with OPENER.open(request, timeout=120) as answer:
                    self.nonce = answer.headers.get("DPoP-Nonce", self.nonce)
                    content = answer.read()
                    return answer.status, json.loads(content) if content else None
            except urllib.error.HTTPError as error:
                self.nonce = error.headers.get("DPoP-Nonce", self.nonce)
                document = json.loads(error.read())
                if error.code == 423:
                    return 423, document
                stale = document["type"] == "urn:cordon:problem:proof-nonce"
                if not stale or attempt == 2:
                    raise Problem(error.code, document) from None

    def proof(self, method, url, token, body):
        claims = {"jti": str(uuid.uuid4()), "htm": method, "htu": url.split("?")[0], "iat": int(time.time()),
                  "bodyDigest": encode(hashlib.sha256(body).digest())}
        if token:
            claims["ath"] = encode(hashlib.sha256(token.encode()).digest())
        if self.nonce:
            claims["nonce"] = self.nonce
        return self.key.sign("dpop+jwt", claims, brings_key=True)

    # Keys and envelopes

    def fetch_keys(self):
        text = self.plain(self.discovery["keys"])["signed"]
        root = header(text, "cordon-keys+jwt", names_key=False)["jwk"]
        if thumbprint(root) != self.pin:
            raise Refused("unknownKey", "another root key than the pinned one")
        verify(text, root)
        content = payload(text)
        if content["exp"] <= time.time():
            raise Refused("expired", "the key set")
        self.keys = {key["kid"]: key for key in content["keys"]}
        self.keys_fetched = time.time()

    def accept(self, text, nonce, contact=None):
        """Puts an envelope that has just come in force, or raises."""
        name = header(text, "cordon-policy+jwt", names_key=True)["kid"]
        settings = (self.envelope or {}).get("service") or {}
        if name not in self.keys or time.time() - self.keys_fetched > settings.get("keySetMaxAgeSeconds", 3600):
            self.fetch_keys()
        if name not in self.keys:
            raise Refused("unknownKey", "of the envelope")
        verify(text, self.keys[name])
        envelope = payload(text)
        expected = {"tenant": self.discovery["tenant"], "registrationID": self.registration, "account": self.account}
        if any(envelope[member] != value for member, value in expected.items()):
            raise Refused("wrongRecipient", "another registration")
        if envelope["bundleID"].lower() != self.bundle.lower():
            raise Refused("wrongRecipient", "another app")
        if envelope["exp"] <= time.time():
            raise Refused("expired", "the envelope")
        if envelope["nonce"] != nonce:
            raise Refused("replayed", "another request's")
        if self.envelope and envelope["sequence"] <= self.envelope["sequence"] and text != self.text:
            raise Refused("replayed", "an old sequence")
        if envelope.get("hasContact") and (contact is None or contact["envelopeDigest"] != digest(text)):
            raise Refused("wrongSignature", "without the word that names it")
        self.text, self.envelope = text, envelope

    def word(self, text, body):
        """What the service says of its answer to a check-in, verified."""
        name = header(text, "cordon-contact+jwt", names_key=True)["kid"]
        if name not in self.keys:
            self.fetch_keys()
        if name not in self.keys:
            raise Refused("unknownKey", "of the word")
        verify(text, self.keys[name])
        contact = payload(text)
        if contact["rid"] != self.registration or contact["nonce"] != body["nonce"]:
            raise Refused("replayed", "another request's")
        return contact

    @property
    def digest(self):
        return digest(self.text)

    # What a device does

    def facts(self):
        return {"application": self.APPLICATION | {"bundleID": self.bundle},
                "device": {"tag": self.tag, "osVersion": "18.2", "model": "Python"}}

    def enrol(self):
        nonce = str(uuid.uuid4())
        status, result = self.send(
            "POST", "/registrations", self.facts() | {"source": "appRegistered", "nonce": nonce})
        self.registration, self.account = result["registrationID"], result["account"]["id"]
        self.accept(result["envelope"], nonce)
        return status, result["statusCode"]

    def check_in(self, with_token=True):
        nonce = str(uuid.uuid4())
        body = self.facts() | {"appliedSequence": 0, "health": [], "clientTime": now_text(), "nonce": nonce}
        if self.envelope:
            body |= {"appliedSequence": self.envelope["sequence"], "appliedVersion": self.envelope["version"],
                     "appliedDigest": self.digest}
        if self.refused:
            body["refusedEnvelopes"] = self.refused
        _, answer = self.send("POST", f"/registrations/{self.registration}/checkins", body, with_token=with_token)
        self.refused = []
        contact = self.word(answer["contact"], body)
        if answer["unchanged"]:
            if contact["envelopeDigest"] != self.digest:
                raise Refused("replayed", "the envelope was taken off the answer")
        else:
            try:
                self.accept(answer["envelope"], nonce, contact)
            except Refused as refusal:
                self.refused.append({"account": self.account, "code": refusal.code, "time": now_text()})
                raise
        return answer["statusCode"]

    def acknowledge(self, command, phase, receipt=None, **how):
        body = {"commandID": command, "phase": phase, "time": now_text()} | ({"receipt": receipt} if receipt else {})
        self.send("POST", f"/registrations/{self.registration}/acknowledgements", body, **how)

    def obey(self):
        """Carries out the wipe of the envelope in force; its receipt, signed before the key goes, is handed in alone."""
        for command in (self.envelope or {}).get("commands", []):
            new = command["id"] not in self.done and command["notAfter"] > time.time()
            if command["kind"] != "wipe" or command["account"] != self.account or not new:
                continue
            self.done.add(command["id"])
            started = now_text()
            self.acknowledge(command["id"], "started")
            sizes = [len(content) for content in self.data.values()]
            self.data.clear()
            receipt = self.key.sign("cordon-wipe-receipt+jwt", {
                "commandID": command["id"], "tenant": self.discovery["tenant"], "registrationID": self.registration,
                "account": self.account, "bundleID": self.bundle, "destroyedKeyIDs": ["the-account-key"],
                "files": len(sizes), "bytes": sum(sizes), "started": started, "finished": now_text(), "failures": [],
            }, brings_key=False)
            self.key, self.token = None, None
            self.acknowledge(command["id"], "succeeded", receipt, with_token=False, with_proof=False)
            return receipt


def administer(base, token, method, path, body=None):
    request = urllib.request.Request(base + path, method=method)
    request.add_header("Authorization", f"Bearer {token}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    with OPENER.open(request, timeout=120) as answer:
        content = answer.read()
        return json.loads(content) if content else None


def use(key):
    base, environment = os.environ["CORDON_BASE"], os.environ
    device = Device(base, environment["CORDON_PIN"], key, environment["CORDON_DEVICE_TOKEN"], environment["CORDON_BUNDLE"])
    assert device.enrol() == (201, 100)
    assert device.envelope["policy"]["policy"]["displayName"] == "Notes", device.envelope
    assert device.check_in() == 101, "nothing has changed"

    # What is not the service's is not accepted, and leaves the rules as they are.
    before = device.text
    forged = Key()
    head, body, _ = device.text.split(".")
    for text, code in [
        (forged.sign("cordon-policy+jwt", device.envelope, brings_key=False), "unknownKey"),
        (forged.sign("cordon-keys+jwt", device.envelope, brings_key=False), "unsupported"),
        (head + "." + body + "." + encode(bytes(63) + b"\x01"), "wrongSignature"),
        (device.text, "replayed"),
    ]:
        try:
            device.accept(text, "another nonce")
        except Refused as refusal:
            assert refusal.code == code, (refusal, code)
        else:
            raise AssertionError(f"{code} was accepted")
    assert device.text == before
    stranger = Device(base, forged.thumbprint, key, None, device.bundle)
    try:
        stranger.fetch_keys()
        raise AssertionError("another root key was trusted")
    except Refused as refusal:
        assert refusal.code == "unknownKey"

    # A check-in without a token is for accounts that get none any more.
    try:
        device.check_in(with_token=False)
        raise AssertionError("a check-in without a token was answered")
    except Problem as problem:
        assert problem.status == 401, problem

    administer(base, environment["CORDON_TOKEN"], "POST",
               f"/v1.0/users/{device.account}/wipeManagedAppRegistrationByDeviceTag", {"deviceTag": device.tag})
    assert device.check_in() == 102
    receipt = device.obey()
    assert receipt and not device.data
    print(json.dumps({"registration": device.registration, "receipt": receipt}))
    print("every expectation held")


if __name__ == "__main__":
    file = pathlib.Path(os.environ["CORDON_KEY"])
    if os.environ["CORDON_STEP"] == "make":
        made = Key()
        made.save(file)
        print(made.thumbprint)
    else:
        use(Key.load(file))
