"""Runs an OpenID provider made with Django OAuth Toolkit, in a fresh folder on a loopback port.

usage: run_django.py FOLDER PORT APP-PORT, the last being where the app listens for the browser's return
"""

import pathlib
import socketserver
import sys
import wsgiref.simple_server

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.core.management import call_command
from django.core.management.utils import get_random_secret_key

PEOPLE = ("ada", "lin")
FORM = '<form method="post">{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>'


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


class Silent(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


def configure(folder, issuer):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    settings.configure(
        SECRET_KEY=get_random_secret_key(), ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", LOGIN_URL="/login",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "django.sqlite"}},
        INSTALLED_APPS=[
            "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider",
        ],
        # A fresh database has no history.
        MIGRATION_MODULES=dict.fromkeys(("auth", "contenttypes", "sessions", "oauth2_provider")),
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "context_processors": ["django.template.context_processors.request"],
                "loaders": [
                    ("django.template.loaders.locmem.Loader", {"registration/login.html": FORM}),
                    "django.template.loaders.app_directories.Loader",
                ],
            },
        }],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": key.decode(), "OIDC_ISS_ENDPOINT": issuer,
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": True, "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
            "PKCE_REQUIRED": True,
            "SCOPES": {"openid": "sign in", "profile": "name", "email": "address"},
        })
    django.setup()
    from oauth2_provider.oauth2_validators import OAuth2Validator

    # What ID tokens say of a person the toolkit leaves to its user.
    OAuth2Validator.get_additional_claims = lambda _, request: {"preferred_username": request.user.username}
    OAuth2Validator.oidc_claim_scope = None
    globals()["urlpatterns"] = routes()


def routes():
    from django.contrib.auth.views import LoginView
    from django.urls import include, path

    return [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")), path("login", LoginView.as_view())]


def seed(app):
    from django.contrib.auth import get_user_model
    from oauth2_provider.models import get_application_model

    for name in PEOPLE:
        get_user_model().objects.create_user(name, password=f"correct horse {name}")
    kinds = get_application_model()
    kinds.objects.create(
        client_id="cordon-app", client_type=kinds.CLIENT_PUBLIC, authorization_grant_type=kinds.GRANT_AUTHORIZATION_CODE,
        client_secret="", redirect_uris=f"{app}/callback", post_logout_redirect_uris=f"{app}/signed-out",
        algorithm=kinds.RS256_ALGORITHM, skip_authorization=True)


def main():
    folder, port, app = pathlib.Path(sys.argv[1]), int(sys.argv[2]), f"http://127.0.0.1:{sys.argv[3]}"
    configure(folder, f"http://127.0.0.1:{port}/o")
    call_command("migrate", run_syncdb=True, verbosity=0)
    seed(app)
    from django.core.wsgi import get_wsgi_application

    server = wsgiref.simple_server.make_server("127.0.0.1", port, get_wsgi_application(), Server, Silent)
    server.serve_forever()


if __name__ == "__main__":
    main()
