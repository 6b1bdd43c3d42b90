"""Compare the events of two turns: align them, and find the differences of each pair. Pure functions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import TypeVar

from audit.record.events import Event
from audit.record.session_state import dotted_path
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.text.difference import Difference, diff_json, list_opcodes
from convengine.engine.turn.recording import drop_times
from convengine.engine.turn.stage import stage_label
from convengine.json_value import Json

T = TypeVar("T")
#: Maximum paths of an event.
_MAX_DIFFERENCES = 40
#: Keys of the turn itself, which differ in any two.
_TURN_NAMES = frozenset({"conversationId", "turnNo", "turn_no", "turnId", "executionId", "_meta", "configVersion"})
#: The steps that determine a turn: their differences matter most.
_DECIDING = frozenset(
    {
        *("PolicyEnforcementStep", "DialogueActStep", "IntentResolutionStep", "PendingActionStep", "RulesStep"),
        *("ToolOrchestrationStep", "ResponseResolutionStep"),
    }
)
_FRAME = frozenset({STEP_ENTER, STEP_EXIT})
#: How many steps are open at first: the others say in one line what differs, so that a phone shows all steps.
_MOST_OPEN = 3


@dataclass(frozen=True)
class EventPair:
    """Two events of the same stage, or one without a counterpart."""

    stage: str
    left: Event | None
    right: Event | None
    places: Sequence[Difference]
    #: The paths whose difference no earlier event had: initial values occur in many events.
    news: Sequence[Difference]

    @property
    def alone(self) -> bool:
        """True when one side is missing."""
        return self.left is None or self.right is None

    @property
    def differs(self) -> bool:
        """True unless both are equal."""
        return self.alone or bool(self.places)


@dataclass(frozen=True)
class StepPair:
    """A step in both turns, or in one."""

    step: str
    in_left: bool
    in_right: bool
    events: Sequence[EventPair]
    #: True for the first steps that decide and have new differences.
    is_open: bool = False

    @property
    def differs(self) -> bool:
        """True unless the step is equal in both."""
        return not (self.in_left and self.in_right) or any(pair.differs for pair in self.events)

    @property
    def differing(self) -> Sequence[EventPair]:
        return [pair for pair in self.events if pair.differs]

    @property
    def decides(self) -> bool:
        """True for the steps that determine a turn, and for those that only one side has."""
        return self.step in _DECIDING or not (self.in_left and self.in_right)

    @property
    def summary(self) -> str:
        """In one line, the stages with new differences."""
        return ", ".join(dict.fromkeys(stage_label(pair.stage) for pair in self.events if pair.alone or pair.news))

    @property
    def new(self) -> bool:
        """True when it has a difference that no earlier step had."""
        return not (self.in_left and self.in_right) or any(pair.alone or pair.news for pair in self.events)


def compare_events(left: Sequence[Event], right: Sequence[Event]) -> list[StepPair]:
    """The steps of two turns, aligned by name, and the events of each step, aligned by stage."""
    pairs = []
    reported: set[tuple[str, ...]] = set()
    for own, other in align(_group_by_step(left), _group_by_step(right), itemgetter(0)):
        step = (own or other or ("", []))[0]
        events = list(_pair_events(own[1] if own else [], other[1] if other else [], reported))
        pairs.append(StepPair(step, own is not None, other is not None, events))
    telling = [index for index, step in enumerate(pairs) if step.decides and step.new][:_MOST_OPEN]
    return [replace(step, is_open=index in telling) for index, step in enumerate(pairs)]


def align(left: Sequence[T], right: Sequence[T], get_key: Callable[[T], str]) -> Iterator[tuple[T | None, T | None]]:
    """Pairs with the same key, in order; others stand alone."""
    for kind, a, b, c, d in list_opcodes([get_key(item) for item in left], [get_key(item) for item in right]):
        if kind == "equal":
            yield from zip(left[a:b], right[c:d], strict=True)
        else:
            yield from ((item, None) for item in left[a:b])
            yield from ((None, other) for other in right[c:d])


def _group_by_step(events: Sequence[Event]) -> list[tuple[str, list[Event]]]:
    """The events by step, in order, including steps with only a start and an end."""
    groups: list[tuple[str, list[Event]]] = []
    for event in events:
        step = event.step or ""
        if not groups or groups[-1][0] != step or event.name == STEP_ENTER:
            groups.append((step, []))
        if event.name not in _FRAME:
            groups[-1][1].append(event)
    return groups


def _pair_events(left: Sequence[Event], right: Sequence[Event], reported: set[tuple[str, ...]]) -> Iterator[EventPair]:
    """The events of a step, aligned by stage. Adds the keys of their differences to the `reported` ones."""
    for own, other in align(left, right, lambda event: event.row.stage):
        event = own or other
        if event is not None:
            differences: list[Difference] = []
            if own is not None and other is not None:
                all_differences = diff_json(_comparable_payload(own), _comparable_payload(other))
                differences = list(islice(all_differences, _MAX_DIFFERENCES))
            news = [difference for difference in differences if _make_key(difference) not in reported]
            reported.update(_make_key(difference) for difference in differences if "[" not in difference.path_text)
            yield EventPair(event.row.stage, own, other, differences, news)


def _make_key(difference: Difference) -> tuple[str, ...]:
    """The difference wherever an event has it: as its own, as the key of a look-up, or as a change of the session."""
    path = difference.path_text.removeprefix("session: ").removeprefix("key.").removeprefix("inputParams.")
    return path, *difference.texts


def _comparable_payload(event: Event) -> Json:
    """The content of an event for comparison: without times and keys of the turn, with its changes."""
    payload = dict(event.payload)
    changed = event.changed
    if changed:
        set_to = {f"session: {dotted_path(pointer)}": value for pointer, value in (changed.get("set") or {}).items()}
        taken_out = {f"session: {dotted_path(pointer)}": "removed" for pointer in changed.get("unset") or ()}
        payload |= set_to | taken_out
    return drop_times(_without_turn_names(payload))


def _without_turn_names(value: Json) -> Json:
    """A value without keys of the turn, at any depth."""
    if isinstance(value, Mapping):
        return {
            key: _without_turn_names(item) for key, item in value.items() if key.rpartition(".")[2] not in _TURN_NAMES
        }
    return [_without_turn_names(item) for item in value] if isinstance(value, list) else value
