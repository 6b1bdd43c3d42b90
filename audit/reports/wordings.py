"""The messages of a period that nobody understood, by wording, from the newest turns of the index."""

from typing import Any, NamedTuple

from django.db.models import Count, Max, Q
from django.db.models.functions import Lower, Trim
from django.urls import reverse
from django.utils.http import urlencode

from audit.access_log.write import log_access
from audit.models import CeAccessLog, CeInboxGroup, CeTurnIndex
from audit.reports.report import Selection
from audit.reports.report_request import ReportRequest
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.text.compare import shorten
from convengine.engine.understanding.phrases.terms import is_bare_answer
from convengine.server.sessions.models import CeConversationHistory

#: How many turns are read at most, and how many wordings are listed.
MOST_TURNS, MOST = 5_000, 20
_LONGEST = 200
_RIGHT_TO_TEACH = "config_admin.add_ceintentclassifier"


class WordingLine(NamedTuple):
    """Messages that differ in capitals and outer blanks at most."""

    text: str
    turns: int
    #: Where it becomes a phrase; blank for readers who may not teach, and for a bare answer such as “yes”.
    teach_url: str


def build_wordings(wanted: ReportRequest) -> dict[str, Any]:
    """The most frequent wordings of the report, and the size of the inbox. Reading messages is logged."""
    log_access(wanted.request, CeAccessLog.Kind.SEARCH, search="report of messages that were not understood")
    user: Any = wanted.request.user
    may_teach = user.has_perm(_RIGHT_TO_TEACH)
    groups = CeInboxGroup.objects.filter(status=CeInboxGroup.Status.OPEN, kind=CeInboxGroup.Kind.NOT_UNDERSTOOD)
    return {
        "wordings": [
            WordingLine(
                shorten(text, _LONGEST),
                turns,
                _build_teach_url(turn) if may_teach and not is_bare_answer(text) else "",
            )
            for text, turns, turn in read_wordings(wanted.selection)
        ],
        "most_turns": MOST_TURNS,
        "inbox_groups": groups.count(),
        "inbox_url": reverse("admin:audit_ceaudit_inbox"),
    }


def read_wordings(selection: Selection) -> list[tuple[str, int, int]]:
    """The most frequent wordings, how many turns have them, and the newest of these. One query by an index."""
    entries = CeTurnIndex.objects.filter(kind=CeTurnIndex.STAGE, value=str(NOT_UNDERSTOOD))
    entries = entries.filter(at__gte=selection.since, at__lt=selection.until).order_by("-at", "-id")
    turns = CeConversationHistory.objects.filter(
        _select(selection), turn_id__in=entries.values("turn_id")[:MOST_TURNS], user_input__isnull=False
    )
    of_wording = turns.order_by().annotate(wording=Lower(Trim("user_input"))).values_list("wording")
    rows = of_wording.annotate(turns=Count("pk"), newest=Max("pk")).order_by("-turns", "-newest")
    return [(text, number, newest) for text, number, newest in rows[:MOST]]


def _select(selection: Selection) -> Q:
    """The turns of a selection, by their records."""
    filters = {
        "conversation__workspace_id": selection.workspace,
        "conversation__channel": selection.channel,
        "intent_code": selection.intent,
    }
    wanted = Q(**{name: value for name, value in filters.items() if value})
    return wanted if selection.release is None else wanted & Q(config_version=selection.release)


def _build_teach_url(turn: int) -> str:
    return f"{reverse('admin:config_admin_ceintentclassifier_teach')}?{urlencode({'message_of': turn})}"
