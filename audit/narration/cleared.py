"""What events cleared: the names that no earlier event of the turn had cleared."""

from collections.abc import Mapping

from audit.narration.narrate import ExtraParts, NarratedTurn
from audit.narration.sentence import Fact, join_parts
from audit.narration.wording import write_fields
from audit.record.events import Event
from convengine.engine.forms.stages import FORM_CLEARED
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.rules.stages import CLEAR_CONTEXT
from convengine.engine.turn.stages import CONVERSATION_RESET

#: Parts of the context that belong to the engine.
_OF_ENGINE = ENGINE_BRANCHES | {"dialogue"}
#: Where events name what they cleared.
_CLEARED_AT: Mapping[str, str] = {CONVERSATION_RESET: "previousContext", CLEAR_CONTEXT: "paths", FORM_CLEARED: "fields"}


def find_cleared(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """The part `cleared`: the names that an event cleared first, without those of the engine; empty if it names none.

    Returns None if earlier events cleared all of its names.
    """
    event = turn.events[index]
    earlier = {name for before in turn.events[:index] for name in _list_cleared(before)}
    names, key = _list_cleared(event), _CLEARED_AT.get(event.name, "")
    if names and earlier.issuperset(names):
        return None
    facts = [
        Fact(write_fields("field", name, turn.specs), name, event.row.seq, (key,))
        for name in names
        if name not in earlier
    ]
    return {"cleared": join_parts([(fact,) for fact in facts])}


def _list_cleared(event: Event) -> list[str]:
    """The names in an event; none of redacted ones."""
    named = event.payload.get(_CLEARED_AT.get(event.name, ""))
    return [name for name in named if name not in _OF_ENGINE] if isinstance(named, (list, Mapping)) else []
