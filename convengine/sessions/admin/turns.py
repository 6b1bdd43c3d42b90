"""Some turns of a session as its page shows them, newest first, with where the older ones begin."""

from typing import Any, NamedTuple

from django.db.models.fields.json import KeyTextTransform

from convengine import conf
from convengine.domain.enums import MessageIntent
from convengine.record_columns import look_of, row_link, shortened, spoken
from convengine.sessions.models import CeConversation, CeConversationHistory

#: How many turns one look shows.
SIZE = 50
_LARGE = ("recording", "trace_graph", "facts", "request_meta")
#: Rows that decided a turn, of which so many are named.
_NAMED = 6


class Line(NamedTuple):
    """One turn."""

    turn: CeConversationHistory
    said: str
    answered: str
    #: What the message meant to the session; blank where that was not decided.
    meant: str
    look: str
    #: Links to the rows that decided it, and how many more there are.
    deciders: list[Any]
    more: int


class Turns(NamedTuple):
    """One look at the turns."""

    lines: list[Line]
    #: The number behind which older ones begin; null when there are none.
    older: int | None
    #: True when newer ones were left out.
    is_older: bool

    @property
    def first(self) -> int:
        """The number of the oldest turn shown; the first there is when all are."""
        return self.lines[-1].turn.turn_no if self.older else 0

    @property
    def last(self) -> int:
        """The number of the newest turn shown; beyond all when that is the newest there is."""
        return self.lines[0].turn.turn_no if self.is_older and self.lines else 2**31 - 1


def turns_of(row: CeConversation, before: str | None) -> Turns:
    """The turns in front of a number, or the newest. Two queries, however many there are."""
    wanted = row.turns.order_by("-turn_no")
    is_older = bool(before and before.isascii() and before.isdecimal() and len(before) < 10)
    if is_older:
        wanted = wanted.filter(turn_no__lt=int(before or 0))
    meant = KeyTextTransform("message_intent", "facts")
    found = list(wanted.defer(*_LARGE).annotate(meant=meant)[: SIZE + 1])
    shown = found[:SIZE]
    deciders = conf.load("SESSION_TRAIL").deciders([turn.turn_id for turn in shown])
    lines = [_line(turn, deciders.get(turn.turn_id, [])) for turn in shown]
    return Turns(lines, shown[-1].turn_no if len(found) > SIZE else None, is_older)


def _line(turn: Any, deciders: list[Any]) -> Line:
    links = [row_link(one.table, one.pk, f"{one.role.replace('_', ' ').lower()} {one.pk}") for one in deciders]
    meant = MessageIntent.read(turn.meant)
    return Line(
        turn,
        shortened(turn.user_input),
        shortened(spoken(turn.assistant_output)),
        meant.label if meant else "",
        look_of(turn.status),
        links[:_NAMED],
        max(len(links) - _NAMED, 0),
    )
