"""Runs Glewlwyd, an OpenID provider of another project, in a fresh folder on a loopback port.

usage: run_glewlwyd.py FOLDER PORT APP-PORT, the second being where the app listens for the browser's return

Its OpenID part is switched on with the code and device flows, PKCE, pushed requests, proofs of possession and refresh
tokens that are good once. The issuer is http://127.0.0.1:PORT/api/oidc.
"""

import ctypes
import http.cookiejar
import json
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

PEOPLE = ("ada", "lin")
INSTALLED = pathlib.Path("/usr/share/glewlwyd/webapp")
TEMPLATE = pathlib.Path("/usr/share/glewlwyd/templates/config.json")
SCHEMA = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "application/javascript", ".json": "application/json",
    ".png": "image/png", ".woff": "font/woff", ".woff2": "font/woff2",
}


def configuration(folder, port):
    types = ",\n".join(f'  {{ extension = "{ending}" mime_type = "{kind}" }}' for ending, kind in TYPES.items())
    return f"""
port={port}
bind_address="127.0.0.1"
external_url="http://127.0.0.1:{port}"
login_url="login.html"
api_prefix="api"
static_files_path="{folder}/webapp/"
cookie_domain="127.0.0.1"
cookie_secure=0
log_mode="console"
log_level="WARNING"
session_expiration=3600
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
user_middleware_module_path="{folder}/none"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
hash_algorithm="SHA512"
database = {{ type="sqlite3" path="{folder}/glewlwyd.sqlite" }};
static_files_mime_types = (
{types}
)
"""


def end_with_parent():
    """Lets the system kill the provider when this script ends, however it ends (prctl's PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Administration:
    """The provider's own API, as its administrator."""

    def __init__(self, base):
        self.base = base
        jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with self.opener.open(request, timeout=10) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from error

    def wait(self):
        for _ in range(300):
            try:
                urllib.request.urlopen(self.base.removesuffix("api/") + "config", timeout=5).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("it does not start")


def openid(base):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return {
        "module": "oidc", "name": "oidc", "display_name": "OpenID", "parameters": {
            "iss": base + "oidc", "jwt-type": "rsa", "jwt-key-size": "256", "key": private.decode(),
            "cert": public.decode(), "access-token-duration": 3600, "refresh-token-duration": 1209600,
            "code-duration": 600, "refresh-token-rolling": True, "refresh-token-one-use": "always",
            "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True, "auth-type-token-enabled": False,
            "auth-type-id-token-enabled": True, "auth-type-none-enabled": False, "auth-type-password-enabled": False,
            "auth-type-client-enabled": False, "auth-type-refresh-enabled": True, "auth-type-device-enabled": True,
            "device-authorization-expiration": 600, "device-authorization-interval": 5, "pkce-allowed": True,
            "pkce-required-public-client": True, "introspection-revocation-allowed": True,
            "introspection-revocation-auth-scope": ["cordon"], "session-management-allowed": True,
            "session-cookie-name": "GLEWLWYD_OIDC_SID", "session-cookie-expiration": 3600,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60, "oauth-par-allowed": True,
            "oauth-par-duration": 90, "oauth-par-required": False, "allowed-scope": ["openid", "cordon"],
            "allow-non-oidc": True, "subject-type": "public", "scope": [], "additional-parameters": [], "claims": [
                {"name": "preferred_username", "user-property": "username", "type": "string", "mandatory": True,
                 "on-demand": False, "scope": []}],
            "name-claim": "no", "email-claim": "no", "scope-claim": "no", "address-claim": {"type": "no"},
        },
    }


def main():
    folder, port, app = pathlib.Path(sys.argv[1]), sys.argv[2], f"http://127.0.0.1:{sys.argv[3]}"
    base = f"http://127.0.0.1:{port}/api/"
    (folder / "none").mkdir()
    shutil.copytree(INSTALLED, folder / "webapp", symlinks=False)
    config = folder / "webapp" / "config.json"
    # Debian's package has a folder in the place of this file.
    shutil.rmtree(config, ignore_errors=True)
    settings = json.loads(TEMPLATE.read_text())
    settings["GlewlwydUrl"] = f"http://127.0.0.1:{port}/"
    config.write_text(json.dumps(settings))
    database = sqlite3.connect(folder / "glewlwyd.sqlite")
    database.executescript(SCHEMA.read_text())
    database.close()
    (folder / "glewlwyd.conf").write_text(configuration(folder, port))
    process = subprocess.Popen(
        ["glewlwyd", "--config-file", str(folder / "glewlwyd.conf")], stdout=sys.stderr, preexec_fn=end_with_parent)
    try:
        provider = Administration(base)
        provider.wait()
        provider.call("POST", "auth", {"username": "admin", "password": "password"})
        for scope in ("cordon",):
            provider.call("POST", "scope/", {
                "name": scope, "display_name": scope, "description": scope, "password_required": True,
                "password_max_age": 0, "scheme": {}})
        for name in PEOPLE:
            provider.call("POST", "user/", {
                "username": name, "name": f"{name} Example", "password": f"correct horse {name}", "enabled": True,
                "scope": ["openid", "cordon"]})
        provider.call("POST", "client/", {
            "client_id": "cordon-app", "name": "Cordon", "description": "", "confidential": False, "enabled": True,
            "redirect_uri": [f"{app}/callback"], "authorization_type": ["code", "refresh_token", "device_authorization"],
            "scope": []})
        for name in PEOPLE:
            # Consent is given beforehand: the page would ask scope by scope.
            person = Administration(base)
            person.call("POST", "auth", {"username": name, "password": f"correct horse {name}"})
            person.call("PUT", "auth/grant/cordon-app", {"scope": "openid cordon"})
        # Last, because the app begins as soon as this part answers.
        provider.call("POST", "mod/plugin/", openid(base))
        process.wait()
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
