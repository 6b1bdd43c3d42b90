"""A real OpenID provider, django-oauth-toolkit: `python -m …real_provider PORT FOLDER CALLBACK`.

`FOLDER/user.json` says who is at the browser, and what the provider knows about them: {"name", "groups", …}. A user who
is not there any more is refused.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server


def read_user(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "user.json").read_text()))


def configure(folder: Path, port: int) -> None:
    import django
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.conf import settings

    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    settings.configure(
        DEBUG=True,
        SECRET_KEY="only-for-tests",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        USE_TZ=True,
        SESSION_COOKIE_NAME="provider",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            f"{__name__}.sign_in",
        ],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": key.decode(),
            "OIDC_ISS_ENDPOINT": f"http://127.0.0.1:{port}",
            "SCOPES": {"openid": "Sign in", "profile": "Name", "email": "Address"},
            "OAUTH2_VALIDATOR_CLASS": f"{__name__}.Validator",
            "PKCE_REQUIRED": True,
        },
    )
    settings.FOLDER = folder
    django.setup()


def sign_in(get_response: Any) -> Any:
    """The user of the file is signed in at the provider."""
    from django.conf import settings
    from django.contrib.auth.models import User

    def answer(request: Any) -> Any:
        if "/authorize" in request.path:
            request.user = User.objects.get_or_create(username=read_user(settings.FOLDER)["name"])[0]
        return get_response(request)

    return answer


def __getattr__(name: str) -> Any:
    """What needs Django's settings."""
    if name == "urlpatterns":
        from django.urls import include, path
        from oauth2_provider.views import ConnectDiscoveryInfoView

        discovery = ConnectDiscoveryInfoView.as_view()
        return [
            path(".well-known/openid-configuration", discovery),
            path("", include("oauth2_provider.urls", "oauth2_provider")),
        ]
    if name != "Validator":
        raise AttributeError(name)
    from django.conf import settings
    from oauth2_provider.oauth2_validators import OAuth2Validator

    class Validator(OAuth2Validator):
        oidc_claim_scope = None

        def get_additional_claims(self, request: Any) -> dict[str, Any]:
            """What the file says now; nothing for another user, who has left."""
            user = read_user(settings.FOLDER)
            if request.user.username != user["name"]:
                return {}
            return {"preferred_username": user["name"], **user}

    return Validator


def main() -> None:
    port, folder, callback = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    configure(folder, port)
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    Application.objects.create(
        client_id="convengine", client_secret="secret", client_type="confidential", redirect_uris=callback,
        authorization_grant_type="authorization-code", algorithm="RS256", skip_authorization=True,
    )  # fmt: skip
    handler = type("Quiet", (WSGIRequestHandler,), {"log_message": lambda *_: None})
    make_server("127.0.0.1", port, get_wsgi_application(), handler_class=handler).serve_forever()


if __name__ == "__main__":
    # Its views and its validator are named by this module's own path.
    import_module("tests.convengine.server.sign_in.real_provider").main()
