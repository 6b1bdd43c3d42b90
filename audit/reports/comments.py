"""The newest comments that people wrote with their ratings in a period."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.urls import reverse

from audit.access_log.write import log_access
from audit.models import CeAccessLog, CeMcpUserFeedback
from audit.reports.report import Selection
from audit.reports.report_request import ReportRequest
from audit.timeline.addresses import turn_url
from convengine.engine.text.compare import shorten

MOST = 20
_LONGEST = 300
#: In the spelling of the partial index, which databases do not recognise with parameters.
_HAS_COMMENT = RawSQL("NOT (comment = '' AND correction = '')", [], output_field=BooleanField())


class CommentLine(NamedTuple):
    """A rating with its words."""

    at: datetime
    is_negative: bool
    comment: str
    correction: str
    #: The page of the turn.
    url: str


def build_comments(wanted: ReportRequest) -> dict[str, Any]:
    """The newest comments of the report. Reading them is logged."""
    log_access(wanted.request, CeAccessLog.Kind.SEARCH, search="report of feedback")
    return {
        "comments": list(map(_build_line, read_comments(wanted.selection))),
        "feedback_url": reverse("admin:audit_cemcpuserfeedback_changelist"),
    }


def read_comments(selection: Selection) -> list[CeMcpUserFeedback]:
    """The newest ones that were not replaced. One query by an index."""
    filters: dict[str, Any] = {
        "conversation__workspace_id": selection.workspace,
        "conversation__channel": selection.channel,
        "intent_code": selection.intent,
    }
    given = CeMcpUserFeedback.objects.filter(
        replaced_at=None,
        created_at__gte=selection.since,
        created_at__lt=selection.until,
        **{name: value for name, value in filters.items() if value},
    )
    if selection.release is not None:
        given = given.filter(config_version=selection.release)
    return list(given.filter(_HAS_COMMENT).order_by("-created_at")[:MOST])


def _build_line(feedback: CeMcpUserFeedback) -> CommentLine:
    return CommentLine(
        feedback.created_at,
        feedback.feedback_type == CeMcpUserFeedback.Type.THUMBS_DOWN,
        shorten(feedback.comment, _LONGEST),
        shorten(feedback.correction, _LONGEST),
        turn_url(feedback.conversation_id, feedback.turn_no),
    )
