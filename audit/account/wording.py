"""Templates of sentences: words, with the facts of an event in their places.

`Ran the task {taskBean}[ in {durationMs:ms}].` puts in what stands at `taskBean`; what is in brackets is left out where
a fact of it is missing. Behind the colon stands how the fact is said: one of FORMATS, `row TABLE` for a row's key, or
`phrase NAME` for a code that `phrases.py` has words for.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from audit.account import phrases
from audit.account.sentence import Fact, Part, Parts, RowRef
from convengine.domain.enums import DialogueAct, Lifecycle, RulePhase
from convengine.domain.text import excerpt

Json = Any
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_PLACE = re.compile(r"\{([^{}:]+)(?::([^{}]+))?\}")
#: How much of a text and of a document a sentence repeats, and how many names of a list.
_SAID, _DOCUMENT, _NAMES = 160, 120, 8
#: What rows are called where their table's name does not say it well.
_NOUNS: Mapping[str, str] = {
    "ce_intent": "intent",
    "ce_intent_classifier": "classifier",
    "ce_output_schema": "schema",
    "ce_prompt_template": "template",
    "ce_container_config": "container row",
    "ce_mcp_planner": "planner",
}


class Piece(NamedTuple):
    """A run of words and places; an optional one is left out where a fact is missing."""

    optional: bool
    #: Words, or (path, format).
    items: tuple[str | tuple[tuple[str, ...], str], ...]


def tell(template: str, payload: Mapping[str, Json], seq: int) -> Parts | None:
    """The template with the facts of an event; null when one is missing that is not optional."""
    parts: list[Part] = []
    for piece in _pieces(template):
        told = [item if isinstance(item, str) else fact(payload, seq, item[0], item[1]) for item in piece.items]
        if None in told and not piece.optional:
            return None
        if None not in told:
            parts += [one for one in told if one is not None]
    return tuple(parts)


def fact(payload: Mapping[str, Json], seq: int, path: tuple[str, ...], way: str = "") -> Fact | None:
    """What stands at a path, said in a way; null where nothing does."""
    value: Json = payload
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or value in ("", [], {}):
        return None
    kind, _, name = way.partition(" ")
    if kind == "row":
        return Fact(row_name(name, value), value, seq, path, RowRef(name, value))
    if kind == "phrase":
        return Fact(phrases.phrase(name, value), value, seq, path)
    return Fact(FORMATS[kind](value), value, seq, path)


def row_name(table: str, pk: Json) -> str:
    """What a row is called: "classifier 12"."""
    return f"{_NOUNS.get(table) or table.removeprefix('ce_').replace('_', ' ')} {pk}"


def plain(value: Json) -> str:
    """A value as it is; documents as JSON, cut."""
    if isinstance(value, str):
        return excerpt(" ".join(value.split()), _SAID)
    return excerpt(json.dumps(value, ensure_ascii=False, default=str), _DOCUMENT)


def said(value: Json) -> str:
    """What somebody wrote, in quotation marks."""
    return f"“{plain(value)}”"


def names(value: Json) -> str:
    """Names in a row: "a, b and c"; the keys of an object; behind some, how many more there are."""
    listed = [plain(one) for one in value] if isinstance(value, (list, Mapping)) else [plain(value)]
    if len(listed) > _NAMES:
        listed = [*listed[:_NAMES], f"{len(listed) - _NAMES} more"]
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def data(value: Json) -> str:
    """Fields with their values, of an object or of [{field, value, reason}]: "orderNumber = 48392 and email = x"."""
    if isinstance(value, Mapping):
        return names([f"{field} = {plain(one)}" for field, one in value.items()])
    if not isinstance(value, list) or not all(isinstance(one, Mapping) and "field" in one for one in value):
        return plain(value)
    reasons = [f" ({plain(one['reason'])})" if one.get("reason") else "" for one in value]
    told = [f"{one['field']} = {plain(one.get('value'))}" for one in value]
    return names([field + reason for field, reason in zip(told, reasons, strict=True)])


def _act(value: Json) -> str:
    found = DialogueAct.read(value)
    return found.help[:1].lower() + found.help[1:].rstrip(".") if found else plain(value)


def _phase(value: Json) -> str:
    found = RulePhase.read(value)
    return found.label[:1].lower() + found.label[1:] if found else plain(value)


def _lifecycle(value: Json) -> str:
    found = Lifecycle.read(value)
    return found.label.lower() if found else plain(value)


def _percent(value: Json) -> str:
    return f"{value:.0%}" if isinstance(value, (int, float)) else plain(value)


#: How a fact may be said; the blank one is the plain one.
FORMATS: Mapping[str, Callable[[Json], str]] = {
    "": plain,
    "said": said,
    "names": names,
    "data": data,
    "act": _act,
    "phase": _phase,
    "lifecycle": _lifecycle,
    "percent": _percent,
    "ms": lambda value: f"{plain(value)} ms",
    "count": lambda value: str(len(value)) if isinstance(value, (list, Mapping)) else plain(value),
    "pattern": lambda value: f"/{plain(value)}/",
}


@lru_cache(maxsize=1024)
def _pieces(template: str) -> tuple[Piece, ...]:
    found = []
    for place, run in enumerate(_OPTIONAL.split(template)):
        if run:
            found.append(Piece(place % 2 == 1, tuple(_items(run))))
    return tuple(found)


def _items(run: str) -> list[str | tuple[tuple[str, ...], str]]:
    items: list[str | tuple[tuple[str, ...], str]] = []
    at = 0
    for place in _PLACE.finditer(run):
        items += [run[at : place.start()]] if place.start() > at else []
        items.append((tuple(place[1].split(".")), place[2] or ""))
        at = place.end()
    return [*items, run[at:]] if at < len(run) else items
