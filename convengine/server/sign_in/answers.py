"""What the answers of an identity provider have in common, by OpenID Connect and by SAML."""

import time
from collections.abc import Mapping
from typing import Any

from allauth.socialaccount.providers.base import AuthProcess, Provider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.core.exceptions import ImproperlyConfigured

from convengine.server.deployment import conf
from convengine.server.sign_in.settings import PROVIDER

#: Errors by which the libraries say that an answer has another form than expected.
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, SyntaxError, ImproperlyConfigured)


class Refused(OAuth2Error):
    """An answer of the provider is not accepted; the message completes "The provider's answer is refused: "."""


class IdentityProvider(Provider):
    """The provider of the installation. A class of the library adds the protocol."""

    id = PROVIDER

    def get_redirect_from_request_kwargs(self, request: Any) -> dict[str, Any]:
        """Take only the page to return to from the request. Users who are signed in connect their account."""
        process = AuthProcess.CONNECT if request.user.is_authenticated else AuthProcess.LOGIN
        return {**Provider.get_redirect_from_request_kwargs(self, request), "process": process}


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
