"""Addresses of the sign-in, below that of the admin, with only those pages of the library that users need."""

from allauth.account.views import logout, reauthenticate
from allauth.usersessions.views import list_usersessions
from django.urls import include, path, reverse_lazy
from django.views.generic import RedirectView

from convengine.server.deployment import conf
from convengine.server.sign_in import administration  # noqa: F401  (registers its pages)
from convengine.server.sign_in.entrance import SignInView, begin_sign_in, receive_answer

urlpatterns = [
    # It replaces the admin's own page at the same address.
    path("login/", SignInView.as_view(), name="account_login"),
    path("account/", RedirectView.as_view(url=reverse_lazy("usersessions_list")), name="sign_in_account"),
    path("account/sessions/", list_usersessions, name="usersessions_list"),
    path("account/again/", reauthenticate, name="account_reauthenticate"),
    path("account/sign-out/", logout, name="account_logout"),
]
if conf.get("SIGN_IN")["second_factor"] != "off":
    urlpatterns.append(path("account/second-factor/", include("allauth.mfa.urls")))
if conf.get("SIGN_IN")["issuer"]:
    urlpatterns.append(path("account/provider/", begin_sign_in, name="sign_in_begin"))
    if conf.get("SIGN_IN")["metadata"]:
        from convengine.server.sign_in.saml import receive_answer, show_metadata

        urlpatterns.append(path("account/provider/metadata/", show_metadata, name="sign_in_metadata"))
    urlpatterns.append(path("account/provider/answer/", receive_answer, name="sign_in_callback"))
