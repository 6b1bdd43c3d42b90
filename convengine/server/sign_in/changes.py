"""Changes of second factors and of connected accounts, in the access log."""

from typing import Any

from allauth.mfa import signals
from allauth.socialaccount.signals import social_account_added
from django.dispatch import receiver

from convengine.server.admin_site.sign_in_log import log_access_change

FACTORS = {"totp": "authenticator app", "webauthn": "security key", "recovery_codes": "recovery codes"}
_CHANGES = {
    signals.authenticator_added: "added",
    signals.authenticator_removed: "removed",
    signals.authenticator_reset: "made anew",
}


@receiver(list(_CHANGES))
def log_factor(signal: Any, request: Any, authenticator: Any, **_: Any) -> None:
    log_access_change(request, f"second factor {_CHANGES[signal]}: {FACTORS[authenticator.type]}")


@receiver(social_account_added)
def log_connected(request: Any, **_: Any) -> None:
    log_access_change(request, "sign-in by the provider connected")
