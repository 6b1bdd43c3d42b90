"""Compare two played turns: what of them differs, aspect by aspect."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from enum import StrEnum

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.recording import drop_times
from convengine.json_value import Json
from convengine.play.play import PlayedTurn
from convengine.server.api.wire import INTERNAL_BRANCHES


class Aspect(StrEnum):
    """What of a turn is compared, in the order in which a reader wants to know it."""

    ERROR = "error"
    INTENT = "intent"
    STATE = "state"
    CALLS = "calls"
    """Tools and tasks, with what was sent."""
    ANSWER = "answer"
    FIELDS = "fields"
    """What rules and forms wrote into the context."""
    REMEMBERED = "remembered"
    """What else the next turn finds: parameters, lifecycle, preferences, and what the engine keeps for itself."""
    DECISIONS = "decisions"
    """The rows that decided something."""

    @property
    def label(self) -> str:
        """What people call it."""
        return _LABELS[self]


_LABELS: Mapping[Aspect, str] = {
    Aspect.ERROR: "Error",
    Aspect.INTENT: "Intent",
    Aspect.STATE: "State",
    Aspect.CALLS: "Actions",
    Aspect.ANSWER: "Answer",
    Aspect.FIELDS: "Fields",
    Aspect.REMEMBERED: "Remembered values",
    Aspect.DECISIONS: "Decided by",
}
#: Where turns that come later would run differently. A text alone changes none.
LASTING = frozenset({Aspect.ERROR, Aspect.INTENT, Aspect.STATE, Aspect.CALLS, Aspect.FIELDS, Aspect.REMEMBERED})
#: Fields of the session that the next turn begins with, besides intent, state, context, answer and input params.
_REMEMBERED = ("lifecycle", "status", "preferences", "mounted_kb_id")
#: Branches of the context that only repeat: a summary of the turn, and the open question.
_REPEATED = frozenset({"memory", "pending_clarification"})
_ACTIONS = frozenset({"tool", "task"})
#: A turn as JSON, by aspect. Values of people are masked as for any reader.
Summary = Mapping[str, Json]


def summarise(turn: PlayedTurn) -> Summary:
    """A turn as JSON, for a comparison with another one, now or later. A failed turn has only its error."""
    session = turn.session
    calls = [[call.port, call.request] for call in turn.calls if call.port in _ACTIONS]
    decisions = sorted(f"{row.role} {row.table} {row.row_pk}" for row in turn.turn.decided_rows)
    if turn.error:
        return {Aspect.ERROR: turn.error, Aspect.CALLS: calls, Aspect.DECISIONS: decisions}
    context = to_plain(session.context)
    remembered = {name: to_plain(getattr(session, name)) for name in _REMEMBERED}
    # Of an open question its text counts as one: it stands in the answer.
    remembered["clarification"] = to_plain(session.clarification and replace(session.clarification, question=""))
    remembered["inputParams"] = to_plain(keep_persistent(session.input_params))
    remembered["context"] = {
        name: value for name, value in context.items() if name in INTERNAL_BRANCHES and name not in _REPEATED
    }
    return {
        Aspect.INTENT: session.intent,
        Aspect.STATE: session.state,
        Aspect.CALLS: calls,
        Aspect.ANSWER: drop_times(to_plain(session.last_assistant)),
        Aspect.FIELDS: drop_times({name: value for name, value in context.items() if name not in INTERNAL_BRANCHES}),
        Aspect.REMEMBERED: drop_times(remembered),
        Aspect.DECISIONS: decisions,
    }


def compare_turns(
    before: Summary, after: Summary, aspects: Collection[Aspect] = tuple(Aspect)
) -> dict[Aspect, tuple[Json, Json]]:
    """The aspects in which two turns differ, with the values before and after; in the order of `Aspect`.

    Only `aspects` are compared.
    """
    sides = {aspect: (before.get(aspect), after.get(aspect)) for aspect in Aspect if aspect in aspects}
    return {aspect: (old, new) for aspect, (old, new) in sides.items() if old != new}
