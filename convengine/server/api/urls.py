"""Addresses of the turn API."""

from convengine.server.api.base_view import list_addresses

urlpatterns = list_addresses("convengine.server")
