"""Where the pages of turns are; other pages link to them by these names."""

import uuid
from typing import Any

from django.http import HttpRequest
from django.urls import register_converter, reverse
from django.urls.converters import IntConverter
from django.utils.http import urlencode

from convengine.breadcrumbs import Crumb, leads_by, leads_by_conversation
from convengine.sessions.models import CeConversation, CeConversationHistory

TIMELINE, TURN, ROW, COMPARE, BETWEEN, REPLAY, REPLAYS, SCENARIO = (
    f"audit_ceaudit_{name}"
    for name in ("timeline", "turn", "row", "compare", "between", "replay", "replays", "scenario")
)


class TurnNumber(IntConverter):
    """The number of a turn in an address. One that no column takes is that of a turn that there is not."""

    def to_python(self, value: str) -> int:
        """At most the largest number that a column takes."""
        return min(super().to_python(value), 2**31 - 1)


register_converter(TurnNumber, "turn")


def placed(
    model_admin: Any,
    request: HttpRequest,
    page: str,
    conversation: CeConversation | uuid.UUID | None = None,
    turn_no: int | None = None,
) -> dict[str, Any]:
    """What every page of the admin is given. It stands with its conversation or turn; without a name it is theirs."""
    opts = (CeConversation if turn_no is None else CeConversationHistory)._meta
    request.ce_place = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")  # type: ignore[attr-defined]
    if conversation is None:
        leads_by(request, Crumb(page))
    else:
        leads_by_conversation(request, conversation, turn_no, page)
    return {**model_admin.admin_site.each_context(request), "opts": opts}


def timeline_url(conversation_id: uuid.UUID, turn_no: int | None = None) -> str:
    """The timeline of a conversation, at a turn when one is named."""
    address = reverse(f"admin:{TIMELINE}", args=[conversation_id])
    return f"{address}?turn={turn_no}#turn-{turn_no}" if turn_no else address


def turn_url(conversation_id: uuid.UUID, turn_no: int) -> str:
    """The page of a turn."""
    return reverse(f"admin:{TURN}", args=[conversation_id, turn_no])


def row_url(conversation_id: uuid.UUID, turn_no: int, table: str, pk: Any) -> str:
    """A configuration row as it stood when a turn ran, beside today's."""
    query = urlencode({"table": table, "row": pk})
    return f"{reverse(f'admin:{ROW}', args=[conversation_id, turn_no])}?{query}"


def compare_url(*picked: str) -> str:
    """Two turns (`conversation.number`) or two conversations side by side."""
    return f"{reverse(f'admin:{COMPARE}')}?{urlencode([('pick', one) for one in picked])}"


def between_url(conversation_id: uuid.UUID, turn_no: int, since: int) -> str:
    """What changed in the configuration between an earlier turn of a conversation and this one."""
    return f"{reverse(f'admin:{BETWEEN}', args=[conversation_id, turn_no])}?since={since}"


def compare_page() -> str:
    """Where two are compared, without saying which."""
    return reverse(f"admin:{COMPARE}")


def replay_url(conversation_id: uuid.UUID, turn_no: int | None = None) -> str:
    """Where a turn is run again, or every turn of a conversation."""
    if turn_no is None:
        return reverse(f"admin:{REPLAYS}", args=[conversation_id])
    return reverse(f"admin:{REPLAY}", args=[conversation_id, turn_no])
