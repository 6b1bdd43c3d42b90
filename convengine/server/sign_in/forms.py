"""Forms of the sign-in: passwords, and codes of second factors."""

from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from convengine.server.admin_site.sign_in import SignInForm, begin_attempt, describe_wait, end_attempt
from convengine.server.admin_site.sign_in_log import log_refusal
from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address

#: A code of an app is right for a minute and a half: three half minutes, as clocks differ.
_CODE_SECONDS = 90


class PasswordForm(SignInForm):
    has_more_steps = True

    def confirm_login_allowed(self, user: User) -> None:
        """Raises ValidationError where passwords are switched off.

        Until an administrator is connected with the provider, those with passwords may sign in: else nobody could.
        """
        super().confirm_login_allowed(user)
        if not conf.get("SIGN_IN")["local"] and not (user.is_superuser and not has_connected_administrator()):
            label = conf.get("SIGN_IN")["label"]
            raise ValidationError(f"Passwords are switched off. Use “{label}”.", code="local_off")


class _LimitedCode:
    """A code that is counted like a password, and is right once."""

    user: User

    def clean_code(self) -> Any:
        name, request = self.user.get_username(), context.request
        # Not the counter of the password: who knows that could begin again with each right one.
        counter, address = f"second factor of {name}", find_client_address(request.META)
        if wait := begin_attempt(counter, address):
            log_refusal(request, name, "second factor: too many attempts", is_cheap=True)
            raise ValidationError(f"Too many attempts. Try again in {describe_wait(wait)}.", code="throttled")
        try:
            code = super().clean_code()  # type: ignore[misc]
            used = f"second factor:{self.user.pk}:{code}"
            if throttle.is_remembered(used):
                raise ValidationError("This code was used already.", code="used")
        except ValidationError:
            log_refusal(request, name, "second factor: wrong code")
            raise
        throttle.remember(used, _CODE_SECONDS)
        end_attempt(counter, address)
        return code


class CodeForm(_LimitedCode, AuthenticateForm):
    pass


class RepeatedCodeForm(_LimitedCode, ReauthenticateForm):
    pass


def has_connected_administrator() -> bool:
    issuer = conf.get("SIGN_IN")["issuer"]
    return bool(SocialAccount.objects.filter(provider=issuer, user__is_superuser=True, user__is_active=True).exists())
