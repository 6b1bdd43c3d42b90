"""Addresses of the probes, without a slash at the end, as monitoring expects them."""

from django.urls import path

from convengine.server.deployment import conf
from convengine.server.probes import views

urlpatterns = [
    path("livez", views.show_alive, name="livez"),
    path("readyz", views.show_ready, name="readyz"),
    # A project may have metrics of its own at this address.
    *([path("metrics", views.show_metrics, name="metrics")] if conf.get("METRICS_TOKEN") else []),
]
