"""How a turn came about, stored or played: its message, what happened in sentences, decisions and changes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from audit.narration import Fact, Sentence, narrate_turn
from audit.narration.decisions import DEFAULT_LIMIT, FULL_LIMIT, Decision, build_decisions
from audit.narration.reading import MessageReading, read_message_of_turn
from audit.narration.wording import name_rows
from audit.record.document import list_unstored_events
from audit.record.events import Event, expand_events
from audit.timeline.session_changes import Change, StepChanges, find_changes, group_by_step
from audit.timeline.turn_filter import TurnFilter
from convengine.engine.stages import family_of
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.releases import limit_to_channel
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.server.admin_site.record_columns import row_url
from convengine.server.interfaces.configuration import configuration

#: Finds the address of a row; blank for none.
FindUrl = Callable[[str, object], str]
_NO_FILTER = TurnFilter()


@dataclass(frozen=True)
class SentencePart:
    """A part of a sentence: words, or a fact with its link."""

    text: str
    url: str = ""
    is_name: bool = False
    #: The table and number of its row; blank for other words.
    row: str = ""


@dataclass(frozen=True)
class SentenceView:
    """A sentence of the page."""

    tone: str
    family: str
    pieces: Sequence[SentencePart]
    seqs: Sequence[int]
    conditions: Sequence[str]
    patterns: Sequence[str]


@dataclass(frozen=True)
class ExplainedTurn:
    """What pages show of how a turn came about."""

    #: How its message was read; None where no event says it.
    reading: MessageReading | None
    sentences: Sequence[SentenceView]
    #: Decisions with winners or tested rows, or all; of the others only their subjects.
    decisions: Sequence[Decision]
    empty_decisions: Sequence[str]
    changes: Sequence[StepChanges]


def explain_played_turn(turn: Turn) -> ExplainedTurn:
    """Explain a turn that is stored nowhere; rows have links to their present pages. No query."""
    events = list(expand_events(list_unstored_events(turn)))
    return explain_events(events, turn.request.message, turn.snapshot, row_url)


def find_release(events: Sequence[Event]) -> Snapshot | None:
    """The configuration of a stored turn, as its channel had it. Returns None if no event has it."""
    if not events:
        return None
    channels = (event.payload.get("channel") for event in events if event.name == USER_INPUT)
    channel = str(next(channels, None) or PLAIN_CHANNEL)
    return limit_to_channel(configuration().at(events[0].row.config_version or 0), channel)


def explain_events(
    events: Sequence[Event],
    message: str | None,
    snapshot: Snapshot | None,
    find_url: FindUrl,
    turn_filter: TurnFilter = _NO_FILTER,
    *,
    all_rows: bool = False,
) -> ExplainedTurn:
    """Explain a turn by its events. `snapshot` is its configuration; None without events."""
    limit = FULL_LIMIT if all_rows else DEFAULT_LIMIT
    made = build_decisions(events, snapshot, limit, is_untested_listed=all_rows) if snapshot else []
    decisions = [
        decision
        for decision in made
        if turn_filter.admits(decision.family, decision.title, *(row.about for row in decision.winners))
    ]
    shown = [decision for decision in decisions if all_rows or decision.winners or decision.tested]
    return ExplainedTurn(
        read_message_of_turn(events, message, snapshot),
        list(build_sentences(narrate_turn(events, snapshot), snapshot, find_url, turn_filter)),
        shown,
        list(dict.fromkeys(decision.title for decision in decisions if decision not in shown)),
        group_by_step(
            change for change in find_changes(events) if not turn_filter or _is_change_wanted(change, turn_filter)
        ),
    )


def build_sentences(
    sentences: Iterable[Sentence], snapshot: Snapshot | None, find_url: FindUrl, turn_filter: TurnFilter = _NO_FILTER
) -> Iterator[SentenceView]:
    """The sentences that the filter admits, with links."""
    for sentence in sentences:
        if turn_filter.admits(sentence.family, sentence.text, sentence.kind):
            pieces = [
                SentencePart(text) if isinstance(part, str) else _build_fact_part(part, text, find_url)
                for part, text in zip(sentence.parts, name_rows(sentence.parts, snapshot), strict=True)
            ]
            yield SentenceView(
                sentence.tone.value, sentence.family, pieces, sentence.seqs, sentence.conditions, sentence.patterns
            )


def _build_fact_part(fact: Fact, text: str, find_url: FindUrl) -> SentencePart:
    """A fact; a row has its table and number beside it."""
    url = "" if fact.row is None or fact.column else find_url(fact.row.table, fact.row.pk)
    if fact.row is None or not url or fact.row.table not in ROW_TYPE_OF:
        is_word = isinstance(fact.value, str) and fact.value.casefold() not in fact.text.casefold()
        return SentencePart(fact.text, url, fact.row is not None or not is_word or fact.text.startswith("“"))
    return SentencePart(text, url, True, f"{fact.row.table} {fact.row.pk}")


def _is_change_wanted(change: Change, turn_filter: TurnFilter) -> bool:
    event, difference, _ = change
    return turn_filter.admits(family_of(event.row.stage), difference.path_text, event.step or "", *difference.texts)
