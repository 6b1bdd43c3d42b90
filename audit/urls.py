"""URLs of the audit endpoints."""

from django.urls import path, re_path

from audit.alerts.api import AlertSilenceView, AlertsView, AlertView
from audit.api.conversation_views import ConversationView, TurnsView, TurnTraceView
from audit.api.stage_catalogue import StagesView
from audit.api.views import EventsView, NarrationView, TraceView, WhyView
from audit.export.evidence.view import EvidenceView
from audit.export.scenario.view import ScenarioView
from audit.feedback.view import FeedbackView
from audit.inbox.api import InboxDecisionView, InboxView
from audit.live.view import StreamView
from audit.replay.view import ReplayResultView, ReplayView
from audit.reports.api import ReportsView
from audit.search.api import FindView
from audit.what_if.api import WhatIfCancelView, WhatIfRunView, WhatIfTurnsView, WhatIfView

urlpatterns = [
    path("conversation/feedback", FeedbackView.as_view(), name="feedback"),
    path("conversation/stream/<str:conversation_id>", StreamView.as_view(), name="stream"),
    path("conversation/audit/<str:conversation_id>", EventsView.as_view(), name="audit"),
    path("conversation/audit/<str:conversation_id>/trace", TraceView.as_view(), name="audit-trace"),
    path("conversation/audit/<str:conversation_id>/account", NarrationView.as_view(), name="audit-account"),
    path("conversation/audit/<str:conversation_id>/scenario", ScenarioView.as_view(), name="audit-scenario"),
    path("conversation/audit/<str:conversation_id>/evidence", EvidenceView.as_view(), name="audit-evidence"),
    path("replay", ReplayView.as_view(), name="replay"),
    path("replay/<str:replay_id>", ReplayResultView.as_view(), name="replay-result"),
    path("what-if", WhatIfView.as_view(), name="what-if"),
    path("what-if/<str:what_if_id>", WhatIfRunView.as_view(), name="what-if-run"),
    path("what-if/<str:what_if_id>/cancel", WhatIfCancelView.as_view(), name="what-if-cancel"),
    path("what-if/<str:what_if_id>/turns", WhatIfTurnsView.as_view(), name="what-if-turns"),
    path("alerts", AlertsView.as_view(), name="alerts"),
    path("alerts/<str:alert_id>", AlertView.as_view(), name="alert"),
    path("alerts/<str:alert_id>/silence", AlertSilenceView.as_view(), name="alert-silence"),
    path("inbox", InboxView.as_view(), name="inbox"),
    path("inbox/<int:group_id>/decision", InboxDecisionView.as_view(), name="inbox-decision"),
    path("audit/turns", FindView.as_view(), name="find-turns"),
    path("reports", ReportsView.as_view(), name="reports"),
    path("audit/stages", StagesView.as_view(), name="stages"),
    path("conversation/audit/<str:conversation_id>/why", WhyView.as_view(), name="audit-why"),
    # As long as a UUID in any of its spellings; a shorter text is no id but an unknown address.
    re_path("^conversation/(?P<conversation_id>[^/]{32,45})$", ConversationView.as_view(), name="conversation"),
    path("conversation/<str:conversation_id>/turns", TurnsView.as_view(), name="turns"),
    path("conversation/<str:conversation_id>/turns/<str:turn_no>/trace", TurnTraceView.as_view(), name="turn-trace"),
]
