"""Addresses of the manual."""

from django.contrib import admin
from django.urls import path

from config_admin.manual import views

urlpatterns = [
    path("", admin.site.admin_view(views.contents), name="manual"),
    path("reference/<str:slug>/", admin.site.admin_view(views.reference_chapter), name="manual_reference"),
    path("entry/<path:anchor>/", admin.site.admin_view(views.entry), name="manual_entry"),
    path("<slug:slug>/", admin.site.admin_view(views.chapter), name="manual_chapter"),
]
