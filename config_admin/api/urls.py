"""Addresses of the configuration endpoints."""

from django.urls import path

from config_admin.api.views import HealthView, RowsView, TablesView

urlpatterns = [
    path("config", TablesView.as_view(), name="config-tables"),
    path("config-health", HealthView.as_view(), name="config-health"),
    path("config/<str:table>", RowsView.as_view(), name="config-rows"),
]
