"""Addresses of the admin that belong to no table: search, favourites, first steps, presence, session check."""

from django.contrib import admin
from django.urls import path

from config_admin.form_save import presence
from config_admin.workplace import finder, home

urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("here/", admin.site.admin_view(presence.report_presence), name="config_admin_here"),
    path("signed-in/", admin.site.admin_view(presence.check_sign_in), name="config_admin_signed_in"),
    path("first-steps/<str:step>/", admin.site.admin_view(home.open_first_step), name="config_admin_first_step"),
    path("favourite/", admin.site.admin_view(finder.favourite), name="config_admin_favourite"),
]
