"""Addresses of the admin that belong to no table: search, first steps, session check."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET

from config_admin.workplace import finder, home
from config_admin.workplace.start_empty import start_empty


@require_GET
@ensure_csrf_cookie
def check_sign_in(request: HttpRequest) -> HttpResponse:
    """Whether the user of an open page is still signed in: a script asks before it sends a form.

    An empty answer with the CSRF token; users who are not signed in get the login page.
    """
    return HttpResponse(status=204)


urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("signed-in/", admin.site.admin_view(check_sign_in), name="config_admin_signed_in"),
    path("first-steps/hide/", admin.site.admin_view(home.hide_first_steps), name="config_admin_hide_first_steps"),
    path("first-steps/start-empty/", admin.site.admin_view(start_empty), name="config_admin_start_empty"),
    path("last-turn/", admin.site.admin_view(home.open_last_turn), name="config_admin_last_turn"),
]
