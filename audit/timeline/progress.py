"""The progress texts of a turn: not stored, but computed again from the recording, on the turn's own release."""

from typing import NamedTuple

from audit.replay.replay import rebuild_turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.engine.verbose.publish import listen
from convengine.server.sessions.models import CeConversationHistory


class Progress(NamedTuple):
    """The texts in order, or why they are unavailable."""

    lines: tuple[VerboseLine, ...] = ()
    problem: str = ""


def rebuild_progress(record: CeConversationHistory) -> Progress:
    """The progress texts of a turn. Reads its recording; nothing is called and nothing is written."""
    faults: list[str] = []
    try:
        turn = rebuild_turn(record)
    except ValueError as error:
        return Progress(problem=str(error))
    listen(turn, lambda fault: faults.append(str(fault)))
    for event in turn.trail.events:
        for listener in turn.trail.listeners:
            listener(event)
        if event.stage in turn.trail.watchers:
            turn.trail.watchers[event.stage](event)
    return Progress(tuple(turn.verbose), faults[0] if faults else "")
