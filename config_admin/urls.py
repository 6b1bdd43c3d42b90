"""Pages of the admin that belong to no table: searching everything, marking rows, and who has one open."""

from django.contrib import admin
from django.urls import path

from config_admin.admin import finder, presence

urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("here/", admin.site.admin_view(presence.here), name="config_admin_here"),
    path("favourite/", admin.site.admin_view(finder.favourite), name="config_admin_favourite"),
]
