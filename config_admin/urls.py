"""Addresses of the admin that belong to no table: the search, marks of rows, who has one open, who is signed in."""

from django.contrib import admin
from django.urls import path

from config_admin.admin.places import finder
from config_admin.admin.saving import presence, signed_in

urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("here/", admin.site.admin_view(presence.here), name="config_admin_here"),
    path("signed-in/", admin.site.admin_view(signed_in.signed_in), name="config_admin_signed_in"),
    path("favourite/", admin.site.admin_view(finder.favourite), name="config_admin_favourite"),
]
