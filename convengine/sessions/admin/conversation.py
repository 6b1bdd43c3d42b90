"""Sessions: their list, and the page of one: where it stood and when, what it keeps, its turns, its neighbours."""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.dateparse import parse_datetime
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from convengine import conf
from convengine.breadcrumbs import leads_by_conversation
from convengine.continuity import new_task
from convengine.domain.enums import Lifecycle
from convengine.read_only import BEFORE, ByConversation
from convengine.record_columns import STATUS_LOOKS, as_json, labelled, look_of, status
from convengine.sessions.admin import keeping
from convengine.sessions.admin.masking import masks
from convengine.sessions.admin.turns import Turns, turns_of
from convengine.sessions.models import CeConversation, CeThread

#: How many moves the line of states shows, and how many sessions that follow one.
MOVES, NEXT = 12, 5
#: The channel of conversations that have no thread but themselves.
_PLAIN = "api"


class State(NamedTuple):
    """One state in the line."""

    name: str
    look: str
    at: datetime
    reason: str
    turn_no: int


@admin.register(CeConversation)
class ConversationAdmin(ByConversation):
    """Conversations, the last changed first."""

    list_display = ("conversation_id", "stands", "intent_code", "state_code", "last_turn_no", "channel", "updated_at")
    list_filter = (("status", ChoicesDropdownFilter),)
    ordering = ("-updated_at", "-conversation_id")

    @labelled(STATUS_LOOKS, "status")
    def stands(self, row: CeConversation) -> tuple[str, str]:
        """The engine's status where it blocks, else the lifecycle, which says more."""
        return status(row.status if row.status == "BLOCKED" else row.lifecycle)

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The page of a session. It costs the same however long the session is."""
        row = self.get_object(request, object_id)
        if row is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return self._page(request, row)

    def _page(self, request: HttpRequest, row: CeConversation) -> HttpResponse:
        leads_by_conversation(request, row, page="Session")
        turns = turns_of(row, request.GET.get(BEFORE))
        line = _line(row, turns)
        units = keeping.units(row)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Conversation {row.pk}",
            "opts": self.opts,
            "row": row,
            "lifecycle": _label(row.lifecycle),
            "look": look_of(row.lifecycle),
            "thread": _thread(row),
            "next_sessions": list(row.next_sessions.order_by("created_at", "pk")[:NEXT]),
            "line": line[-MOVES:],
            "left_out": max(len(line) - MOVES, 0),
            "summary": keeping.summary(row),
            "preferences": keeping.preferences(row),
            "units": units[: keeping.UNITS],
            "more_units": len(units) > keeping.UNITS,
            "turns": turns,
            "lease": row.lease_info if row.lease_token else None,
            "documents": _documents(row),
        }
        return TemplateResponse(request, "convengine/session.html", context)


def _line(row: CeConversation, turns: Turns) -> list[State]:
    """The states that the session was in during the turns shown, in their order."""
    moves = conf.load("SESSION_TRAIL").moves(row.pk, turns.first, turns.last)
    # A turn that goes on in a new session takes its events along: of its moves, those of the session that it left.
    left = [place for place, one in enumerate(moves) if one.turn_no == 1 and one.reason == new_task.REASON]
    found = [
        State(_label(one.end), look_of(one.end), one.at, one.reason, one.turn_no) for one in moves[_behind(left) :]
    ]
    if not turns.first:
        found.insert(0, State(_label("RUNNING"), look_of("RUNNING"), row.created_at, "begun", 1))
    if not turns.is_older and (not found or found[-1].name != _label(row.lifecycle)):
        # And the session that was left is told of by its row.
        reason = str(row.lifecycle_detail.get("reason", ""))
        at = parse_datetime(str(row.lifecycle_detail.get("at", ""))) or row.updated_at
        found.append(State(_label(row.lifecycle), look_of(row.lifecycle), at, reason, row.last_turn_no))
    return found


def _behind(places: list[int]) -> int:
    return places[-1] + 1 if places else 0


def _label(word: str) -> str:
    found = Lifecycle.read(word)
    return found.label if found else word


def _thread(row: CeConversation) -> CeThread | None:
    """The thread with a page of its own; a conversation of the plain turn API has none."""
    if row.channel == _PLAIN:
        return None
    return CeThread.objects.filter(
        workspace_id=row.workspace_id, channel=row.channel, remote_jid=row.remote_jid
    ).first()


def _documents(row: CeConversation) -> list[tuple[str, Any]]:
    """What the next turn starts from; masked, as in events."""
    rules = masks()
    return [
        ("Context", as_json(rules.document(row.context_json))),
        ("Input params that persist", as_json(rules.document(row.input_params_json))),
        ("What the lifecycle carries", as_json(rules.document(row.lifecycle_detail))),
    ]
