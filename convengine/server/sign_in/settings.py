"""The settings of sign-in through an identity provider and of second factors: without variables, none are added."""

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse_lazy

from convengine.engine.extras import describe_missing
from convengine.server.deployment import environment

#: The identifier of the provider, in the library and in its settings.
PROVIDER = "provider"
_APPS = (
    *("allauth", "allauth.account", "allauth.socialaccount", "allauth.mfa", "allauth.usersessions"),
    "convengine.server.sign_in",
)
_SESSIONS = "django.contrib.sessions.middleware.SessionMiddleware"
_MESSAGES = "django.contrib.messages.middleware.MessageMiddleware"


def _check_provider(issuer: str, client: str, entity: str, metadata: str) -> None:
    """Raises ImproperlyConfigured."""
    if issuer and (entity or metadata):
        raise ImproperlyConfigured("Users sign in through one provider: set CE_OIDC_ISSUER or CE_SAML_METADATA.")
    if bool(entity) != bool(metadata):
        raise ImproperlyConfigured("CE_SAML_ENTITY_ID and CE_SAML_METADATA must be set together.")
    name, parts = "CE_OIDC_ISSUER" if issuer else "CE_SAML_METADATA", urlsplit(issuer or metadata)
    is_address = issuer or "://" in metadata
    if is_address and parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ImproperlyConfigured(f"{name} must begin with https://.")
    if issuer and not client:
        raise ImproperlyConfigured("CE_OIDC_CLIENT_ID must be the client's name at the OpenID provider.")


def _check_hosts(metadata: str, hosts: list[str]) -> None:
    """Raises ImproperlyConfigured. An assertion names its server: a pattern also accepts those for others."""
    if metadata and any(host.startswith(("*", ".")) for host in hosts):
        raise ImproperlyConfigured("CE_ALLOWED_HOSTS must list whole names for SAML: none may begin with “*” or “.”.")


def add_to(settings: MutableMapping[str, Any]) -> None:
    """Add apps, middleware and settings if a variable asks for them. Raises ImproperlyConfigured."""
    issuer = environment.text("CE_OIDC_ISSUER").rstrip("/")
    entity, metadata = environment.text("CE_SAML_ENTITY_ID"), environment.text("CE_SAML_METADATA")
    client, secret = environment.text("CE_OIDC_CLIENT_ID"), environment.text("CE_OIDC_CLIENT_SECRET")
    label = environment.text("CE_OIDC_LABEL", "Single sign-on")
    scopes = environment.text("CE_OIDC_SCOPES", "openid profile email").split()
    groups_claim = environment.text("CE_OIDC_GROUPS_CLAIM", "groups")
    local = environment.boolean("CE_LOCAL_SIGN_IN", True)
    second_factor = environment.one_of("CE_SECOND_FACTOR", "off", "off", "allowed", "required")
    _check_provider(issuer, client, entity, metadata)
    # A provider may have the same name in both protocols (Keycloak does), but different IDs of its users.
    issuer = issuer or (entity and f"saml:{entity}")
    if not issuer and not local:
        raise ImproperlyConfigured(
            "CE_LOCAL_SIGN_IN=false needs a provider (CE_OIDC_ISSUER or CE_SAML_METADATA): nobody could sign in."
        )
    if not issuer and second_factor == "off":
        return
    if missing := describe_missing("saml" if metadata else "sign-in"):
        raise ImproperlyConfigured(f"CE_OIDC_ISSUER, CE_SAML_METADATA and CE_SECOND_FACTOR: {missing}")
    _check_hosts(metadata, settings["ALLOWED_HOSTS"])
    chosen = {"issuer": issuer, "metadata": metadata, "label": label, "groups_claim": groups_claim, "local": local}
    settings["CONVENGINE"]["SIGN_IN"] = {**chosen, "entity": entity, "second_factor": second_factor}
    # The name of the issuer is the provider's ID, because another issuer has other accounts.
    options = {"server_url": issuer, "scope": scopes, "oauth_pkce_enabled": True}
    app = {"provider_id": issuer, "name": label, "client_id": client, "secret": secret, "settings": options}
    module = "saml.SamlProvider" if metadata else "provider.OpenIdProvider"
    provider = {"APPS": [app] if issuer else [], "provider_class": f"convengine.server.sign_in.{module}"}
    settings["INSTALLED_APPS"] += _APPS
    layers: list[str] = settings["MIDDLEWARE"]
    layers.insert(layers.index(_SESSIONS) + 1, "allauth.account.middleware.AccountMiddleware")
    layers.insert(layers.index(_MESSAGES) + 1, "convengine.server.sign_in.middleware.SignInMiddleware")
    processors = settings["TEMPLATES"][0]["OPTIONS"]["context_processors"]
    processors.append("convengine.server.sign_in.entrance.add_page_context")
    own = [{"title": "Sessions", "link": reverse_lazy("usersessions_list")}]
    if second_factor != "off":
        own.insert(0, {"title": "Second factor", "link": reverse_lazy("mfa_index")})
    if local:
        own.append({"title": "Change password", "link": reverse_lazy("admin:password_change")})
    settings["UNFOLD"] = {**settings["UNFOLD"], "ACCOUNT": {"navigation": own}}
    adapters = "convengine.server.sign_in.adapters"
    settings.update(
        {
            "ACCOUNT_ADAPTER": f"{adapters}.AccountAdapter",
            "ACCOUNT_EMAIL_VERIFICATION": "none",
            "ACCOUNT_LOGOUT_REDIRECT_URL": "admin:login",
            # Attempts are counted in the database for all processes (`admin_site/sign_in.py`), not in the cache of one.
            "ACCOUNT_RATE_LIMITS": False,
            "ALLAUTH_TRUSTED_PROXY_COUNT": settings["CONVENGINE"]["TRUSTED_PROXIES"],
            "SOCIALACCOUNT_ADAPTER": f"{adapters}.ProviderAdapter",
            "SOCIALACCOUNT_REAUTHENTICATION_REQUIRED": True,
            "SOCIALACCOUNT_PROVIDERS": {PROVIDER: provider},
            "MFA_ADAPTER": f"{adapters}.SecondFactorAdapter",
            "MFA_FORMS": {
                "authenticate": "convengine.server.sign_in.entrance.CodeForm",
                "authenticate_webauthn": "convengine.server.sign_in.entrance.KeyForm",
                "reauthenticate": "convengine.server.sign_in.entrance.RepeatedCodeForm",
                "reauthenticate_webauthn": "convengine.server.sign_in.entrance.RepeatedKeyForm",
            },
            "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"] if second_factor != "off" else [],
            "MFA_RECOVERY_CODES_SHOW_ONCE": True,
            "MFA_TOTP_ISSUER": "ConvEngine",
            # The codes of the half minutes before and after are valid, too, because clocks differ.
            "MFA_TOTP_TOLERANCE": 1,
            "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": settings["DEBUG"],
        }
    )
