"""Checks before each page: rights follow the provider within minutes, and publishing needs a second factor."""

import time
from collections.abc import Callable
from typing import Any

import structlog
from allauth.mfa.utils import is_mfa_enabled
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponseRedirect
from django.urls import reverse
from requests import RequestException

from convengine.server.admin_site.sign_in import PROVIDER_TOKENS, is_unchecked, lacks_second_factor
from convengine.server.admin_site.sign_in_log import log_access_change
from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.sign_in.entrance import may_use_password
from convengine.server.sign_in.groups import find_groups, may_enter, set_groups
from convengine.server.sign_in.provider import OpenIdAdapter, read_groups

log = structlog.get_logger(__name__)
#: Seconds after which the provider is asked again.
CHECK_SECONDS = 180
#: Seconds that other requests of a session wait for a check, and after which another one may begin.
_WAIT_SECONDS = 10
#: The key of a session that has its own key, by which it is listed; older sessions and changed keys are not yet.
_LISTED = "ce_listed"


class SignInMiddleware:
    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        if request.user.is_authenticated:
            # This comes first, because it may change the user's permissions.
            reason = find_end_reason(request)
            lacks_factor = lacks_second_factor(request.user, request.session)
            if lacks_factor and is_mfa_enabled(request.user):
                reason = reason or "it began without the second factor that you have"
            if reason:
                name = request.user.get_username()
                logout(request)
                log_access_change(request, f"session ended: {reason}", name)
                messages.error(request, f"Your session has ended: {reason}. Sign in again.")
                page = request.get_full_path() if request.method == "GET" else reverse("admin:index")
                return redirect_to_login(page, reverse("admin:login"))
            if request.session.get(_LISTED) != request.session.session_key:
                UserSession.objects.create_from_request(request)
                request.session[_LISTED] = request.session.session_key
            own_pages = (reverse("sign_in_account"), reverse("admin:logout"), reverse("config_admin_signed_in"))
            if lacks_factor and not request.path.startswith(own_pages):
                messages.warning(request, "Add a second factor: users who may publish need one.")
                return HttpResponseRedirect(reverse("mfa_index"))
        return self.get_response(request)


def find_end_reason(request: Any) -> str:
    """Ask the provider again if a check is due. Returns why the session ends, or nothing."""
    record = request.session.get(PROVIDER_TOKENS)
    if not record:
        return "" if may_use_password(request.user) else f"it must begin with “{conf.get('SIGN_IN')['label']}”"
    if record.get("issuer") != conf.get("SIGN_IN")["issuer"]:
        return "it began at another provider"
    if "seconds" in record:
        return "the provider must confirm it again" if is_unchecked(request.session) else ""
    age = time.time() - record["checked"]
    if 0 <= age < CHECK_SECONDS:
        return ""
    check = f"provider check:{request.session.session_key}:{record['checked']}"
    if throttle.count_call(check, _WAIT_SECONDS)[0] > 1:
        return _wait_for_check(request)
    try:
        claims = _read_claims(request, record)
    except RequestException as error:
        status = getattr(error.response, "status_code", 0) or 0
        if 400 <= status < 500:
            return "the provider no longer confirms it"
        log.warning("the identity provider cannot be reached", exc_info=error)
        return "the provider cannot be reached" if is_unchecked(request.session) else ""
    except (OAuth2Error, KeyError, TypeError, ValueError) as error:
        log.info("the identity provider ended a session", reason=str(error))
        return "the provider no longer confirms it"
    groups = find_groups(read_groups(claims))
    set_groups(request, request.user, groups)
    return "" if may_enter(request.user, groups) else "you are in no group that may work here"


def _wait_for_check(request: Any) -> str:
    """Wait for the request that asks the provider, because the provider may accept a refresh token only once."""
    before, end = request.session[PROVIDER_TOKENS], time.monotonic() + _WAIT_SECONDS
    while is_unchecked(request.session) and time.monotonic() < end:
        time.sleep(0.1)
        stored = type(request.session)(request.session.session_key).get(PROVIDER_TOKENS)
        if stored is None:
            return "the provider no longer confirms it"
        if stored["checked"] > before["checked"]:
            request.session[PROVIDER_TOKENS] = stored
    return "the provider cannot be reached" if is_unchecked(request.session) else ""


def _read_claims(request: Any, record: dict[str, Any]) -> dict[str, Any]:
    """The current claims, with a new access token if the provider gave a refresh token."""
    issuer = conf.get("SIGN_IN")["issuer"]
    adapter, id_token = OpenIdAdapter(request, issuer), None
    if record["refresh"]:
        tokens = adapter.refresh(request, record["refresh"])
        record |= {"access": tokens["access_token"], "refresh": tokens.get("refresh_token") or record["refresh"]}
        id_token = tokens.get("id_token")
        # Store them at once: the provider may no longer accept the old refresh token.
        _store(request, record)
    claims = adapter.read_claims(record["access"], id_token)
    known = request.user.socialaccount_set.filter(provider=issuer).values_list("uid", flat=True)
    if claims.get("sub") not in known:
        raise ValueError("the provider names another user")
    _store(request, record | {"checked": time.time()})
    return claims


def _store(request: Any, record: dict[str, Any]) -> None:
    request.session[PROVIDER_TOKENS] = record
    request.session.save()
