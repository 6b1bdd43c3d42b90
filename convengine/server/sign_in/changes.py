"""Changes of second factors and of connected accounts, in the access log."""

from typing import Any

from allauth.mfa import signals
from allauth.socialaccount.signals import social_account_added
from django.dispatch import receiver

from convengine.server.admin_site.sign_in_log import log_access_change

FACTORS = {"totp": "authenticator app", "webauthn": "security key", "recovery_codes": "recovery codes"}


@receiver(signals.authenticator_added)
def log_added(request: Any, authenticator: Any, **_: Any) -> None:
    log_access_change(request, f"second factor added: {FACTORS[authenticator.type]}")


@receiver(signals.authenticator_removed)
def log_removed(request: Any, authenticator: Any, **_: Any) -> None:
    log_access_change(request, f"second factor removed: {FACTORS[authenticator.type]}")


@receiver(signals.authenticator_reset)
def log_reset(request: Any, authenticator: Any, **_: Any) -> None:
    log_access_change(request, f"second factor made anew: {FACTORS[authenticator.type]}")


@receiver(social_account_added)
def log_connected(request: Any, **_: Any) -> None:
    log_access_change(request, "sign-in by the provider connected")
