"""Sentences of words and facts from events, and their templates; and values of the session on one line.

`Ran the task {taskBean}[ in {durationMs:ms}].` inserts the value of `taskBean`; a part in square brackets is left out
if one of its facts is missing. After the colon is the format: one of FORMATS or FIELD_FORMATS, `row TABLE` for a row's
key, or `phrase NAME` for a code in `phrases.py`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from audit.narration import phrases
from convengine.engine.redaction import MASK
from convengine.engine.rules.conditions.values import write_text
from convengine.engine.rules.conditions.words import act_words, fact_name
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.row_names import name_row, quote_name
from convengine.engine.text.compare import shorten
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.labels import format_confidence, join_unit, lifecycle_label, state_label, step_label
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Tone
from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.say import say_value
from convengine.json_value import Json
from convengine.server.admin_site.record_columns import get_options, quote_intent


class RowRef(NamedTuple):
    """A configuration row in a sentence."""

    table: str
    pk: Any


@dataclass(frozen=True)
class Fact:
    """A fact in a sentence, and its origin."""

    #: The text in the sentence.
    text: str
    #: The value in the payload of the event with this number, at this path: that value, or among its items or keys.
    value: Json
    seq: int
    path: tuple[str | int, ...]
    #: The row that it is, or comes from.
    row: RowRef | None = None
    #: The column of that row, if the text comes from the release; else blank.
    column: str = ""


Part = str | Fact
Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Sentence:
    #: The stage of the sentence.
    kind: str
    #: The part of the turn that the stage belongs to.
    family: str
    tone: Tone
    parts: Parts
    #: The numbers of its events, in order.
    seqs: tuple[int, ...]
    #: All conditions of its rule, on demand.
    conditions: tuple[str, ...] = ()
    #: The patterns of its rows, on demand.
    patterns: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "".join(map(get_text, self.parts))

    @property
    def facts(self) -> Iterator[Fact]:
        return (part for part in self.parts if isinstance(part, Fact))

    @property
    def rows(self) -> Sequence[RowRef]:
        """Its rows, without duplicates."""
        return list(dict.fromkeys(fact.row for fact in self.facts if fact.row))


def get_text(part: Part) -> str:
    return part if isinstance(part, str) else part.text


def join_parts(items: Sequence[Parts]) -> Parts:
    """Items as a list in words: "a, b and c". Each item may have several parts."""
    joined: list[Part] = []
    for number, item in enumerate(items):
        joined += [*(() if not number else (" and ",) if number == len(items) - 1 else (", ",)), *item]
    return tuple(joined)


#: Maximum length of a value on one line.
EXCERPT_SIZE = 80


def excerpt_value(value: Json) -> str:
    """A value on one line, cut, with its invisible characters by name; None is blank."""
    return "" if value is None else reveal_invisible(shorten(write_text(value), EXCERPT_SIZE))


_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
#: Keys of intents and states.
_OF_CODE = re.compile(r"(?i)(intent|runnerUp|state)$")
_PLACE = re.compile(r"\{([^{}:]+)(?::([^{}]+))?\}")
#: Maximum length of a text and of a document in a sentence, and maximum names of a list.
_SAID, _DOCUMENT, _NAMES = 160, 120, 8


class WordingPiece(NamedTuple):
    """A sequence of words and facts; an optional one is left out if a fact is missing."""

    optional: bool
    #: Words, or (path, format).
    items: tuple[str | tuple[tuple[str, ...], str], ...]


def fill(
    template: str, payload: Mapping[str, Json], seq: int, specs: Mapping[str, FieldSpec], extra: Mapping[str, Parts]
) -> Parts | None:
    """The template filled with an event. Returns None if a required fact is missing.

    `specs`: the fields of the turn's forms by path. `extra`: parts that take the place of a key; empty parts count as
    missing.
    """
    parts: list[Part] = []
    for piece in _split_template(template):
        texts: list[Parts | None] = [
            (item,)
            if isinstance(item, str)
            else extra[item[0][0]]
            if item[0][0] in extra
            else _make_fact(payload, seq, *item, specs)
            for item in piece.items
        ]
        if None not in texts and () not in texts:
            parts += [part for text in texts for part in text or ()]
        elif not piece.optional:
            return None
    return tuple(parts)


def _make_fact(
    payload: Mapping[str, Json], seq: int, path: tuple[str, ...], form: str, specs: Mapping[str, FieldSpec]
) -> Parts | None:
    value: Json = payload
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or value in ("", [], {}):
        return None
    kind, _, name = form.partition(" ")
    if kind == "row":
        return (Fact(row_name(name, value), value, seq, path, RowRef(name, value)),)
    if kind == "phrase":
        text = phrases.find_phrase(name, value)
    elif not kind and isinstance(value, str) and _OF_CODE.search(path[-1]):
        text = state_label(value) if path[-1].lower().endswith("state") else quote_intent(value)
    else:
        text = write_fields(kind, value, specs) if kind in FIELD_FORMATS else FORMATS[kind](value)
    return (Fact(text, value, seq, path),)


def row_noun(table: str) -> str:
    """The noun for a row of a table: "phrase"."""
    options = get_options(table)
    return str(options.verbose_name) if options else table.removeprefix("ce_").replace("_", " ")


def row_name(table: str, pk: Json) -> str:
    """The name of a row: "phrase 12"."""
    return f"{row_noun(table)} {pk}"


def label_row(table: str, pk: Json, title: str) -> str:
    """A row by its name, "answer “opening hours”"; without one by its number."""
    return f"{row_noun(table)} {quote_name(title)}" if title else row_name(table, pk)


def title_row(snapshot: Snapshot, table: str, pk: Json) -> str:
    """What people call a row: its name in a release, else its kind and number."""
    row = snapshot.find_row(table, str(pk))
    return (name_row(table, row) if row else "") or row_name(table, pk)


def plain(value: Json) -> str:
    """A value as text on one line: a text shortened, with invisible characters by name; another value as short JSON."""
    if isinstance(value, str):
        return shorten(reveal_invisible(" ".join(value.split())), _SAID)
    return shorten(write_text(value), _DOCUMENT)


def quote(value: Json) -> str:
    """A value as text on one line, in quotation marks."""
    return f"“{plain(value)}”"


def name_rows(parts: Parts, snapshot: Snapshot | None) -> list[str]:
    """The texts of a sentence's parts; a row by its name if the release has it, and no other part says it."""
    return [
        _name_row(part, parts, snapshot) if isinstance(part, Fact) and snapshot else get_text(part) for part in parts
    ]


def _name_row(fact: Fact, parts: Parts, snapshot: Snapshot) -> str:
    """The text of a fact, or the name of its row, unless another part has a text that the name contains."""
    row = snapshot.find_row(fact.row.table, str(fact.row.pk)) if fact.row and not fact.column else None
    title = name_row(fact.row.table, row) if fact.row and row else ""
    others = [part.text.strip("“”") for part in parts if isinstance(part, Fact) and part is not fact]
    if fact.row is None or not title or any(text and text in title for text in others):
        return fact.text
    label = label_row(fact.row.table, fact.row.pk, title)
    return label if fact.text[0].islower() else f"{label[0].upper()}{label[1:]}"


def find_matched_words(pattern: str, text: str | None) -> str:
    """The first part of a text that a pattern matches; blank if it matches none or is invalid."""
    try:
        match = compile_pattern(pattern).search(text)
    except PatternError:
        return ""
    return str(match.group(0) or "").strip() if match else ""


def names(value: Json) -> str:
    """Names in a list: "a, b and c"; the keys of an object; with more than eight, the number of further ones."""
    listed = [plain(item) for item in value] if isinstance(value, (list, Mapping)) else [plain(value)]
    if len(listed) > _NAMES:
        listed = [*listed[:_NAMES], f"{len(listed) - _NAMES} more"]
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


#: Formats of fields, which have their titles: a path, paths, values, and refused texts.
FIELD_FORMATS = ("field", "fields", "data", "refused")


def write_fields(kind: str, value: Json, specs: Mapping[str, FieldSpec]) -> str:
    """Fields in one of their formats: "order number = 48392 and email = x", "“03/04” for day (it may …)"."""
    if kind == "data" and isinstance(value, Mapping):
        value = [{"field": path, "value": item} for path, item in value.items()]
    items = value if isinstance(value, list) else [value]
    return names([_write_field(item, specs) for item in items])


def _write_field(item: Json, specs: Mapping[str, FieldSpec]) -> str:
    """A field in words. `item` is its path, or an object with `field`, `value` or refused `text`, and `reason`."""
    path = item.get("field") if isinstance(item, Mapping) else item
    spec = specs.get(path) if isinstance(path, str) else None
    title = spec.title if spec else plain(path)
    if not isinstance(item, Mapping):
        return title
    reason = f" ({phrases.find_phrase('refused', item['reason'])})" if item.get("reason") else ""
    if "text" in item:
        return f"{quote(item['text'])} for {title}{reason}"
    value = item.get("value")
    words = say_value(spec, value) if spec and value != MASK else plain(value)
    return f"no {title}" if value is None else f"{title} = {shorten(reveal_invisible(words), _SAID)}{reason}"


def _quote_end(value: Json) -> str:
    """A text in quotation marks; of a long one, its last words."""
    text = " ".join(value.split()) if isinstance(value, str) else plain(value)
    words = text[-_SAID - 1 :].partition(" ")[2] or text[-_SAID:]
    return quote(text) if len(text) <= _SAID else f"“…{reveal_invisible(words)}”"


def _phase(value: Json) -> str:
    phase = RulePhase.read(value)
    return phase.label[:1].lower() + phase.label[1:] if phase else plain(value)


def _percent(value: Json) -> str:
    return format_confidence(value) if isinstance(value, (int, float)) else plain(value)


#: The formats of facts; the blank one is the default.
FORMATS: Mapping[str, Callable[[Json], str]] = {
    "": plain,
    "said": quote,
    "end": _quote_end,
    "names": names,
    "intents": lambda value: names([quote_intent(item) for item in value] if isinstance(value, list) else value),
    "fact": lambda value: fact_name(value) if isinstance(value, str) else plain(value),
    "act": lambda value: (act_words(str(value)) or plain(value)).removeprefix("the user "),
    "phase": _phase,
    "lifecycle": lambda value: lifecycle_label(plain(value)).lower(),
    "step": lambda value: f"“{step_label(plain(value))}”",
    "percent": _percent,
    "ms": lambda value: join_unit(plain(value), "ms"),
}


@lru_cache(maxsize=1024)
def _split_template(template: str) -> tuple[WordingPiece, ...]:
    """The pieces of a template in order: those outside of square brackets, and the optional ones inside."""
    pieces = []
    for index, run in enumerate(_OPTIONAL.split(template)):
        if run:
            pieces.append(WordingPiece(index % 2 == 1, tuple(_split_piece(run))))
    return tuple(pieces)


def _split_piece(run: str) -> list[str | tuple[tuple[str, ...], str]]:
    """The items of a piece. Words stay texts; a name in braces becomes its path and its format."""
    items: list[str | tuple[tuple[str, ...], str]] = []
    at = 0
    for match in _PLACE.finditer(run):
        items += [run[at : match.start()]] if match.start() > at else []
        items.append((tuple(match[1].split(".")), match[2] or ""))
        at = match.end()
    return [*items, run[at:]] if at < len(run) else items
