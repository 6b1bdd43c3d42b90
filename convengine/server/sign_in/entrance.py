"""The sign-in page, and the way to the provider."""

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.socialaccount.adapter import get_adapter
from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from requests import RequestException

from convengine.server.deployment import conf
from convengine.server.sign_in.adapters import refuse
from convengine.server.sign_in.forms import PasswordForm, has_connected_administrator


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
def begin(request: HttpRequest) -> HttpResponse:
    """To the provider, by a page of our own: browsers let no form lead to another host than its own."""
    issuer = conf.get("SIGN_IN")["issuer"]
    try:
        response: HttpResponse = get_adapter().get_provider(request, issuer).redirect_from_request(request)
    except (RequestException, KeyError, ValueError):
        return refuse(request, "the provider cannot be reached")
    if not isinstance(response, HttpResponseRedirect):
        return response
    return render(request, "convengine/sign_in_continue.html", {"address": response.url})


def add_page_context(request: HttpRequest) -> dict[str, Any]:
    """What the admin's frame needs on the pages of a user's own sign-in."""
    if not request.path.startswith(reverse("sign_in_account")):
        return {}
    chosen = conf.get("SIGN_IN")
    return {
        **admin.site.each_context(request),
        "title": "Your sign-in",
        "provider_label": chosen["label"] if chosen["issuer"] else "",
    }
