"""Addresses of the admin that belong to no table: search, favourites, presence, session check."""

from django.contrib import admin
from django.urls import path

from config_admin.form_save import presence
from config_admin.workplace import finder

urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("here/", admin.site.admin_view(presence.report_presence), name="config_admin_here"),
    path("signed-in/", admin.site.admin_view(presence.check_sign_in), name="config_admin_signed_in"),
    path("favourite/", admin.site.admin_view(finder.favourite), name="config_admin_favourite"),
]
