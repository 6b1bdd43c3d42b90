"""Addresses of the sign-in, below that of the admin, with only those pages of the library that users need."""

from typing import Any

from allauth.account.views import logout, reauthenticate
from allauth.usersessions.views import list_usersessions
from django.urls import include, path, reverse_lazy
from django.views.generic import RedirectView

from convengine.server.deployment import conf
from convengine.server.sign_in import administration, entrance  # noqa: F401  (registers its pages)

urlpatterns = [
    # It replaces the admin's own page at the same address.
    path("login/", entrance.SignInView.as_view(), name="account_login"),
    path("account/", RedirectView.as_view(url=reverse_lazy("usersessions_list")), name="sign_in_account"),
    path("account/sessions/", list_usersessions, name="usersessions_list"),
    path("account/again/", reauthenticate, name="account_reauthenticate"),
    path("account/sign-out/", logout, name="account_logout"),
]
if conf.get("SIGN_IN")["second_factor"] != "off":
    urlpatterns.append(path("account/second-factor/", include("allauth.mfa.urls")))
if conf.get("SIGN_IN")["issuer"]:
    urlpatterns.append(path("account/provider/", entrance.begin_sign_in, name="sign_in_begin"))
    answers: Any = entrance
    if conf.get("SIGN_IN")["metadata"]:
        from convengine.server.sign_in import saml as answers

        urlpatterns.append(path("account/provider/metadata/", answers.show_metadata, name="sign_in_metadata"))
    urlpatterns.append(path("account/provider/answer/", answers.receive_answer, name="sign_in_callback"))
