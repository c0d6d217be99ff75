"""Writes the session of format 1 that every later version must still open: Tests/Vectors/session/.

Made from the description of the format alone, not with the library: 8 bytes CRDNSIGN, format, kind, id (16),
generation (8, big-endian), then nonce, ciphertext and tag of AES-256-GCM. What is authenticated beside the text is
the head, the file's name, and provider and client. The secret is the key and the generation.
"""

import hashlib
import json
import pathlib
import uuid

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ISSUER, CLIENT, ACCOUNT = "https://id.contoso.example", "cordon-app", "oid-worker-a"
SESSION = uuid.UUID("5b0a6e14-2f3d-4c61-9e08-7c441bd263a9")
KEY, NONCE, SIGNING_KEY = bytes(range(32)), bytes(range(64, 76)), bytes(range(1, 33))
GENERATION = 3

RECORD = {
    "account": {
        "id": ACCOUNT,
        "tenant": "contoso",
        "userPrincipalName": "worker-a@contoso.example",
        "displayName": "Worker A",
        "issuer": ISSUER,
        "subject": "sub-worker-a",
        "session": str(SESSION).upper(),
    },
    "clientID": CLIENT,
    "refreshToken": "refresh-of-format-1",
    "idToken": "id-token-of-format-1",
    "scopes": ["openid", "mam.checkin"],
    "signingKey": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=",
    "isBound": True,
    "vouched": "2027-01-15T08:00:00Z",
}


def main() -> None:
    folder = pathlib.Path(__file__).parent
    owner = f"{ISSUER}\n{CLIENT}"
    name = hashlib.sha256(f"{owner}\n{ACCOUNT}".encode()).hexdigest()[:32]
    head = b"CRDNSIGN" + bytes([1, 1]) + SESSION.bytes + GENERATION.to_bytes(8, "big")
    text = json.dumps(RECORD, sort_keys=True, separators=(",", ":")).encode()
    sealed = AESGCM(KEY).encrypt(NONCE, text, head + f"{name}\n{owner}".encode())
    (folder / f"{name}.session").write_bytes(head + NONCE + sealed)
    (folder / f"session-{str(SESSION).upper()}.key").write_bytes(KEY + GENERATION.to_bytes(8, "big"))


if __name__ == "__main__":
    main()
