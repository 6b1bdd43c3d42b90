"""Addresses of the turn API."""

from django.urls import path

from convengine.server.api import session_views as sessions
from convengine.server.api import thread_views as threads
from convengine.server.api.views import TurnView

urlpatterns = [
    path("conversation/message", TurnView.as_view(), name="turn"),
    path("sessions", sessions.SessionsView.as_view(), name="sessions"),
    path("sessions/resolve", threads.ResolveView.as_view(), name="session-resolve"),
    path("sessions/message", threads.MessageView.as_view(), name="session-message"),
    path("sessions/<str:session_id>", sessions.SessionView.as_view(), name="session"),
    path("sessions/<str:session_id>/close", sessions.CloseView.as_view(), name="session-close"),
    path("sessions/<str:session_id>/units", sessions.UnitsView.as_view(), name="session-units"),
    path("sessions/<str:session_id>/explainability", sessions.ExplainabilityView.as_view(), name="session-explained"),
]
