"""URLs of the audit endpoints."""

from django.urls import path, re_path

from audit.api.conversation_views import ConversationView, TurnsView, TurnTraceView
from audit.api.stage_catalogue import StagesView
from audit.api.views import EventsView, NarrationView, TraceView, WhyView
from audit.feedback.view import FeedbackView
from audit.live.view import StreamView
from audit.replay.view import ReplayResultView, ReplayView
from audit.search.api import FindView

urlpatterns = [
    path("conversation/feedback", FeedbackView.as_view(), name="feedback"),
    path("conversation/stream/<str:conversation_id>", StreamView.as_view(), name="stream"),
    path("conversation/audit/<str:conversation_id>", EventsView.as_view(), name="audit"),
    path("conversation/audit/<str:conversation_id>/trace", TraceView.as_view(), name="audit-trace"),
    path("conversation/audit/<str:conversation_id>/account", NarrationView.as_view(), name="audit-account"),
    path("replay", ReplayView.as_view(), name="replay"),
    path("replay/<str:replay_id>", ReplayResultView.as_view(), name="replay-result"),
    path("audit/turns", FindView.as_view(), name="find-turns"),
    path("audit/stages", StagesView.as_view(), name="stages"),
    path("conversation/audit/<str:conversation_id>/why", WhyView.as_view(), name="audit-why"),
    # As long as a UUID in any of its spellings; a shorter text is no id but an unknown address.
    re_path("^conversation/(?P<conversation_id>[^/]{32,45})$", ConversationView.as_view(), name="conversation"),
    path("conversation/<str:conversation_id>/turns", TurnsView.as_view(), name="turns"),
    path("conversation/<str:conversation_id>/turns/<str:turn_no>/trace", TurnTraceView.as_view(), name="turn-trace"),
]
