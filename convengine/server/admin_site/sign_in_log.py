"""Log sign-ins, refusals with their reasons, and changes of access in the access log."""

from typing import Any

from django.contrib.auth import get_user_model

from convengine.server.database import throttle
from convengine.server.deployment.client_address import find_client_address
from convengine.server.interfaces.access_log import access_log
from convengine.server.observability.metrics import SIGN_INS

#: Replaces a name that no user has, because somebody may have typed a password there.
UNKNOWN = "(unknown user)"
#: Refusals that nothing slows down make at most one entry per name, reason and address in this many seconds.
_SECONDS = 60


def log_sign_in(request: Any, name: str, how: str) -> None:
    SIGN_INS.add("accepted")
    access_log().log_account_event(request, "SIGN_IN", name, how)


def log_refusal(request: Any, name: str, reason: str, *, is_cheap: bool = False) -> None:
    """Log a refusal. `is_cheap`: no limit slows these attempts down, so one entry a minute stands for all."""
    SIGN_INS.add("refused")
    if (
        is_cheap
        and throttle.count_call(f"refusal:{name}:{reason}:{find_client_address(request.META)}", _SECONDS)[0] > 1
    ):
        return
    users = get_user_model()
    known = users._default_manager.filter(**{users.USERNAME_FIELD: name}).first()
    access_log().log_account_event(request, "SIGN_IN_REFUSED", known.get_username() if known else UNKNOWN, reason)


def log_access_change(request: Any, details: str, name: str = "") -> None:
    """Log a change of access, by the user of the request or by `name`."""
    access_log().log_account_event(request, "ACCESS_CHANGED", name or request.user.get_username(), details)
