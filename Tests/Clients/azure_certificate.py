"""azure-identity with a certificate, against the token endpoint at CORDON_BASE (SRV-OP-017).

CORDON_STEP=make writes key and certificate to CORDON_CERTIFICATE and prints the public key as a JWK; CORDON_STEP=use
gets a token with them. azure-identity speaks https alone, so that its requests are turned to CORDON_BASE on their way.
"""

import base64
import datetime
import json
import os
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

FILE = pathlib.Path(os.environ["CORDON_CERTIFICATE"])
AUTHORITY = "https://authority.cordon.test"


def base64url(number: int) -> str:
    size = (number.bit_length() + 7) // 8
    return base64.urlsafe_b64encode(number.to_bytes(size, "big")).rstrip(b"=").decode()


def make() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "certified job")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    FILE.touch(mode=0o600)
    FILE.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    numbers = key.public_key().public_numbers()
    # The first import may take a while, and what signs with a clock should not wait for it.
    import azure.identity  # noqa: F401

    print(json.dumps({"kty": "RSA", "n": base64url(numbers.n), "e": base64url(numbers.e)}))


def use() -> None:
    from azure.core.pipeline.transport import RequestsTransport
    from azure.identity import CertificateCredential

    base = os.environ["CORDON_BASE"]

    class Turned(RequestsTransport):
        def send(self, request, **options):
            request.url = request.url.replace(AUTHORITY, base)
            return super().send(request, **options)

    credential = CertificateCredential(
        "contoso", os.environ["CORDON_CLIENT"], str(FILE), authority=AUTHORITY,
        disable_instance_discovery=True, transport=Turned(), retry_total=0,
    )
    token = credential.get_token("https://graph.microsoft.com/.default").token
    claims = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    assert claims["sub"] == os.environ["CORDON_CLIENT"], claims
    assert claims["roles"] == ["DeviceManagementApps.Read.All"], claims
    print("a token for", claims["sub"])


make() if os.environ["CORDON_STEP"] == "make" else use()
