"""Sign-in by OpenID Connect: the provider's answers are verified before anything in them is used or stored.

The library skips the signature of an ID token that it fetched itself, and sends no nonce. This module checks both.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any

import jwt
import structlog
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.providers.base import AuthProcess, Provider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from convengine.server.deployment import conf
from convengine.server.sign_in.settings import PROVIDER

log = structlog.get_logger(__name__)
#: Signatures that only the provider can make. `none` and those with a shared secret are not among them.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
#: Clocks may differ by this many seconds.
_LEEWAY = 60
#: Errors by which the libraries say that an answer has another form than expected.
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, SyntaxError, ImproperlyConfigured)


def read_groups(claims: Mapping[str, Any]) -> list[str]:
    """The groups of a user at the provider."""
    groups = claims.get(conf.get("SIGN_IN")["groups_claim"]) or []
    return [str(group) for group in (groups if isinstance(groups, list) else [groups])]


def accept(login: Any, claims: Mapping[str, Any], **session: Any) -> dict[str, Any]:
    """Additions to the state of a sign-in: the user's groups, and what later checks of the session need."""
    # The user's identity and groups are enough: no other claim is stored.
    login.account.extra_data, login.email_addresses = {}, []
    record = {"checked": time.time(), "issuer": login.account.provider, **session}
    return {"groups": read_groups(claims), "session": record}


class Refused(OAuth2Error):
    """An answer of the provider is not accepted; the message completes "The provider's answer is refused: "."""


class OpenIdAdapter(OpenIDConnectOAuth2Adapter):
    """Calls to the provider for one sign-in, or for one check of its claims."""

    #: What the session stored when the sign-in began; the view sets it.
    state: Any = None

    def get_callback_url(self, request: Any, app: Any) -> str:
        return str(request.build_absolute_uri(reverse("sign_in_callback")))

    def complete_login(self, request: Any, app: Any, token: Any, **kwargs: Any) -> Any:
        """The user whom the provider names. Raises Refused."""
        claims = self.read_claims(token.token, kwargs["response"].get("id_token"), self.state["nonce"])
        login = self.get_provider().sociallogin_from_response(request, {"userinfo": claims})
        self.state |= accept(login, claims, access=token.token, refresh=token.token_secret, amr=claims.get("amr"))
        return login

    def read_claims(self, access_token: str, id_token: str | None, nonce: str | None = None) -> dict[str, Any]:
        """The claims of a user, from the ID token and the provider's answer. Raises Refused."""
        claims = self._verify(id_token) if id_token else {}
        if nonce is not None:
            if not claims:
                raise Refused("it has no ID token")
            if claims.get("nonce") != nonce:
                raise Refused("its ID token belongs to another sign-in")
        if self.openid_config.get("userinfo_endpoint"):
            userinfo = self._fetch_user_info(access_token)
            if not isinstance(userinfo, dict) or userinfo.get("sub") != claims.get("sub", userinfo.get("sub")):
                raise Refused("its user is not that of the ID token")
            claims = {**claims, **userinfo}
        return claims

    def refresh(self, request: Any, refresh_token: str) -> dict[str, Any]:
        """New tokens. Raises OAuth2Error."""
        client = self.get_client(request, self.get_provider().app)
        extra = {"grant_type": "refresh_token", "refresh_token": refresh_token, "redirect_uri": ""}
        return dict(client.get_access_token("", extra_data=extra))

    def _verify(self, id_token: str) -> dict[str, Any]:
        app, config = self.get_provider().app, self.openid_config
        if str(config.get("issuer")).rstrip("/") != app.settings["server_url"]:
            raise Refused("its discovery document is from another issuer")
        try:
            header = jwt.get_unverified_header(id_token)
            if header.get("alg") not in _ALGORITHMS:
                raise jwt.InvalidAlgorithmError("No signature of the provider")
            with get_adapter().get_requests_session() as session:
                response = session.get(config["jwks_uri"])
                response.raise_for_status()
            keys = jwt.PyJWKSet.from_dict(response.json()).keys
            named = [key for key in keys if header.get("kid") in (None, key.key_id)]
            if not named:
                raise jwt.InvalidSignatureError("Signature by an unknown key")
            claims: dict[str, Any] = jwt.decode(
                id_token,
                named[0],
                algorithms=[header["alg"]],
                audience=app.client_id,
                issuer=config["issuer"],
                leeway=_LEEWAY,
                options={"require": list(_REQUIRED)},
            )
        except jwt.PyJWTError as error:
            raise Refused(f"its ID token is not valid ({error})") from error
        if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and claims.get("azp") != app.client_id:
            raise Refused("its ID token is not valid (Audience is another client)")
        return claims


class OpenIdProvider(OpenIDConnectProvider):
    id = PROVIDER
    oauth2_adapter_class = OpenIdAdapter
    pkce_enabled_default = True

    def get_redirect_from_request_kwargs(self, request: Any) -> dict[str, Any]:
        """Take only the page to return to from the request. Users who are signed in connect their account."""
        process = AuthProcess.CONNECT if request.user.is_authenticated else AuthProcess.LOGIN
        return {**Provider.get_redirect_from_request_kwargs(self, request), "process": process}

    def redirect(self, request: Any, process: str, next_url: Any = None, data: Any = None, **kwargs: Any) -> Any:
        """Redirect to the provider, with a nonce that its answer must repeat."""
        nonce = secrets.token_urlsafe(24)
        parameters = {**self.get_auth_params(), "nonce": nonce}
        return super().redirect(request, process, next_url, data, nonce=nonce, auth_params=parameters, **kwargs)


class CallbackView(OAuth2CallbackView):
    """Receives the provider's answer, and refuses an unreadable one like a wrong one."""

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().dispatch(request, *args, **kwargs)
        except UNREADABLE as error:
            log.warning("the answer of the identity provider cannot be read", exc_info=error)
            provider, refusal = self.adapter.get_provider(), Refused("it cannot be read")
            return render_authentication_error(
                request, provider, exception=refusal, extra_context={"state": self.adapter.state}
            )

    def _get_state(self, request: Any, provider: Any) -> Any:
        state, response = super()._get_state(request, provider)
        self.adapter.state = state
        return state, response


provider_classes = [OpenIdProvider]
