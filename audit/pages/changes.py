"""What each step of a turn changed: places of the session, before and after."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from audit.expand import Event
from convengine.domain import folding
from convengine.domain.stages import Stage
from convengine.domain.text import excerpt
from convengine.record_columns import as_json

Json = Any
#: How much of a value the short form shows; how many places of a step are named.
_SHOWN, _NAMED = 80, 6
#: Places that the engine keeps for itself and for rules.
_BOOK_KEEPING = (
    "inputParams.",
    "ruleExecution",
    "context.mcp",
    "context.memory",
    "context.intent_lock",
    "context.pending_action_runtime",
    "schemaFields",
    "lastLlmStage",
    "previousTurn",
)


@dataclass(frozen=True)
class Change:
    """One place that changed, at one event."""

    seq: int
    step: str
    #: As the pointer says it, with points: `context.orderNumber`.
    place: str
    before: Json
    after: Json
    #: False where it was taken out.
    is_set: bool = True

    @property
    def before_short(self) -> str:
        """The value before, cut; blank for none."""
        return short(self.before)

    @property
    def after_short(self) -> str:
        """The value after, cut; blank where it was taken out."""
        return short(self.after) if self.is_set else ""

    @property
    def is_long(self) -> bool:
        """True when the short form leaves something out."""
        return any(len(_text(value)) > _SHOWN for value in (self.before, self.after))

    @property
    def before_json(self) -> SafeString:
        """The value before, whole."""
        return as_json(self.before)

    @property
    def after_json(self) -> SafeString:
        """The value after, whole."""
        return as_json(self.after)


def changes(events: Sequence[Event]) -> Iterator[Change]:
    """What changed since the turn knew where the conversation stood, in order."""
    for before, event in pairwise(events[_began(events) :]):
        changed = event.payload.get("_meta", {}).get("changed") or _full(event)
        for pointer, value in (changed.get("set") or {}).items():
            yield Change(event.row.seq, event.step or "", place_of(pointer), folding.at(before.state, pointer), value)
        for pointer in changed.get("unset") or ():
            was = folding.at(before.state, pointer)
            yield Change(event.row.seq, event.step or "", place_of(pointer), was, None, is_set=False)


def _began(events: Sequence[Event]) -> int:
    """The place of the event that tells where the conversation stood; the first one where none does."""
    return next((place for place, event in enumerate(events) if event.name == Stage.CONVERSATION_LOADED), 0)


class OfStep(NamedTuple):
    """What one step changed."""

    step: str
    #: What a user of the dialogue would notice, and the book-keeping of the engine.
    telling: Sequence[Change]
    other: Sequence[Change]

    @property
    def names(self) -> str:
        """The places that changed, the telling ones first, cut."""
        places = [change.place for change in (*self.telling, *self.other)]
        more = len(places) - _NAMED
        return ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def by_step(found: Iterable[Change]) -> list[OfStep]:
    """Changes by the step that made them, in order; a place that changed more than once in a step stands once."""
    return [_parted(step, once) for step, group in groupby(found, attrgetter("step")) if (once := once_each(group))]


def lasting(events: Sequence[Event]) -> OfStep:
    """Each place that a turn leaves different from what it found: what a turn that failed did not save."""
    return _parted("", once_each(changes(events)))


def _parted(step: str, found: Sequence[Change]) -> OfStep:
    kept = [change.place.startswith(_BOOK_KEEPING) for change in found]
    telling = [change for change, is_kept in zip(found, kept, strict=True) if not is_kept]
    return OfStep(step, telling, list(compress(found, kept)))


def once_each(found: Iterable[Change]) -> list[Change]:
    """Each place once, from its first value to its last; not where both are the same."""
    last: dict[str, Change] = {}
    for change in found:
        first = last.get(change.place)
        before = first.before if first else change.before
        last[change.place] = Change(change.seq, change.step, change.place, before, change.after, change.is_set)
    return [change for change in last.values() if change.before != change.after]


def short(value: Json) -> str:
    """A value on one line, cut."""
    return "" if value is None else excerpt(_text(value), _SHOWN)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _full(event: Event) -> Mapping[str, Json]:
    """Events that show the session in full keep their change with the stored row."""
    meta = event.row.payload_json.get("_meta")
    return (meta.get("changed") or {}) if isinstance(meta, Mapping) else {}


def place_of(pointer: str) -> str:
    """A pointer as people read it: `context.orderNumber`."""
    return pointer.strip("/").replace("~1", "/").replace("~0", "~").replace("/", ".")
