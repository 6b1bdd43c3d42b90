"""The list of sessions, and the page of one: its lifecycle, memory, turns and neighbours."""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.dateparse import parse_datetime
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from convengine.engine.text.compare import shorten_line
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.text.whole_numbers import INTEGER, parse_whole_number
from convengine.engine.threads.lifecycle import NEW_TASK
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import MessageIntent
from convengine.engine.turn.labels import lifecycle_label
from convengine.server.admin import session_memory
from convengine.server.admin_site.breadcrumbs import set_conversation_breadcrumbs
from convengine.server.admin_site.read_only import BEFORE, ByConversation
from convengine.server.admin_site.record_columns import (
    STATUS_BADGES,
    answer_text,
    badge_class,
    badge_column,
    code_column,
    current_redaction,
    render_json,
    row_links,
    status_badge,
    value_column,
)
from convengine.server.interfaces.turn_reader import DecidingRow, turn_reader
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeThread
from convengine.server.sessions.participants import find_participants

#: Turns per page.
SIZE = 50
#: Maximum named deciding rows.
_NAMED = 6


class TurnSummary(NamedTuple):
    turn: CeConversationHistory
    user_text: str
    answered: str
    #: What the message meant to the session; blank if undecided.
    meant: str
    look: str
    #: Links to the deciding rows, and how many more there are.
    deciders: list[Any]
    more: int


class Turns(NamedTuple):
    lines: list[TurnSummary]
    #: The number where older turns begin; None if there are none.
    older: int | None
    #: True when this is not the newest page.
    is_older: bool

    @property
    def first(self) -> int:
        """The number of the oldest turn shown; 1 if there are no older ones."""
        return self.lines[-1].turn.turn_no if self.older else 0

    @property
    def last(self) -> int:
        """The number of the newest turn shown; beyond all on the newest page."""
        return self.lines[0].turn.turn_no if self.is_older and self.lines else 2**31 - 1


def list_turns(row: CeConversation, before: str | None) -> Turns:
    """The turns before a number, or the newest. Two queries."""
    wanted = row.turns.order_by("-turn_no")
    number = parse_whole_number(before or "", INTEGER)
    is_older = number is not None
    if is_older:
        wanted = wanted.filter(turn_no__lt=number)
    meant = KeyTextTransform("message_intent", "facts")
    fetched = list(wanted.defer("facts").annotate(meant=meant)[: SIZE + 1])
    shown = fetched[:SIZE]
    deciders = turn_reader().list_deciding_rows([turn.turn_id for turn in shown])
    lines = [_build_line(turn, deciders.get(turn.turn_id, [])) for turn in shown]
    return Turns(lines, shown[-1].turn_no if len(fetched) > SIZE else None, is_older)


def _build_line(turn: Any, deciders: list[DecidingRow]) -> TurnSummary:
    links = row_links((row.table, row.pk) for row in deciders[:_NAMED])
    meant = MessageIntent.read(turn.meant)
    return TurnSummary(
        turn,
        shorten_line(turn.user_input),
        shorten_line(answer_text(turn.assistant_output)),
        meant.label if meant else "",
        badge_class(turn.status),
        links,
        max(len(deciders) - _NAMED, 0),
    )


#: Maximum number of lifecycle changes, and of following sessions, on the page.
MOVES, NEXT = 12, 5


class State(NamedTuple):
    """One lifecycle state in the line."""

    name: str
    look: str
    at: datetime
    reason: str
    turn_no: int


@admin.register(CeConversation)
class ConversationAdmin(ByConversation):
    """Conversations, most recently changed first."""

    list_display = ("conversation", "participant", "stands", "intent", "state", "last_turn", "channel", "last_change")
    search_help_text = "Conversation ID, or part of a participant's name or number"
    list_filter = (("status", ChoicesDropdownFilter),)
    ordering = ("-updated_at", "-conversation_id")
    conversation = value_column("conversation_id", "conversation")
    intent = code_column("intent_code", "intent")
    state = code_column("state_code", "state")
    last_turn = value_column("last_turn_no", "last turn")
    last_change = value_column("updated_at", "last change")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The conversation of this id; else those of the participants with these parts in their names."""
        by_id, distinct = super().get_search_results(request, queryset, search_term)
        if not search_term.strip() or by_id.exists():
            return by_id, distinct
        return queryset.exclude(channel=PLAIN_CHANNEL).filter(remote_jid__in=find_participants(search_term)), False

    @admin.display(description="participant")
    def participant(self, row: CeConversation) -> str:
        """Who writes on the channel; nobody is known on the plain turn API."""
        return "-" if row.channel == PLAIN_CHANNEL else reveal_invisible(row.remote_jid)

    @badge_column(STATUS_BADGES, "status")
    def stands(self, row: CeConversation) -> tuple[str, str]:
        """The engine's status if it blocks, else the lifecycle."""
        return status_badge(row.status if row.status == "BLOCKED" else row.lifecycle)

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The page of a session. Its cost does not depend on the length of the session."""
        row = self.get_object(request, object_id)
        if row is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        set_conversation_breadcrumbs(request, row, page="Session")
        turns = list_turns(row, request.GET.get(BEFORE))
        line = _list_lifecycle_states(row, turns)
        units = session_memory.list_units(row)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Conversation {row.pk}",
            "opts": self.opts,
            "row": row,
            "lifecycle": lifecycle_label(row.lifecycle),
            "look": badge_class(row.lifecycle),
            "thread": _thread(row),
            "next_sessions": list(row.next_sessions.order_by("created_at", "pk")[:NEXT]),
            "line": line[-MOVES:],
            "left_out": max(len(line) - MOVES, 0),
            "summary": session_memory.list_summary(row),
            "preferences": session_memory.list_preferences(row),
            "units": units[: session_memory.UNITS],
            "more_units": len(units) > session_memory.UNITS,
            "turns": turns,
            "lease": row.lease_info if row.lease_token else None,
            "documents": _documents(row),
        }
        return TemplateResponse(request, "convengine/session.html", context)


def _list_lifecycle_states(row: CeConversation, turns: Turns) -> list[State]:
    """The lifecycle states during the shown turns, in order."""
    moves = turn_reader().list_moves(row.pk, turns.first, turns.last)
    # A turn that goes on in a new session takes its events along; only those of the old session count.
    starts = [index for index, move in enumerate(moves) if move.turn_no == 1 and move.reason == NEW_TASK]
    states = [
        State(lifecycle_label(move.end), badge_class(move.end), move.at, move.reason, move.turn_no)
        for move in moves[max(starts, default=-1) + 1 :]
    ]
    if not turns.first:
        states.insert(0, State(lifecycle_label("RUNNING"), badge_class("RUNNING"), row.created_at, "begun", 1))
    if not turns.is_older and (not states or states[-1].name != lifecycle_label(row.lifecycle)):
        # The row tells about the session that was left.
        reason = str(row.lifecycle_detail.get("reason", ""))
        at = parse_datetime(str(row.lifecycle_detail.get("at", ""))) or row.updated_at
        states.append(State(lifecycle_label(row.lifecycle), badge_class(row.lifecycle), at, reason, row.last_turn_no))
    return states


def _thread(row: CeConversation) -> CeThread | None:
    """The thread with a page; a conversation of the plain turn API has none."""
    if row.channel == PLAIN_CHANNEL:
        return None
    return CeThread.objects.filter(
        workspace_id=row.workspace_id, channel=row.channel, remote_jid=row.remote_jid
    ).first()


def _documents(row: CeConversation) -> list[tuple[str, Any]]:
    """What the next turn starts from, masked as in events."""
    rules = current_redaction()
    return [
        ("Context", render_json(rules.document(row.context_json))),
        ("Persistent parameters", render_json(rules.document(row.input_params_json))),
        ("Details of the lifecycle", render_json(rules.document(row.lifecycle_detail))),
    ]
