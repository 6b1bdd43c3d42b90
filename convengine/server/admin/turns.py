"""Turns on the page of a session, newest first, in pages."""

from typing import Any, NamedTuple

from django.db.models.fields.json import KeyTextTransform

from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.enums import MessageIntent
from convengine.server.admin_site.record_columns import answer_text, badge_class, row_link
from convengine.server.app_interfaces import DecidingRow, turn_reader
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: Turns per page.
SIZE = 50
_LARGE = ("recording", "trace_graph", "facts", "request_meta")
#: Maximum named deciding rows.
_NAMED = 6


class Line(NamedTuple):
    """One turn."""

    turn: CeConversationHistory
    said: str
    answered: str
    #: What the message meant to the session; blank if undecided.
    meant: str
    look: str
    #: Links to the deciding rows, and how many more there are.
    deciders: list[Any]
    more: int


class Turns(NamedTuple):
    """One page of turns."""

    lines: list[Line]
    #: The number where older turns begin; null if there are none.
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


def turns_of(row: CeConversation, before: str | None) -> Turns:
    """The turns before a number, or the newest. Two queries."""
    wanted = row.turns.order_by("-turn_no")
    is_older = bool(before and before.isascii() and before.isdecimal() and len(before) < 10)
    if is_older:
        wanted = wanted.filter(turn_no__lt=int(before or 0))
    meant = KeyTextTransform("message_intent", "facts")
    found = list(wanted.defer(*_LARGE).annotate(meant=meant)[: SIZE + 1])
    shown = found[:SIZE]
    deciders = turn_reader().list_deciding_rows([turn.turn_id for turn in shown])
    lines = [_build_line(turn, deciders.get(turn.turn_id, [])) for turn in shown]
    return Turns(lines, shown[-1].turn_no if len(found) > SIZE else None, is_older)


def _build_line(turn: Any, deciders: list[DecidingRow]) -> Line:
    links = [row_link(one.table, one.pk, f"{one.role.replace('_', ' ').lower()} {one.pk}") for one in deciders]
    meant = MessageIntent.read(turn.meant)
    return Line(
        turn,
        shorten_line(turn.user_input),
        shorten_line(answer_text(turn.assistant_output)),
        meant.label if meant else "",
        badge_class(turn.status),
        links[:_NAMED],
        max(len(links) - _NAMED, 0),
    )
