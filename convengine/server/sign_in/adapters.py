"""The adapters by which the library follows the rules of this product."""

import base64
import hashlib
import re
import secrets
from http import HTTPStatus
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from requests import RequestException

from convengine.server.admin_site.sign_in import PROVIDER_TOKENS, begin_attempt, end_attempt
from convengine.server.admin_site.sign_in_log import log_access_change, log_refusal, log_sign_in
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address
from convengine.server.sign_in.changes import FACTORS
from convengine.server.sign_in.groups import find_groups, may_enter, set_groups
from convengine.server.sign_in.provider import Refused

_FACTORS_AT_SIGN_IN = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def refuse(request: Any, reason: str, text: str = "", name: str = "") -> HttpResponseRedirect:
    """Log a refusal, and redirect to the sign-in page with its reason."""
    label = conf.get("SIGN_IN")["label"]
    log_refusal(request, name, f"{label}: {reason}", is_cheap=True)
    messages.error(request, text or f"You cannot sign in: {reason}.")
    return HttpResponseRedirect(reverse("admin:login" if request.user.is_anonymous else "usersessions_list"))


class AccountAdapter(DefaultAccountAdapter):
    def is_safe_url(self, url: str) -> bool:
        """Accept only pages of this host, even if other hosts are trusted."""
        request = context.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def respond_user_inactive(self, request: Any, user: User) -> HttpResponseRedirect:
        return refuse(request, "the account is inactive", name=user.get_username())

    def post_login(self, request: Any, user: User, **kwargs: Any) -> Any:
        """Store what later checks of the session need, and log the sign-in."""
        login = (kwargs.get("signal_kwargs") or {}).get("sociallogin")
        if login:
            request.session[PROVIDER_TOKENS] = login.state["session"]
        log_sign_in(request, user.get_username(), describe_methods(request, user))
        return super().post_login(request, user, **kwargs)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Ask only users with a password or a second factor. The provider confirmed all others."""
        return bool(get_reauthentication_flows(context.request.user)) and bool(
            super().is_reauthentication_required(app=app, **kwargs)
        )

    def reauthenticate(self, user: User, password: str) -> bool:
        """Check a repeated password, which counts as an attempt like one at sign-in."""
        counter, address = f"repeated password of {user.get_username()}", find_client_address(context.request.META)
        if begin_attempt(counter, address):
            log_refusal(context.request, user.get_username(), "repeated password: too many attempts", is_cheap=True)
            return False
        if is_right := user.check_password(password):
            end_attempt(counter, address)
        else:
            log_refusal(context.request, user.get_username(), "repeated password: wrong password")
        return is_right


class ProviderAdapter(DefaultSocialAccountAdapter):
    def on_authentication_error(
        self, request: Any, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        """Redirect to the sign-in page with the reason in words."""
        code = request.GET.get("error", "")
        if isinstance(exception, Refused):
            reason = f"the provider's answer is refused: {exception}"
        elif error == AuthError.CANCELLED:
            reason = "the provider or you cancelled it"
        elif isinstance(exception, RequestException):
            reason = "the provider cannot be reached, or its answer cannot be read"
        elif not (extra_context or {}).get("state"):
            reason = "the provider's answer belongs to no sign-in that began in this browser in the last 10 minutes"
        else:
            reason = f"the provider refused it{f' ({code})' if re.fullmatch('[a-z_]{1,40}', code) else ''}"
        raise ImmediateHttpResponse(refuse(request, reason))

    def pre_social_login(self, request: Any, sociallogin: Any) -> None:
        """Refuse users without a group here, and give known users their groups. A user has one account."""
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            own = request.user.socialaccount_set.filter(provider=sociallogin.account.provider)
            if own.exclude(uid=sociallogin.account.uid).exists():
                text = "This user is connected with another account already. Ask an administrator."
                reason = "the user is connected with another account"
                raise ImmediateHttpResponse(refuse(request, reason, text, request.user.get_username()))
            return
        groups, user = find_groups(sociallogin.state["groups"]), sociallogin.user
        if sociallogin.is_existing:
            set_groups(request, user, groups)
        if not may_enter(user, groups):
            text = "You cannot sign in: you are in no group that may work here. Ask an administrator."
            # The name of a new user may be that of somebody else here.
            name = user.get_username() if sociallogin.is_existing else ""
            raise ImmediateHttpResponse(refuse(request, "the user is in no group", text, name))

    def get_requests_session(self) -> Any:
        """A provider that fails has refused nobody."""
        session = super().get_requests_session()
        session.hooks["response"].append(_raise_for_failure)
        return session

    @transaction.atomic
    def save_user(self, request: Any, sociallogin: Any, form: Any = None) -> Any:
        """Add the user, with the groups to which those at the provider are mapped."""
        user = super().save_user(request, sociallogin, form)
        log_access_change(request, "user added at the first sign-in through the provider", user.get_username())
        set_groups(request, user, find_groups(sociallogin.state["groups"]))
        return user

    def get_connect_redirect_url(self, request: Any, socialaccount: Any) -> str:
        return reverse("usersessions_list")


class SecondFactorAdapter(DefaultMFAAdapter):
    """Encrypts secrets with the key of the installation, so that a copy of the database does not reveal them."""

    def is_mfa_enabled(self, user: User, types: Any = None) -> bool:
        """While second factors are switched off, ignore those that users added earlier."""
        is_on = conf.get("SIGN_IN")["second_factor"] != "off"
        # Recovery codes alone are no factor: at sign-in, the library does not ask for them.
        return is_on and bool(super().is_mfa_enabled(user, types or _FACTORS_AT_SIGN_IN))

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Returns a random secret, which nobody knows, if the key of the installation has changed.

        Anybody could compute the codes of an empty one.
        """
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()


def describe_methods(request: Any, user: User) -> str:
    """The methods by which a user signed in, separated by commas."""
    label = conf.get("SIGN_IN")["label"]
    names = {"password": "password", "socialaccount": label}
    records = [record for record in get_authentication_records(request, user) if not record.get("reauthenticated")]
    return ", ".join(names.get(record["method"]) or FACTORS.get(record.get("type", ""), "") for record in records)


def _raise_for_failure(response: Any, **_: Any) -> None:
    """Raises HTTPError."""
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        response.raise_for_status()


def _cipher() -> Fernet:
    key = hashlib.sha256(f"convengine.second_factor:{settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
