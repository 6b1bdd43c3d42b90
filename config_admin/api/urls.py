"""Addresses of the configuration endpoints."""

from django.urls import path

from config_admin.api.flow_views import FlowsView, FlowView
from config_admin.api.transfer_views import BundleView, ImportView
from config_admin.api.views import HealthView, RowsView, TablesView

urlpatterns = [
    path("config", TablesView.as_view(), name="config-tables"),
    path("config-health", HealthView.as_view(), name="config-health"),
    path("config/bundle", BundleView.as_view(), name="config-bundle"),
    path("config/import", ImportView.as_view(), name="config-import"),
    path("config/flows", FlowsView.as_view(), name="config-flows"),
    path("config/flows/<str:flow_code>", FlowView.as_view(), name="config-flow"),
    path("config/<str:table>", RowsView.as_view(), name="config-rows"),
]
