"""Addresses of the admin that belong to no table: search, first steps, session check."""

from django.contrib import admin
from django.urls import path

from config_admin.editing.live_checks import check_sign_in
from config_admin.workplace import finder, home
from config_admin.workplace.start_empty import start_empty

urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("signed-in/", admin.site.admin_view(check_sign_in), name="config_admin_signed_in"),
    path("first-steps/hide/", admin.site.admin_view(home.hide_first_steps), name="config_admin_hide_first_steps"),
    path("first-steps/start-empty/", admin.site.admin_view(start_empty), name="config_admin_start_empty"),
    path("last-turn/", admin.site.admin_view(home.open_last_turn), name="config_admin_last_turn"),
]
