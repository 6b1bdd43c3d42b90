"""Search results for people: one line per turn, with its intent and state, and marked words."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from audit.addresses import timeline_url, turn_url
from audit.record.model_calls import sum_call_costs
from audit.search.query import TextQuery
from audit.search.walk import TurnMatch
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.server.admin_site.record_columns import answer_text, badge_class
from convengine.server.sessions.models import CeConversationHistory

#: Maximum length of a text in a line, and of the part before the first marked word.
SHOWN, BEFORE = 160, 40
_COLUMNS = (
    *("history_id", "turn_no", "turn_id", "user_input", "assistant_output", "created_at", "status", "error_code"),
    *("intent_code", "state_code", "config_version", "duration_ms", "source", "conversation_id", "cost", "replayable"),
    *("conversation__channel", "conversation__remote_jid"),
)


class TurnLine(NamedTuple):
    turn: CeConversationHistory
    user_text: SafeString
    answered: SafeString
    #: The participant, on a channel that has some.
    participant: str
    #: The cost of its model calls; blank without a price.
    cost: str
    look: str
    #: Its page, and its position in the timeline.
    page: str
    timeline: str


def read_turns(matches: Iterable[TurnMatch]) -> list[CeConversationHistory]:
    """The records of matches, in order, with their conversations. One query."""
    numbers = [match.history_id for match in matches]
    turns = CeConversationHistory.objects.filter(pk__in=numbers).select_related("conversation").only(*_COLUMNS)
    by_number = {turn.pk: turn for turn in turns}
    return [by_number[number] for number in numbers if number in by_number]


def build_lines(matches: Sequence[TurnMatch], text_query: TextQuery | None) -> list[TurnLine]:
    """One line per match whose turn still exists. Two queries."""
    turns = read_turns(matches)
    spent = sum_call_costs(turns)
    return [_build_line(turn, spent.get(turn.turn_id), text_query) for turn in turns]


def _build_line(turn: Any, cost: Decimal | None, text_query: TextQuery | None) -> TurnLine:
    """The line of a turn with the words of `text_query` marked. Without `cost`, none of its model calls has a price."""
    conversation = turn.conversation
    return TurnLine(
        turn,
        mark_words(reveal_invisible(turn.user_input or ""), text_query),
        mark_words(reveal_invisible(answer_text(turn.assistant_output)), text_query),
        "" if conversation.channel == PLAIN_CHANNEL else reveal_invisible(conversation.remote_jid),
        "" if cost is None else f"{cost.normalize():f}",
        badge_class(turn.status),
        turn_url(turn.conversation_id, turn.turn_no),
        timeline_url(turn.conversation_id, turn.turn_no),
    )


def mark_words(text: str, text_query: TextQuery | None) -> SafeString:
    """The part of a text around the first wanted word, with all wanted words in it marked.

    The beginning of the text if it has none, or without `text_query`.
    """
    spans = list(text_query.find_spans(text)) if text_query else []
    if not spans:
        return format_html("{}", shorten_line(text, SHOWN))
    start = max(spans[0][0] - BEFORE, 0)
    end = start + SHOWN
    parts, last = [], start
    for first, behind in spans:
        if behind > end:
            break
        parts.append((text[last:first], text[first:behind]))
        last = behind
    marked_text = format_html_join("", "{}<mark>{}</mark>", parts)
    return format_html("{}{}{}{}", "…" * bool(start), marked_text, text[last:end], "…" * (len(text) > end))
