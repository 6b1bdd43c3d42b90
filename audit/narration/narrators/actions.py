"""Actions: proposed, confirmed, refused, run, failed."""

from collections.abc import Iterator, Mapping

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Sentence
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_LIFECYCLE,
    PENDING_ACTION_REJECTED,
)

#: Descriptions of action changes that no other stage reports.
_EVENTS: Mapping[str, str] = {
    "EXPIRED": "The action {actionKey} was not confirmed in time and is no longer open.",
    "REVERTED": "The action {actionKey} is open again.",
}


def narrate_action_change(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """One change. An action often opens in the turn of the yes itself; then nothing was waiting."""
    event = turn.events[index]
    kind = event.payload.get("event")
    template = _EVENTS.get(str(kind))
    if kind == "OPEN":
        settled = (PENDING_ACTION_EXECUTED, PENDING_ACTION_FAILED, PENDING_ACTION_REJECTED)
        if any(turn.after(index, stage) for stage in settled):
            return
        template = "The action {actionKey} ({actionRef}) waits for confirmation."
    if template and (parts := fill_template(event, template)):
        yield build_sentence(event, parts)


NARRATORS: Mapping[str, Narrator] = {
    PENDING_ACTION_LIFECYCLE: narrate_action_change,
}
