"""What each step of a turn changed: paths of the session, before and after."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from audit.narration.session_values import EXCERPT_SIZE, dotted_path, excerpt_value, value_text
from audit.record.events import Event
from audit.record.session_state import get_at_pointer
from convengine.engine.steps.conversation.stages import CONVERSATION_LOADED
from convengine.server.admin_site.record_columns import render_json

Json = Any
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


@dataclass(frozen=True)
class Change:
    """One changed path, at one event."""

    seq: int
    step: str
    #: The dotted path: `context.orderNumber`.
    path: str
    before: Json
    after: Json
    #: False if it was removed.
    is_set: bool = True

    @property
    def before_short(self) -> str:
        """The value before, shortened; blank for none."""
        return excerpt_value(self.before)

    @property
    def after_short(self) -> str:
        """The value after, shortened; blank if it was removed."""
        return excerpt_value(self.after) if self.is_set else ""

    @property
    def is_long(self) -> bool:
        """True when the short form leaves something out."""
        return any(len(value_text(value)) > EXCERPT_SIZE for value in (self.before, self.after))

    @property
    def before_json(self) -> SafeString:
        """The complete value before."""
        return render_json(self.before)

    @property
    def after_json(self) -> SafeString:
        """The complete value after."""
        return render_json(self.after)


def find_changes(events: Sequence[Event]) -> Iterator[Change]:
    """The changes after the conversation was loaded, in order."""
    for before, event in pairwise(events[_first_known_index(events) :]):
        changed = event.changed
        for pointer, value in (changed.get("set") or {}).items():
            yield Change(
                event.row.seq,
                event.step or "",
                dotted_path(pointer),
                get_at_pointer(before.state, pointer),
                value,
            )
        for pointer in changed.get("unset") or ():
            was = get_at_pointer(before.state, pointer)
            yield Change(event.row.seq, event.step or "", dotted_path(pointer), was, None, is_set=False)


def _first_known_index(events: Sequence[Event]) -> int:
    """The index of the event that loaded the conversation, else the first."""
    return next((index for index, event in enumerate(events) if event.name == CONVERSATION_LOADED), 0)


class StepChanges(NamedTuple):
    """The changes of one step."""

    step: str
    #: Changes that matter to users, and those that matter only to the engine.
    telling: Sequence[Change]
    other: Sequence[Change]

    @property
    def names(self) -> str:
        """The changed paths, important ones first, shortened."""
        places = [change.path for change in (*self.telling, *self.other)]
        more = len(places) - _NAMED
        return ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def group_by_step(changes: Iterable[Change]) -> list[StepChanges]:
    """Changes by step, in order; a path that changed more than once in a step occurs once."""
    return [
        _split_changes(step, once)
        for step, group in groupby(changes, attrgetter("step"))
        if (once := merge_changes(group))
    ]


def unsaved_changes(events: Sequence[Event]) -> StepChanges:
    """Each path that the turn changed in the end: what a failed turn did not save."""
    return _split_changes("", merge_changes(find_changes(events)))


def _split_changes(step: str, changes: Sequence[Change]) -> StepChanges:
    internal = [change.path.startswith(_INTERNAL_PATHS) for change in changes]
    telling = [change for change, is_kept in zip(changes, internal, strict=True) if not is_kept]
    return StepChanges(step, telling, list(compress(changes, internal)))


def merge_changes(changes: Iterable[Change]) -> list[Change]:
    """Each path once, from its first value to its last; not if both are equal."""
    last: dict[str, Change] = {}
    for change in changes:
        first = last.get(change.path)
        before = first.before if first else change.before
        last[change.path] = Change(change.seq, change.step, change.path, before, change.after, change.is_set)
    return [change for change in last.values() if change.before != change.after]
