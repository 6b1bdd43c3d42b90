"""What the user was told while a turn ran: not stored, but made again from the recording, on the turn's own release."""

from typing import NamedTuple

from convengine import conf
from convengine.domain.verbose import VerboseLine
from convengine.sessions.models import CeConversationHistory
from convengine.verbose.listen import listen


class Progress(NamedTuple):
    """The lines in their order, or why they cannot be had."""

    lines: tuple[VerboseLine, ...] = ()
    problem: str = ""


def progress(record: CeConversationHistory) -> Progress:
    """The progress lines of a turn. Reads its recording; nothing is called and nothing is written."""
    faults: list[str] = []
    try:
        turn = conf.load("RERUN")(record)
    except ValueError as error:
        return Progress(problem=str(error))
    listen(turn, lambda fault: faults.append(str(fault)))
    for event in turn.trail.events:
        for listener in turn.trail.listeners:
            listener(event)
        if event.stage in turn.trail.watchers:
            turn.trail.watchers[event.stage](event)
    return Progress(tuple(turn.verbose), faults[0] if faults else "")
