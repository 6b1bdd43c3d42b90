"""The account of a turn: what happened and why, in plain words, each sentence with its events."""

from collections.abc import Iterator, Sequence
from itertools import chain

from audit.narration.narrate import NarratedTurn, narrate_by_template
from audit.narration.narrators import NARRATORS
from audit.narration.sentence import Fact, RowRef, Sentence
from audit.record.events import Event
from convengine.engine.stages import STAGES
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.stages import DECISION

__all__ = ["Fact", "RowRef", "Sentence", "Tone", "narrate_turn"]


def narrate_turn(events: Sequence[Event], release: Snapshot | None = None) -> list[Sentence]:
    """The events of one turn as sentences, in order. The deployment's own stages are left out.

    Without `release`, the configuration is read from the database.
    """
    turn = NarratedTurn(events, release)
    return list(chain.from_iterable(_narrate_event(turn, index) for index in range(len(events))))


def _narrate_event(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    event = turn.events[index]
    key = f"{event.name}:{event.payload.get('kind')}" if event.name == DECISION else event.name
    if narrator := NARRATORS.get(key):
        yield from narrator(turn, index)
    elif stage := STAGES.get(event.name):
        yield from narrate_by_template(event, stage)
