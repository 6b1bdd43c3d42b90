"""The account of a turn: what happened and why, in plain words, each sentence with its events."""

from collections.abc import Sequence
from itertools import chain

from audit.narration.narrate import NarratedTurn
from audit.narration.narrators import narrate_event
from audit.narration.wording import Fact, RowRef, Sentence
from audit.record.events import Event
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family, Tone

__all__ = ["Fact", "RowRef", "Sentence", "Tone", "narrate_turn"]


def narrate_turn(events: Sequence[Event], release: Snapshot | None = None) -> list[Sentence]:
    """The events of one turn as sentences, in order. The deployment's own stages are left out.

    A sentence whose text an event would repeat occurs once, where it comes first; calls of tools occur as often as they
    were made. Without `release`, the configuration is read from the database.
    """
    turn = NarratedTurn(events, release)
    sentences: dict[str | int, Sentence] = {}
    for sentence in chain.from_iterable(narrate_event(turn, index) for index in range(len(events))):
        sentences.setdefault(len(sentences) if sentence.family == Family.TOOL else sentence.text, sentence)
    return list(sentences.values())
