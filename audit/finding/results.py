"""What was found, for people: a line for each turn, with where it stands and what is marked in it."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Sum
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from audit.finding.walk import Match
from audit.finding.words import Wanted
from audit.models import CeLlmCallLog
from audit.pages.addresses import timeline_url, turn_url
from convengine.record_columns import look_of, shortened, spoken
from convengine.sessions.models import CeConversationHistory

#: Characters of a text in a line, and of them in front of the first word that is marked.
SHOWN, BEFORE = 160, 40
_COLUMNS = (
    *("history_id", "turn_no", "turn_id", "user_input", "assistant_output", "created_at", "status", "error_code"),
    *("intent_code", "state_code", "config_version", "duration_ms", "source", "conversation_id"),
    *("conversation__channel", "conversation__remote_jid"),
)


class Line(NamedTuple):
    """One turn."""

    turn: CeConversationHistory
    said: SafeString
    answered: SafeString
    #: Who wrote, on a channel that has participants.
    participant: str
    #: What its model calls cost; blank where none has a price.
    cost: str
    look: str
    #: Its page, and its place in the timeline of its conversation.
    page: str
    timeline: str


def turns_of(matches: Iterable[Match]) -> list[CeConversationHistory]:
    """The records of matches, in their order, with their conversations. One query."""
    numbers = [match.history_id for match in matches]
    found = CeConversationHistory.objects.filter(pk__in=numbers).select_related("conversation").only(*_COLUMNS)
    by_number = {turn.pk: turn for turn in found}
    return [by_number[number] for number in numbers if number in by_number]


def lines(matches: Sequence[Match], wanted: Wanted | None) -> list[Line]:
    """A line for each. Two queries."""
    turns = turns_of(matches)
    spent = costs(turns)
    return [_line(turn, spent.get(turn.turn_id), wanted) for turn in turns]


def costs(turns: Sequence[CeConversationHistory]) -> dict[UUID, Decimal]:
    """What the model calls of each turn have cost, where they have a price. One query."""
    calls = CeLlmCallLog.objects.filter(
        conversation_id__in={turn.conversation_id for turn in turns},
        turn_no__in={turn.turn_no for turn in turns},
        turn_id__in=[turn.turn_id for turn in turns],
        cost__isnull=False,
    )
    return dict(calls.values_list("turn_id").annotate(Sum("cost")))


def _line(turn: Any, cost: Decimal | None, wanted: Wanted | None) -> Line:
    talks = turn.conversation
    return Line(
        turn,
        marked(turn.user_input or "", wanted),
        marked(spoken(turn.assistant_output), wanted),
        "" if talks.channel == "api" else talks.remote_jid,
        "" if cost is None else f"{cost.normalize():f}",
        look_of(turn.status),
        turn_url(turn.conversation_id, turn.turn_no),
        timeline_url(turn.conversation_id, turn.turn_no),
    )


def marked(text: str, wanted: Wanted | None) -> SafeString:
    """The part of a text with the first of the wanted words, all of them marked; else its beginning."""
    places = list(wanted.places(text)) if wanted else []
    if not places:
        return format_html("{}", shortened(text, SHOWN))
    start = max(places[0][0] - BEFORE, 0)
    end = start + SHOWN
    parts, last = [], start
    for first, behind in places:
        if behind > end:
            break
        parts.append((text[last:first], text[first:behind]))
        last = behind
    told = format_html_join("", "{}<mark>{}</mark>", parts)
    return format_html("{}{}{}{}", "…" * bool(start), told, text[last:end], "…" * (len(text) > end))
