"""How the message of a turn was read: its words with what they are, its moves, and why each value was taken or not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from operator import itemgetter

from audit.narration.phrases import find_phrase
from audit.narration.wording import excerpt_value
from audit.record.events import Event
from convengine.engine.forms.form import Field, Form, get_form
from convengine.engine.forms.session_form import find_value
from convengine.engine.forms.stages import FIELD_OPTIONS, FIELDS_READ, MESSAGE_UNDERSTOOD
from convengine.engine.redaction import MASK
from convengine.engine.steps.intents.stages import INTENT_RESOLVED_BY_AGENT, INTENT_RESOLVED_BY_CLASSIFIER
from convengine.engine.steps.responses.stages import DIGRESSION_ANSWERED
from convengine.engine.turn import rows
from convengine.engine.turn.field_options import write_options
from convengine.engine.turn.labels import format_confidence
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.free_text import TEXT
from convengine.engine.understanding.phrases.terms import detect_languages
from convengine.engine.understanding.say import say_value
from convengine.engine.understanding.sentences import ASKS, LearnedPart, find_nearest
from convengine.engine.understanding.span import RefusalReason, list_sorts
from convengine.json_value import Json

#: Cues that only stand beside what matters.
_SMALL = frozenset({"filler", "courtesy", "joint", "label_joint", "lead_in", "lead_out", "range"})
#: The events of an intent that took the message.
_TAKEN_BY_INTENT = (DIGRESSION_ANSWERED, INTENT_RESOLVED_BY_AGENT, INTENT_RESOLVED_BY_CLASSIFIER)
#: Moves of whole clauses, whose words are marked one by one.
_CLAUSE_MOVES = frozenset({"ASK"})


class Role(StrEnum):
    """What a part of a message is."""

    TAKEN = "TAKEN"
    OFFERED = "OFFERED"
    REFUSED = "REFUSED"
    #: A value that is not meant, as its clause says.
    PASSED_OVER = "PASSED_OVER"
    NAMED = "NAMED"
    CUE = "CUE"
    SMALL = "SMALL"
    UNEXPLAINED = "UNEXPLAINED"
    #: What the question, or the intent that it began, explains.
    PLAIN = "PLAIN"

    @property
    def label(self) -> str:
        """What the legend says."""
        return find_phrase("role", self.value)


@dataclass(frozen=True)
class MessagePart:
    text: str
    role: Role
    start: int
    end: int
    #: The title of the field, or what a cue says; blank for other parts.
    label: str = ""
    #: Of a part that nothing explains, the field for which it may be a value: the one that refused it, else the asked.
    field: Field | None = None


@dataclass(frozen=True)
class ValueRead:
    """What became of a value, and why."""

    role: Role
    #: The path of the field, and its title.
    field: str
    title: str
    #: The words of the message; blank where no words are known.
    text: str
    #: The value as people say it; blank for a refused one.
    value: str
    #: Why, in sentences.
    reason: str


@dataclass(frozen=True)
class MessageReading:
    parts: Sequence[MessagePart]
    #: What the message wants, in words: "yes", "a correction".
    moves: Sequence[str] = ()
    #: Some of the moves are learned from sentences, so a phrase of an intent would decide otherwise.
    has_learned_moves: bool = False
    values: Sequence[ValueRead] = ()
    #: The form into which it was read. None if it was read into no form.
    schema_id: int | None = None
    #: Words that nothing explains, also those within a refused value.
    unknown_words: Sequence[MessagePart] = ()

    @property
    def legend(self) -> list[Role]:
        roles = {part.role for part in self.parts}
        return [role for role in Role if role in roles and role is not Role.PLAIN]


@dataclass(frozen=True)
class _MessageEvents:
    """What the events of a turn say of its message."""

    understood: Mapping[str, Json]
    #: An intent took the message, and its words with it.
    is_taken: bool = False
    #: Of the events FIELDS_READ, the latest first.
    positions: Sequence[Mapping[str, Json]] = ()
    unexplained: Sequence[Sequence[int]] = ()
    form: Form | None = None
    schema_id: int | None = None
    asked_path: str = ""
    #: The stored and the offered values by field.
    values: Mapping[str, Json] = field(default_factory=dict)


def read_message_of_turn(events: Sequence[Event], text: str | None, snapshot: Snapshot | None) -> MessageReading | None:
    """How the message of a turn was read. Without `snapshot`, the release of the turn, fields are named by their paths.

    Returns None where no event says it, and where the text is not the one that was read: it was erased or has masks, so
    the positions are those of another text.
    """
    recorded = _collect(events, snapshot)
    if recorded is None or not text or MASK in text or recorded.understood.get("size") != len(text):
        return None
    unknown_words = list(_list_unknown_words(recorded, text))
    parts = list(_split(text, [*_list_marks(recorded), *unknown_words]))
    moves, doubtful = list_moves(recorded.understood)
    described = dict.fromkeys(
        (
            *(_describe_move(move, text) for move in moves),
            *(f"perhaps {_describe_move(move, text)}" for move in doubtful),
        )
    )
    has_learned = any(isinstance(move.get("probability"), float) for move in (*moves, *doubtful))
    given = [item for item in recorded.positions if item["is"] != Role.NAMED]
    all_values = sorted([*given, *_list_passed_over(recorded)], key=itemgetter("start"))
    values = [_describe_value(recorded, text, item) for item in all_values]
    return MessageReading(parts, list(described), has_learned, values, recorded.schema_id, unknown_words)


def get_form_of_turn(snapshot: Snapshot, row: rows.OutputSchema, events: Iterable[Event]) -> Form:
    """The form of a schema row, with the options that data gave it in the turn."""
    form = get_form(snapshot, row)
    recorded = [event.payload.get("options") for event in events if event.name == FIELD_OPTIONS]
    # A mask may have replaced them.
    listed = [item for each in recorded if isinstance(each, Mapping) for item in each.items()]
    given = {path: options for path, options in listed if isinstance(options, list)}
    return Form(write_options(form.schema, given)) if form.option_sources and given else form


def _collect(events: Sequence[Event], snapshot: Snapshot | None) -> _MessageEvents | None:
    """What the events say of the message; without `snapshot`, no form. Returns None if none says how it was read."""
    understood = next((event.payload for event in events if event.name == MESSAGE_UNDERSTOOD), None)
    if understood is None:
        return None
    is_taken = any(event.name in _TAKEN_BY_INTENT for event in events)
    read = [event for event in reversed(events) if event.name == FIELDS_READ and "positions" in event.payload]
    if not read:
        return _MessageEvents(understood, is_taken)
    latest = read[0].payload
    row = snapshot.row(rows.OutputSchema, latest.get("schemaId")) if snapshot else None
    return _MessageEvents(
        understood,
        is_taken,
        list(_list_positions(read)),
        latest.get("unexplained") or (),
        get_form_of_turn(snapshot, row, events) if snapshot and row else None,
        latest.get("schemaId"),
        latest.get("asked") or "",
        {path: value for event in reversed(read) for path, value in _list_values(event)},
    )


def _list_items(payload: Mapping[str, Json], key: str) -> Iterator[Mapping[str, Json]]:
    """The items under a key that have a position. A mask may have replaced it; those are left out."""
    for item in payload.get(key) or ():
        if isinstance(item, Mapping) and isinstance(item.get("start"), int) and isinstance(item.get("end"), int):
            yield item


def list_moves(understood: Mapping[str, Json]) -> tuple[list[Mapping[str, Json]], list[Mapping[str, Json]]]:
    """The moves that are sure enough, and those of other kinds that are not."""
    doubts = list(_list_items(understood, "doubtfulMoves"))
    moves = [move for move in _list_items(understood, "moves") if move not in doubts]
    known = {move["move"] for move in moves}
    return moves, [move for move in doubts if move["move"] not in known]


def _list_positions(read: Iterable[Event]) -> Iterator[Mapping[str, Json]]:
    """What became of parts of the message, without values that the turn did not refuse, such as those of a question."""
    for event in read:
        refused = {item["field"] for item in event.payload.get("refused") or () if isinstance(item, Mapping)}
        for item in _list_items(event.payload, "positions"):
            if item["is"] != Role.REFUSED or item["field"] in refused:
                yield item


def _describe_move(move: Mapping[str, Json], text: str) -> str:
    """A move in words; of a learned one also how likely it is, how likely it must be, and the most similar sentence."""
    name, probability = find_phrase("move", move["move"]), move.get("probability")
    if not isinstance(probability, float):
        return name
    subject, class_name = (
        (LearnedPart.ASKS, ASKS) if move["move"] in _CLAUSE_MOVES else (LearnedPart.MOVES, move["move"])
    )
    languages = [language.tables.name for language in detect_languages(text)]
    nearest = find_nearest(subject, text[move["start"] : move["end"]], class_name, languages)
    needed = f"{format_confidence(move['needed'])} is needed; " if "needed" in move else ""
    return f"{name} ({format_confidence(probability)}; {needed}as in “{nearest}”)"


def _list_values(event: Event) -> Iterator[tuple[str, Json]]:
    """The values that the form has after the message, and those that are offered."""
    context, offered = event.state.get("context"), event.payload.get("offered")
    for item in _list_items(event.payload, "positions"):
        if item["is"] == Role.TAKEN and isinstance(context, Mapping):
            yield item["field"], find_value(context, item["field"])
    yield from offered.items() if isinstance(offered, Mapping) else ()


def _list_marks(recorded: _MessageEvents) -> Iterator[MessagePart]:
    """The marks without their texts. Of those that overlap, the first counts."""
    for item in (*recorded.positions, *_list_passed_over(recorded)):
        yield MessagePart("", Role(item["is"]), item["start"], item["end"], _find_title(recorded, item["field"]))
    for move in _list_items(recorded.understood, "moves"):
        if move["move"] not in _CLAUSE_MOVES:
            yield MessagePart("", Role.CUE, move["start"], move["end"], find_phrase("move", move["move"]))
    for cue in _list_items(recorded.understood, "cues"):
        is_small = cue["cue"] in _SMALL
        label = "" if is_small else find_phrase("cue", cue["cue"])
        yield MessagePart("", Role.SMALL if is_small else Role.CUE, cue["start"], cue["end"], label)


def _list_passed_over(recorded: _MessageEvents) -> Iterator[Mapping[str, Json]]:
    """Values of sorts that fields of the form take, in clauses that deny, or tell of others or of another time."""
    for span in _list_items(recorded.understood, "spans"):
        leaves = recorded.form.leaves if recorded.form and span.get("clause") else ()
        taking = [leaf.path for leaf in leaves if span["sort"] in list_sorts(leaf.spec)]
        overlapping = (
            each for each in recorded.positions if span["start"] < each["end"] and each["start"] < span["end"]
        )
        if taking and next(overlapping, None) is None:
            path = recorded.asked_path if recorded.asked_path in taking else taking[0]
            yield {**span, "field": path, "is": Role.PASSED_OVER, "why": span["clause"]}


def _list_unknown_words(recorded: _MessageEvents, text: str) -> Iterator[MessagePart]:
    """The words that nothing explains, neighbours as one part, with the field that refused them, else the asked one.

    If an intent took the message, only refused words are left.
    """
    joined: list[list[int]] = []
    for start, end in recorded.unexplained:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1][1] = end
        else:
            joined.append([start, end])
    for start, end in joined:
        refusing = (
            item["field"]
            for item in recorded.positions
            if item["is"] == Role.REFUSED and item["start"] <= start and end <= item["end"]
        )
        path = next(refusing, "" if recorded.is_taken else recorded.asked_path)
        if path or not recorded.is_taken:
            yield MessagePart(text[start:end], Role.UNEXPLAINED, start, end, field=_find_field(recorded, path))


def _split(text: str, marks: Sequence[MessagePart]) -> Iterator[MessagePart]:
    """The whole text in parts, the marked ones and those between.

    Left out are marks that overlap an earlier one, reach behind the text, or mark only signs as small words.
    """
    chosen: list[MessagePart] = []
    for mark in marks:
        is_free = all(mark.end <= other.start or other.end <= mark.start for other in chosen)
        is_sign = mark.role is Role.SMALL and not any(map(str.isalnum, text[mark.start : mark.end]))
        if is_free and not is_sign and mark.start < mark.end <= len(text):
            chosen.append(mark)
    edges = sorted({0, len(text), *(mark.start for mark in chosen), *(mark.end for mark in chosen)})
    by_start = {mark.start: mark for mark in chosen}
    for start, end in pairwise(edges):
        plain = MessagePart("", Role.PLAIN, start, end)
        yield replace(by_start.get(start, plain), text=text[start:end])


def _find_field(recorded: _MessageEvents, path: str) -> Field | None:
    return recorded.form.field(path) if recorded.form else None


def _find_title(recorded: _MessageEvents, path: str) -> str:
    form_field = _find_field(recorded, path)
    return form_field.spec.title if form_field else path


def _describe_value(recorded: _MessageEvents, text: str, item: Mapping[str, Json]) -> ValueRead:
    """What became of the value at a position of the message. Its reason names the bounds that it is outside of."""
    role, path, why = Role(item["is"]), item["field"], item.get("why")
    value = None if role in (Role.REFUSED, Role.PASSED_OVER) else recorded.values.get(path)
    form_field = _find_field(recorded, path)
    shown = say_value(form_field.spec, value) if form_field and value not in (None, MASK) else excerpt_value(value)
    words = text[item["start"] : item["end"]].rstrip(" ,;")
    if role is Role.TAKEN and why == TEXT and words.strip() != text.strip():
        why = "PART"
    reason = find_phrase(role.value.lower(), why)
    if form_field and role is Role.REFUSED and (bounds := _list_bounds(form_field.spec, why)):
        reason = f"{reason}: {' and '.join(bounds)}"
    return ValueRead(role, path, _find_title(recorded, path), words, shown, _write_reason(reason, item))


def _list_bounds(spec: FieldSpec, reason: Json) -> list[str]:
    """The bounds of a field that refused a value as outside of them: "at least 1", "at most 8"."""
    if reason != RefusalReason.OUT_OF_BOUNDS:
        return []
    named = {"at least": spec.minimum, "more than": spec.above, "at most": spec.maximum, "less than": spec.below}
    return [f"{words} {say_value(spec, bound)}" for words, bound in named.items() if bound is not None]


def _write_reason(reason: str, item: Mapping[str, Json]) -> str:
    """The reason as a sentence, with further ones for what was assumed and for a corrected typing error."""
    assumed = [find_phrase("assumed", part) for part in item.get("assumed") or () if part != "spelling"]
    sentences = [f"{reason[:1].upper()}{reason[1:]}."]
    if assumed:
        sentences.append(f"The message does not say {' and '.join(assumed)}, so this was assumed.")
    if "spelling" in (item.get("assumed") or ()):
        sentences.append("A typing error was corrected.")
    return " ".join(sentences)
