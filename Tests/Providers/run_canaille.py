"""Runs canaille, an OpenID provider of another project, in a fresh folder on a loopback port.

usage: run_canaille.py FOLDER PORT APP-PORT, the second being where the app listens for the browser's return

One process imports for all of it: each of canaille's commands alone takes seconds for that.
"""

import base64
import os
import pathlib
import sys
import tempfile

from canaille.commands import cli

PEOPLE = ("ada", "lin")


def canaille(*arguments):
    """One of canaille's commands in a child that has all imports already; what it printed."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            try:
                cli.main(args=list(arguments), standalone_mode=True)
            finally:
                sys.stdout.flush()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return output.read()


def main():
    folder, port, app = pathlib.Path(sys.argv[1]), sys.argv[2], f"http://127.0.0.1:{sys.argv[3]}"
    configuration = folder / "canaille.toml"
    os.environ["CANAILLE_CONFIG"] = str(configuration)
    settings = f"""
SECRET_KEY = "{base64.b64encode(os.urandom(32)).decode()}"
SERVER_NAME = "127.0.0.1:{port}"
PREFERRED_URL_SCHEME = "http"
[CANAILLE]
DATABASE = "sql"
JAVASCRIPT = false
HTMX = false
[CANAILLE_SQL]
DATABASE_URI = "sqlite:///{folder}/canaille.sqlite"
[CANAILLE_OIDC]
"""
    # Without keys of its own it would make new ones at every start.
    key = canaille("jwk", "create", "rsa", "--size", "2048", "--format", "toml").strip()
    configuration.write_text(f"{settings}ACTIVE_JWKS = [ {key} ]\n")
    canaille("install")
    for name in PEOPLE:
        canaille(
            "create", "user", "--user-name", name, "--password", f"correct horse {name}", "--family-name", "Example",
            "--given-name", name, "--formatted-name", f"{name} Example", "--emails", f"{name}@example.test")
    canaille(
        "create", "client", "--client-id", "cordon-app", "--client-name", "Cordon", "--client-uri", "http://127.0.0.1/",
        "--redirect-uris", f"{app}/callback", "--post-logout-redirect-uris", f"{app}/signed-out",
        "--token-endpoint-auth-method", "none",
        "--grant-types", "authorization_code", "--grant-types", "refresh_token", "--response-types", "code",
        "--scope", "openid", "--scope", "profile", "--scope", "email", "--application-type", "native")
    # Without an audience its ID tokens are for no client, and every client must refuse them.
    canaille("set", "client", "cordon-app", "--audience", "cordon-app")
    cli.main(args=["run", "--bind", f"127.0.0.1:{port}"], standalone_mode=False)


if __name__ == "__main__":
    main()
