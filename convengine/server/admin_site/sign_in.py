"""Signing in: each wrong password makes the next attempt wait longer, in all processes, and never for ever."""

import math
import time
from collections.abc import Mapping
from typing import Any

import structlog
from django.core.exceptions import ValidationError
from django.db import DatabaseError
from unfold.forms import AuthenticationForm

from convengine.server.admin_site.rights import PUBLISH_DRAFT
from convengine.server.admin_site.sign_in_log import log_refusal, log_sign_in
from convengine.server.database import throttle
from convengine.server.database.throttle import Delay
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address

log = structlog.get_logger(__name__)
#: A name from one address; an address with any names, which an office shares; a name from anywhere.
_PAIR, _ADDRESS, _NAME = Delay(5, 900), Delay(30, 900), Delay(20, 60)
#: Reasons to refuse a password that may be right, by the code of the error.
_REASONS = {"inactive": "the account is inactive", "local_off": "switched off"}
#: Where somebody signed in, attempts from elsewhere do not delay them: seconds.
_KNOWN = 30 * 24 * 3600
#: The key in a session of what the provider last confirmed, and when.
PROVIDER_TOKENS = "ce_oidc"
#: The key in a session of the methods by which the user signed in, as the library for sign-in writes it.
_METHODS = "account_authentication_methods"
#: A session from the provider is no longer valid if its last check is this many seconds ago, or as many as it says.
MAX_UNCHECKED_SECONDS = 300


class SignInForm(AuthenticationForm):  # type: ignore[misc]
    """The form of the admin. It counts an attempt before it looks at the password."""

    #: Whether a second factor may follow, so that a right password is not yet a sign-in.
    has_more_steps = False

    def clean(self) -> dict[str, Any]:
        """Raises ValidationError for a wrong password, and for an attempt that comes too early."""
        name, address = self.cleaned_data.get("username"), find_client_address(self.request.META)
        if not name or not self.cleaned_data.get("password"):
            return super().clean()  # type: ignore[no-any-return]
        try:
            wait = begin_attempt(name, address)
        except DatabaseError as error:
            log.error("sign-in is not possible: attempts cannot be counted", exc_info=error)
            raise ValidationError("You cannot sign in at the moment. Try again later.", code="throttled") from error
        if wait:
            log.warning("sign-in refused: too many attempts", address=address, seconds=math.ceil(wait))
            log_refusal(self.request, name, "password: too many attempts", is_cheap=True)
            raise ValidationError(
                f"Too many attempts to sign in. Try again in {describe_wait(wait)}.", code="throttled"
            )
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError as error:
            reason = _REASONS.get(error.code or "", "wrong user name or password")
            log_refusal(self.request, name, f"password: {reason}")
            raise
        end_attempt(name, address)
        if not self.has_more_steps:
            log_sign_in(self.request, self.get_user().get_username(), "password")
        return cleaned


def begin_attempt(name: str, address: str, now: float | None = None) -> float:
    """Count an attempt; 0.0, or the seconds until one is possible."""
    name = name.casefold()
    counters = [(f"sign-in:{name}:{address}", _PAIR), (f"sign-in from:{address}", _ADDRESS)]
    if not throttle.is_remembered(f"signed in:{name}:{address}", now):
        counters.append((f"sign-in of:{name}", _NAME))
    for index, (counter, delay) in enumerate(counters):
        if wait := throttle.count_attempt(counter, delay, now):
            # Nobody looks at the password, so the attempt makes no other delay longer.
            for counted, _ in counters[:index]:
                throttle.take_back_attempt(counted, now)
            return wait
    return 0.0


def end_attempt(name: str, address: str, now: float | None = None) -> None:
    """The password was right."""
    name = name.casefold()
    throttle.forget(f"sign-in:{name}:{address}")
    for counter in (f"sign-in from:{address}", f"sign-in of:{name}"):
        throttle.take_back_attempt(counter, now)
    throttle.remember(f"signed in:{name}:{address}", _KNOWN, now)


def is_unchecked(session: Mapping[str, Any]) -> bool:
    """Whether the provider last confirmed the user of a session too long ago."""
    tokens = session.get(PROVIDER_TOKENS)
    if tokens is None:
        return False
    return not 0 <= time.time() - tokens["checked"] < tokens.get("seconds", MAX_UNCHECKED_SECONDS)


def lacks_second_factor(user: Any, session: Mapping[str, Any]) -> bool:
    """True for a session without the second factor, here or at the provider, that users who may publish need."""
    if conf.get("SIGN_IN").get("second_factor") != "required" or not user.has_perm(PUBLISH_DRAFT):
        return False
    methods = [each["method"] for each in session.get(_METHODS, [])]
    return "mfa" not in methods and "mfa" not in ((session.get(PROVIDER_TOKENS) or {}).get("amr") or [])


def describe_wait(seconds: float) -> str:
    """A time in words, in seconds or in minutes."""
    whole = math.ceil(seconds)
    number, unit = (math.ceil(whole / 60), "minute") if whole > 90 else (whole, "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"
