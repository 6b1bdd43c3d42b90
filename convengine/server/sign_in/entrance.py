"""The sign-in page with its forms, and the redirect to the provider and back."""

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm, ReauthenticateWebAuthnForm
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from requests import RequestException

from convengine.server.admin_site.sign_in import SignInForm, begin_attempt, describe_wait, end_attempt
from convengine.server.admin_site.sign_in_log import log_refusal
from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address
from convengine.server.sign_in.adapters import refuse
from convengine.server.sign_in.provider import CallbackView, OpenIdAdapter

#: How long a code of an authenticator app is valid: three half minutes, because clocks differ.
_CODE_SECONDS = 90
#: Maximum sign-ins from one address, because each asks the provider. An office may share an address.
_BEGUN_PER_MINUTE = 120


class PasswordForm(SignInForm):
    has_more_steps = True

    def confirm_login_allowed(self, user: User) -> None:
        """Raises ValidationError if passwords are switched off, and for users of the provider."""
        super().confirm_login_allowed(user)
        if not may_use_password(user):
            chosen = conf.get("SIGN_IN")
            whose = "This user's password is" if chosen["local"] else "Passwords are"
            raise ValidationError(f"{whose} switched off. Use “{chosen['label']}”.", code="local_off")


class _LimitedCode:
    """Counts attempts like those at passwords, and accepts each code once."""

    user: User

    def clean_code(self) -> Any:
        name, request = self.user.get_username(), context.request
        # This is not the counter of the password, which each right password resets.
        counter, address = f"second factor of {name}", find_client_address(request.META)
        if wait := begin_attempt(counter, address):
            log_refusal(request, name, "second factor: too many attempts", is_cheap=True)
            raise ValidationError(f"Too many attempts. Try again in {describe_wait(wait)}.", code="throttled")
        try:
            code = super().clean_code()  # type: ignore[misc]
            if not throttle.use_once(f"code:{self.user.pk}:{''.join(filter(str.isalnum, code))}", _CODE_SECONDS):
                raise ValidationError("This code was used already.", code="used")
        except ValidationError:
            log_refusal(request, name, "second factor: wrong code")
            raise
        end_attempt(counter, address)
        return code


class CodeForm(_LimitedCode, AuthenticateForm):
    pass


class RepeatedCodeForm(_LimitedCode, ReauthenticateForm):
    pass


class _LoggedKey:
    """Logs wrong security keys. Nobody can guess one, so it counts no attempts."""

    user: User

    def clean_credential(self) -> Any:
        try:
            return super().clean_credential()  # type: ignore[misc]
        except (KeyError, ValidationError) as error:
            log_refusal(context.request, self.user.get_username(), "second factor: wrong security key", is_cheap=True)
            raise ValidationError("Incorrect security key.", code="incorrect_code") from error


class KeyForm(_LoggedKey, AuthenticateWebAuthnForm):
    pass


class RepeatedKeyForm(_LoggedKey, ReauthenticateWebAuthnForm):
    pass


def may_use_password(user: User) -> bool:
    """False if passwords are switched off, and for users of the provider: a user who left there must not stay here.

    Until an administrator is connected with the provider, administrators may use passwords: otherwise nobody could.
    """
    chosen = conf.get("SIGN_IN")
    if user.is_superuser:
        return chosen["local"] or not has_connected_administrator()
    return chosen["local"] and not SocialAccount.objects.filter(provider=chosen["issuer"], user=user).exists()


def has_connected_administrator() -> bool:
    issuer = conf.get("SIGN_IN")["issuer"]
    return bool(SocialAccount.objects.filter(provider=issuer, user__is_superuser=True, user__is_active=True).exists())


@method_decorator(never_cache, name="dispatch")
class SignInView(LoginView):
    """The sign-in page of the admin. After the password, the library asks for a second factor."""

    authentication_form = PasswordForm
    template_name = "convengine/sign_in.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if admin.site.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index"))
        return super().get(request, *args, **kwargs)

    def form_valid(self, form: Any) -> Any:
        user = form.get_user()
        login = Login(user=user, redirect_url=self.get_success_url())
        return perform_password_login(self.request, {"username": user.get_username()}, login)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        chosen = conf.get("SIGN_IN")
        return {
            **admin.site.each_context(self.request),
            **super().get_context_data(**kwargs),
            "title": "Sign in",
            "provider_label": chosen["label"] if chosen["issuer"] else "",
            "has_passwords": chosen["local"] or not has_connected_administrator(),
            "is_local": chosen["local"],
        }


@require_POST
@never_cache
def begin_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead to the provider by a page of our own: our content policy lets no form lead to another host."""
    issuer = conf.get("SIGN_IN")["issuer"]
    if throttle.count_call(f"sign-in begun:{find_client_address(request.META)}", 60)[0] > _BEGUN_PER_MINUTE:
        return refuse(request, "too many attempts")
    try:
        address = get_adapter().get_provider(request, issuer).redirect_from_request(request).url
    except (RequestException, KeyError, ValueError):
        return refuse(request, "the provider cannot be reached, or its answer cannot be read")
    return render(request, "convengine/sign_in_continue.html", {"address": address})


def receive_answer(request: HttpRequest) -> HttpResponse:
    """Handle the answer with which the provider sends the browser back."""
    adapter = OpenIdAdapter(request, conf.get("SIGN_IN")["issuer"])
    response: HttpResponse = CallbackView.adapter_view(adapter)(request)
    return response


def add_page_context(request: HttpRequest) -> dict[str, Any]:
    """The variables that the admin's layout needs on the pages of a user's own sign-in."""
    if not request.path.startswith(reverse("sign_in_account")):
        return {}
    chosen = conf.get("SIGN_IN")
    return {
        **admin.site.each_context(request),
        "title": "Your sign-in",
        "provider_label": chosen["label"] if chosen["issuer"] else "",
    }
