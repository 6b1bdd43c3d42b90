"""Two turns, or two conversations, side by side: aligned, and what differs in each pair. Pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import Any, NamedTuple, TypeVar

from audit.expand import Event
from audit.pages.changes import place_of, short
from audit.replay import comparable
from convengine.domain.stages import Stage
from convengine.domain.text import match_text

Json = Any
T = TypeVar("T")
_ABSENT = object()
#: How many places of an event are told.
_MOST = 40
#: Names of the turn itself: they differ between any two.
_OWN = frozenset({"conversationId", "turnNo", "turn_no", "turnId", "executionId", "_meta", "configVersion"})
#: Steps in which a turn takes its way: what differs there is what somebody looks for.
_DECIDING = frozenset(
    {
        *("PolicyEnforcementStep", "DialogueActStep", "IntentResolutionStep", "PendingActionStep", "RulesStep"),
        *("ToolOrchestrationStep", "ResponseResolutionStep"),
    }
)
_FRAME = frozenset({Stage.STEP_ENTER, Stage.STEP_EXIT})


class Place(NamedTuple):
    """A place of two events that differs; blank on the side on which there is nothing."""

    path: str
    left: str
    right: str


@dataclass(frozen=True)
class Pair:
    """Two events of the same stage, or one that the other side does not have."""

    stage: str
    left: Event | None
    right: Event | None
    places: Sequence[Place]
    #: Those of the places of which no event before said the same: what a turn begins with shows in many of its events.
    news: Sequence[Place]

    @property
    def alone(self) -> bool:
        """True when one side does not have it."""
        return self.left is None or self.right is None

    @property
    def differs(self) -> bool:
        """True unless both say the same."""
        return self.alone or bool(self.places)


@dataclass(frozen=True)
class StepPair:
    """A step in both turns, or in one."""

    step: str
    in_left: bool
    in_right: bool
    events: Sequence[Pair]

    @property
    def differs(self) -> bool:
        """True unless the step went the same way in both."""
        return not (self.in_left and self.in_right) or any(pair.differs for pair in self.events)

    @property
    def differing(self) -> Sequence[Pair]:
        """The events that differ."""
        return [pair for pair in self.events if pair.differs]

    @property
    def decides(self) -> bool:
        """True for the steps in which a turn takes its way, and for those that only one side has."""
        return self.step in _DECIDING or not (self.in_left and self.in_right)

    @property
    def summary(self) -> str:
        """In one line, the stages that differ in something new."""
        return ", ".join(dict.fromkeys(pair.stage for pair in self.events if pair.alone or pair.news))

    @property
    def new(self) -> bool:
        """True when it differs in something that no step before said."""
        return not (self.in_left and self.in_right) or any(pair.alone or pair.news for pair in self.events)


def compared(left: Sequence[Event], right: Sequence[Event]) -> list[StepPair]:
    """The steps of two turns, aligned by name, and the events of each step, aligned by stage."""
    ours, theirs = _by_step(left), _by_step(right)
    found = []
    said: set[Place] = set()
    for one, other in aligned(ours, theirs, [step for step, _ in ours], [step for step, _ in theirs]):
        step = (one or other or ("", []))[0]
        events = list(_pairs(one[1] if one else [], other[1] if other else [], said))
        found.append(StepPair(step, one is not None, other is not None, events))
    return found


def aligned(
    left: Sequence[T],
    right: Sequence[T],
    left_keys: Sequence[str],
    right_keys: Sequence[str],
    *,
    by_place: bool = False,
) -> Iterator[tuple[T | None, T | None]]:
    """Pairs of what has the same key, in order; what only one side has stands alone.

    `by_place` pairs also what stands at the same place between two pairs, whatever its key.
    """
    for kind, a, b, c, d in SequenceMatcher(None, left_keys, right_keys, autojunk=False).get_opcodes():
        if kind == "equal" or by_place:
            yield from zip_longest(left[a:b], right[c:d])
        else:
            yield from ((one, None) for one in left[a:b])
            yield from ((None, other) for other in right[c:d])


def turn_key(user_input: str | None) -> str:
    """By what turns of two conversations are aligned: what the user said."""
    return match_text(user_input)


def places(left: Json, right: Json, path: str = "") -> Iterator[Place]:
    """The places in which two JSON values differ."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in [*left, *(key for key in right if key not in left)]:
            here = f"{path}.{key}" if path else str(key)
            yield from places(left.get(key, _ABSENT), right.get(key, _ABSENT), here)
    elif isinstance(left, list) and isinstance(right, list):
        for number, (one, other) in enumerate(zip_longest(left, right, fillvalue=_ABSENT)):
            yield from places(one, other, f"{path}[{number}]")
    elif type(left) is not type(right) or left != right:
        yield Place(
            path, "" if left is _ABSENT else short(left) or "null", "" if right is _ABSENT else short(right) or "null"
        )


def _by_step(events: Sequence[Event]) -> list[tuple[str, list[Event]]]:
    """The events by step, in order; steps that left nothing but their frame are there too."""
    found: list[tuple[str, list[Event]]] = []
    for event in events:
        step = event.step or ""
        if not found or found[-1][0] != step or event.name == Stage.STEP_ENTER:
            found.append((step, []))
        if event.name not in _FRAME:
            found[-1][1].append(event)
    return found


def _pairs(left: Sequence[Event], right: Sequence[Event], said: set[Place]) -> Iterator[Pair]:
    keys = [[event.row.stage for event in side] for side in (left, right)]
    for one, other in aligned(left, right, *keys):
        event = one or other
        if event is not None:
            both = one is not None and other is not None
            told = list(islice(places(_told(one), _told(other)), _MOST)) if both else []
            news = [place for place in told if _of_session(place) not in said]
            said.update(_of_session(place) for place in told if "[" not in place.path)
            yield Pair(event.row.stage, one, other, told, news)


def _of_session(place: Place) -> Place:
    """The same wherever an event tells it: as its own, as the key of a look-up, or as what changed in the session."""
    return place._replace(path=place.path.removeprefix("session: ").removeprefix("key.").removeprefix("inputParams."))


def _told(event: Event | None) -> Json:
    """What an event says of its turn: without times, without names of the turn, and with what changed there."""
    if event is None:
        return None
    said = dict(event.payload)
    stored = event.row.payload_json.get("_meta")
    changed = stored.get("changed") if isinstance(stored, Mapping) else None
    if isinstance(changed, Mapping):
        set_to = {f"session: {place_of(pointer)}": value for pointer, value in (changed.get("set") or {}).items()}
        taken_out = {f"session: {place_of(pointer)}": "taken out" for pointer in changed.get("unset") or ()}
        said |= set_to | taken_out
    return comparable(_without_names(said))


def _without_names(value: Json) -> Json:
    """A value without names of the turn, at whatever depth they stand."""
    if isinstance(value, Mapping):
        return {key: _without_names(one) for key, one in value.items() if key.rpartition(".")[2] not in _OWN}
    return [_without_names(one) for one in value] if isinstance(value, list) else value
