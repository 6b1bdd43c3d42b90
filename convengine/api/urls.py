"""Addresses of the turn API."""

from django.urls import path

from convengine.api.views import TurnView

urlpatterns = [
    path("conversation/message", TurnView.as_view(), name="turn"),
]
