"""Log changes of second factors and connected accounts in the access log."""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa import signals
from allauth.socialaccount.signals import social_account_added
from django.dispatch import receiver

from convengine.server.admin_site.sign_in_log import log_access_change

FACTORS = {"totp": "authenticator app", "webauthn": "security key", "recovery_codes": "recovery codes"}
_CHANGES = {
    signals.authenticator_added: "added",
    signals.authenticator_removed: "removed",
    signals.authenticator_reset: "renewed",
}


@receiver(list(_CHANGES))
def log_factor_change(signal: Any, request: Any, authenticator: Any, **_: Any) -> None:
    log_access_change(request, f"second factor {_CHANGES[signal]}: {FACTORS[authenticator.type]}")
    if signal is signals.authenticator_added and authenticator.type != "recovery_codes":
        # To add it, the user has just used it.
        record_authentication(request, authenticator.user, "mfa", type=authenticator.type, reauthenticated=True)


@receiver(social_account_added)
def log_connected_account(request: Any, **_: Any) -> None:
    log_access_change(request, "sign-in through the provider connected")
