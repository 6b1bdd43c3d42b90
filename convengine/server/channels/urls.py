"""Addresses that providers call."""

from django.urls import path

from convengine.server.channels.receive import receive

urlpatterns = [path("channels/<slug:name>/", receive, name="channel")]
