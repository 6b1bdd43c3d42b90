"""What each step of a turn changed: paths of the session, before and after."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, groupby, pairwise
from typing import Any, NamedTuple

from audit.record.events import Event
from audit.record.session_state import get_at_path, split_pointer
from convengine.engine.steps.conversation.stages import CONVERSATION_LOADED
from convengine.engine.text.difference import ABSENT, Difference, diff_json
from convengine.json_value import Json

#: Maximum named paths of a step.
_NAMED = 6
#: Paths that matter only to the engine and to rules.
_INTERNAL_PATHS = (
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


class SessionChange(NamedTuple):
    """A path of the session that differs after an event; null counts as absent."""

    event: Event
    difference: Difference
    #: The session before the event.
    before: Mapping[str, Json]


def find_changes(events: Sequence[Event]) -> Iterator[SessionChange]:
    """The changes after the conversation was loaded, in order."""
    start = next((index for index, event in enumerate(events) if event.name == CONVERSATION_LOADED), 0)
    for before, event in pairwise(events[start:]):
        values = dict.fromkeys(event.changed.get("unset") or (), None) | (event.changed.get("set") or {})
        for pointer, value in values.items():
            path = tuple(split_pointer(pointer))
            yield SessionChange(event, Difference(path, _read(before.state, path), _or_absent(value)), before.state)


def _or_absent(value: Json) -> Json:
    return ABSENT if value is None else value


def _read(state: Mapping[str, Json], path: Iterable[Any]) -> Json:
    """The value at a path of the session; ABSENT also for null."""
    return _or_absent(get_at_path(state, path))


class StepChanges(NamedTuple):
    step: str
    #: Changes that matter to users, and those that matter only to the engine.
    telling: Sequence[Difference]
    other: Sequence[Difference]

    @property
    def names(self) -> str:
        """The changed paths, important ones first, shortened."""
        paths = [change.path_text for change in (*self.telling, *self.other)]
        more = len(paths) - _NAMED
        return ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def group_by_step(changes: Iterable[SessionChange]) -> list[StepChanges]:
    """Changes by step, in order; a path that changed more than once in a step occurs once."""
    return [
        _split_changes(step, once)
        for step, group in groupby(changes, lambda change: change.event.step or "")
        if (once := _join_changes(list(group)))
    ]


def unsaved_changes(events: Sequence[Event]) -> StepChanges:
    """Each path that the turn changed in the end: what a failed turn did not save."""
    return _split_changes("", _join_changes(list(find_changes(events))))


def _split_changes(step: str, changes: Sequence[Difference]) -> StepChanges:
    internal = [change.path_text.startswith(_INTERNAL_PATHS) for change in changes]
    telling = [change for change, is_internal in zip(changes, internal, strict=True) if not is_internal]
    return StepChanges(step, telling, list(compress(changes, internal)))


def _join_changes(changes: Sequence[SessionChange]) -> list[Difference]:
    """Each changed path once, from its first value to its last, down to single values; not if both are equal.

    Changes within another changed path are a part of its change.
    """
    paths = dict.fromkeys(change.difference.path for change in changes)
    outer = [path for path in paths if not any(path[:length] in paths for length in range(len(path)))]
    return [
        part
        for path in outer
        for part in diff_json(_read(changes[0].before, path), _read(changes[-1].event.state, path), path=path)
    ]
