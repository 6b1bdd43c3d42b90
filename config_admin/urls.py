"""Pages of the admin that belong to no table: searching everything, and marking rows."""

from django.contrib import admin
from django.urls import path

from config_admin.admin import finder

urlpatterns = [
    path("find/", admin.site.admin_view(finder.find), name="config_admin_find"),
    path("favourite/", admin.site.admin_view(finder.favourite), name="config_admin_favourite"),
]
