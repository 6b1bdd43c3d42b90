"""Addresses of the API of the record."""

from convengine.server.api.base_view import list_addresses

urlpatterns = list_addresses("audit")
