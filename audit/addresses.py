"""Addresses of the pages of turns."""

import uuid
from typing import Any

from django.http import HttpRequest
from django.urls import register_converter, reverse
from django.urls.converters import IntConverter
from django.utils.http import urlencode

from convengine.engine.text.whole_numbers import INTEGER, parse_whole_number
from convengine.server.admin_site.breadcrumbs import Crumb, set_breadcrumbs, set_conversation_breadcrumbs
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: The beginning of the routes of a turn.
OF_A_TURN = "<uuid:conversation_id>/turn/<turn:turn_no>/"


class TurnNumberConverter(IntConverter):
    """The number of a turn in an address. A number that no column accepts is that of a missing turn."""

    def to_python(self, value: str) -> int:
        """At most the largest number of a column."""
        return min(super().to_python(value), INTEGER)


register_converter(TurnNumberConverter, "turn")


def read_number(text: str) -> int | None:
    """A number in a query. Returns None for anything else, and for one that no column accepts."""
    return parse_whole_number(text, INTEGER)


def page_context(
    model_admin: Any,
    request: HttpRequest,
    page: str,
    conversation: CeConversation | uuid.UUID | None = None,
    turn_no: int | None = None,
) -> dict[str, Any]:
    opts = (CeConversation if turn_no is None else CeConversationHistory)._meta
    request.ce_place = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")  # type: ignore[attr-defined]
    if conversation is None:
        set_breadcrumbs(request, Crumb(page))
    else:
        set_conversation_breadcrumbs(request, conversation, turn_no, page)
    return {**model_admin.admin_site.each_context(request), "opts": opts}


def timeline_url(conversation_id: uuid.UUID, turn_no: int | None = None) -> str:
    address = reverse("admin:audit_ceaudit_timeline", args=[conversation_id])
    return f"{address}?turn={turn_no}#turn-{turn_no}" if turn_no else address


def turn_url(conversation_id: uuid.UUID, turn_no: int) -> str:
    return reverse("admin:audit_ceaudit_turn", args=[conversation_id, turn_no])


def row_url(conversation_id: uuid.UUID, turn_no: int, table: str, pk: Any) -> str:
    """A configuration row as it was in a turn, beside the present one."""
    query = urlencode({"table": table, "row": pk})
    return f"{reverse('admin:audit_ceaudit_row', args=[conversation_id, turn_no])}?{query}"


def compare_url(*picked: str) -> str:
    """The comparison of two turns (`conversation.number`)."""
    return f"{reverse('admin:audit_ceaudit_compare')}?{urlencode([('pick', pick) for pick in picked])}"


def between_url(conversation_id: uuid.UUID, turn_no: int, since: int) -> str:
    """The changes of the configuration between an earlier turn of a conversation and this one."""
    return f"{reverse('admin:audit_ceaudit_between', args=[conversation_id, turn_no])}?since={since}"
