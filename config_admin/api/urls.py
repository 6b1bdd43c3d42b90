"""Addresses of the configuration API."""

from convengine.server.api.base_view import list_addresses

urlpatterns = list_addresses("config_admin")
