"""Addresses of the audit endpoints."""

from django.urls import path

from audit.feedback.view import FeedbackView
from audit.finding.api import FindView
from audit.live.view import StreamView
from audit.views import AccountView, EventsView, TraceView, WhyView

urlpatterns = [
    path("conversation/feedback", FeedbackView.as_view(), name="feedback"),
    path("conversation/stream/<str:conversation_id>", StreamView.as_view(), name="stream"),
    path("conversation/audit/<str:conversation_id>", EventsView.as_view(), name="audit"),
    path("conversation/audit/<str:conversation_id>/trace", TraceView.as_view(), name="audit-trace"),
    path("conversation/audit/<str:conversation_id>/account", AccountView.as_view(), name="audit-account"),
    path("audit/turns", FindView.as_view(), name="find-turns"),
    path("conversation/audit/<str:conversation_id>/why", WhyView.as_view(), name="audit-why"),
]
