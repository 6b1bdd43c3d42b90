"""How a turn came about, stored or played: its message, what happened in sentences, decisions and changes.

Why the phrases led to its intent, word by word, is computed on its configuration when somebody looks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.http import HttpRequest

from audit.narration import Fact, Sentence, narrate_turn
from audit.narration.decisions import DEFAULT_LIMIT, FULL_LIMIT, Decision, NarratedChoice, build_decisions, list_choices
from audit.narration.reading import MessageReading, read_message_of_turn
from audit.narration.wording import name_rows
from audit.record.document import list_unstored_events
from audit.record.events import Event, expand_events
from audit.timeline.session_changes import SessionChange, StepChanges, find_changes, group_by_step
from convengine.engine.forms.stages import FORM_LEAVE_ASKED
from convengine.engine.stages import family_of
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.steps.intents.stages import INTENT_RESOLVE_NEEDS_CLARIFICATION, INTENT_RESOLVED_BY_CLASSIFIER
from convengine.engine.steps.responses.stages import DIGRESSION_ANSWERED, NOT_UNDERSTOOD
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.releases import limit_to_channel
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.admin_site.phrase_account import PhraseAccount, build_phrase_account
from convengine.server.admin_site.record_columns import row_url
from convengine.server.interfaces.configuration import configuration

#: The labels of the parts of a turn.
_LABELS = {
    Family.FRAME: "Pipeline",
    Family.OPENING: "Start of the turn",
    Family.POLICY: "Policies",
    Family.DIALOGUE: "Dialogue act",
    Family.INTENT: "Intent",
    Family.DATA: "Forms and data",
    Family.ACTION: "Actions",
    Family.TOOL: "Tools",
    Family.RULE: "Rules",
    Family.RESPONSE: "Answer",
    Family.SESSION: "Session",
}
FAMILIES = [(family.value, _LABELS[family]) for family in Family]


@dataclass(frozen=True)
class TurnFilter:
    """The filter of a turn's page; empty fields match everything."""

    family: str = ""
    text: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """The filter of the query; an unknown family is ignored."""
        family = request.GET.get("family", "")
        return cls(family if family in dict(FAMILIES) else "", request.GET.get("q", "").strip())

    def __bool__(self) -> bool:
        return bool(self.family or self.text)

    def admits(self, family: str, *texts: str) -> bool:
        has = not self.text or any(self.text.casefold() in text.casefold() for text in texts)
        return has and self.family in ("", family)


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


def _is_change_wanted(change: SessionChange, turn_filter: TurnFilter) -> bool:
    event, difference, _ = change
    return turn_filter.admits(family_of(event.row.stage), difference.path_text, event.step or "", *difference.texts)


#: The events after which a message is still to be understood.
_OPEN = (NOT_UNDERSTOOD, INTENT_RESOLVE_NEEDS_CLARIFICATION)
#: The events that name the intent for which a message was taken, and the key of the intent.
_TAKEN_FOR: Mapping[str, str] = {
    DIGRESSION_ANSWERED: "intent",
    FORM_LEAVE_ASKED: "intent",
    INTENT_RESOLVED_BY_CLASSIFIER: "resolvedIntent",
}


def has_compared_phrases(events: Sequence[Event]) -> bool:
    return bool(_list_compared(events))


def build_phrase_accounts(events: Sequence[Event], snapshot: Snapshot) -> list[PhraseAccount]:
    """The accounts of the texts that a turn compared with phrases; `snapshot` is its configuration."""
    is_open = any(event.name in _OPEN for event in events)
    taken_for = {str(event.payload.get(_TAKEN_FOR[event.name])) for event in events if event.name in _TAKEN_FOR}
    return [
        build_phrase_account(snapshot, **compared, taken_for=None if is_open else taken_for)
        for compared in list_compared_texts(events, snapshot)
    ]


def list_compared_texts(events: Sequence[Event], snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """What a turn compared with phrases, each once: as `build_phrase_account` takes it."""
    seen = set()
    for choice in _list_compared(events):
        key, state = choice.payload["key"], choice.event.state
        interrupting = bool(key.get("interrupting"))
        text = key.get("userText") or state.get("standaloneQuery" if key.get("queryRewritten") else "userText")
        if isinstance(text, str) and (text, interrupting) not in seen:
            seen.add((text, interrupting))
            yield {
                "text": text,
                "interrupting": interrupting,
                "own": snapshot.list_questions_beside(state.get("intent")),
                "recorded": _read_confidences(choice),
            }


def _list_compared(events: Sequence[Event]) -> list[NarratedChoice]:
    classified = (choice for choice in list_choices(events) if choice.kind == DecisionKind.CLASSIFIER)
    return [choice for choice in classified if "phrases" in choice.payload["key"]]


def _read_confidences(choice: NarratedChoice) -> Mapping[Json, float] | None:
    """The recorded confidences by phrase. Returns None if they were masked."""
    recorded: dict[Json, float] = {}
    for candidate in choice.payload.get("candidates") or ():
        for operand in candidate.get("operands") or ():
            score = operand.get("score", 0.0) if isinstance(operand, Mapping) else None
            if not isinstance(score, (int, float)):
                return None
            if "score" in operand:
                recorded[candidate["id"]] = score
    return recorded
