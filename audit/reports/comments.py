"""The newest comments that people wrote with their ratings in a period."""

from typing import Any

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from audit.access_log.write import log_access
from audit.models import CeAccessLog, CeMcpUserFeedback
from audit.reports.report import Selection
from audit.reports.report_request import ReportRequest

MOST = 20
#: In the spelling of the partial index, which databases do not recognise with parameters.
_HAS_COMMENT = RawSQL("NOT (comment = '' AND correction = '')", [], output_field=BooleanField())


def build_comments(wanted: ReportRequest) -> dict[str, Any]:
    """The newest comments of the report. Reading them is logged."""
    log_access(wanted.request, CeAccessLog.Kind.SEARCH, search="report of feedback")
    return {"comments": read_comments(wanted.selection)}


def read_comments(selection: Selection) -> list[CeMcpUserFeedback]:
    """The newest comments and corrections, at most MOST, without replaced ones. One query by an index."""
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
